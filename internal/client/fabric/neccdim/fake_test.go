// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package neccdim_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/neccdim"
)

type obj = map[string]any

const (
	cpu1 = "2CA6D4DF-2739-45BA-ACA4-6ABE93E81E15"
	cpu2 = "3B4EBEEA-B6DD-45DA-8C8A-2CA2F8F728D6"
	gpu1 = "895DFB43-68CD-41D6-8996-EAC8D1EA1E3F"
	gpu2 = "995DFB43-68CD-41D6-8996-EAC8D1EA1E3F"
	gpu3 = "A95DFB43-68CD-41D6-8996-EAC8D1EA1E3F"
	host = "c0000000-0000-4000-8000-0000000000e5" // the machine's fabric adapter
	side = "c0000000-0000-4000-8000-0000000000e1" // the fabric's towards it
)

// manager is a CDIM that says what a test wants.
type manager struct {
	t       *testing.T
	product bool // whose orders name fabric adapters

	mu        sync.Mutex
	answers   map[string]func(w http.ResponseWriter) // by method and path; they win
	resources []obj
	nodes     map[string][]string // node to the ids of its resources
	applies   map[string]obj
	orders    []obj
	log       []string
}

func device(id, typ, model string, links ...obj) obj {
	if links == nil {
		links = []obj{}
	}

	return obj{
		"device": obj{
			"deviceID": id, "type": typ, "model": model, "attribute": obj{}, "powerState": "On",
			"status": obj{"state": "Enabled", "health": "OK"}, "links": links,
		},
		"detected": true, "nodeIDs": []string{}, "annotation": obj{"available": true}, "resourceGroupIDs": []string{"g"},
	}
}

func to(typ, id string) obj { return obj{"type": typ, "deviceID": id} }

// inner changes the device of a resource.
func inner(r obj, key string, value any) obj {
	d, _ := r["device"].(obj)
	d[key] = value

	return r
}

func on(r obj, node string) obj {
	r["nodeIDs"] = []string{node}

	return r
}

// open is an open manager with a machine that has gpu1, and a CPU that stands alone.
func open(t *testing.T) *manager {
	t.Helper()

	return &manager{
		t: t, applies: map[string]obj{}, answers: map[string]func(http.ResponseWriter){},
		nodes: map[string][]string{cpu1: {cpu1, gpu1}},
		resources: []obj{
			on(device(cpu1, "CPU", "Xeon", to("GPU", gpu1)), cpu1), device(cpu2, "CPU", "Xeon"),
			on(device(gpu1, "GPU", "A100", to("CPU", cpu1)), cpu1), device(gpu3, "GPU", "A100"), device(gpu2, "GPU", "A100"),
		},
	}
}

// closed is the product with the same machine.
func closed(t *testing.T) *manager {
	t.Helper()

	m := open(t)
	m.product = true
	m.nodes[cpu1] = append(m.nodes[cpu1], host)
	m.resources[2] = on(device(gpu1, "gpu", "A100", to("destinationFabricAdapter", side)), cpu1)
	m.resources = append(m.resources,
		on(inner(device(host, "sourceFabricAdapter", "", to("destinationFabricAdapter", side)), "attribute",
			obj{"deviceSpecificInformation": obj{"status": "eesv"}}), cpu1),
		inner(device(side, "destinationFabricAdapter", ""), "attribute", obj{"deviceSpecificInformation": obj{"status": "eeio"}}))

	return m
}

// serve starts it, and returns a driver for it.
func (m *manager) serve() fabric.Fabric {
	m.t.Helper()

	far := httptest.NewServer(m)
	m.t.Cleanup(far.Close)

	return driver(m.t, fabric.Config{Endpoint: far.URL})
}

func driver(t *testing.T, cfg fabric.Config) fabric.Fabric {
	t.Helper()

	cfg.AllowPlainHTTP = true

	f, err := neccdim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return f
}

func (m *manager) find(id string) obj {
	i := slices.IndexFunc(m.resources, func(r obj) bool {
		d, _ := r["device"].(obj)

		return d["deviceID"] == id
	})
	if i < 0 {
		return nil
	}

	return m.resources[i]
}

func (m *manager) node(id string) obj {
	parts := []obj{}

	for _, part := range m.nodes[id] {
		r := m.find(part)
		parts = append(parts, obj{"device": r["device"], "detected": r["detected"], "annotation": r["annotation"]})
	}

	return obj{"id": id, "resources": parts}
}

func (m *manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()

	path, ok := strings.CutPrefix(r.URL.Path, "/cdim/api/v1")
	m.log = append(m.log, r.Method+" "+path)

	if !ok {
		m.t.Errorf("%s %s is not below the base path", r.Method, r.URL)
	}

	if say := m.answers[r.Method+" "+path]; say != nil {
		say(w)

		return
	}

	kind, id, single := strings.Cut(strings.TrimPrefix(path, "/"), "/")

	switch {
	case r.Method == http.MethodPost && path == "/layout-apply":
		m.take(w, r)
	case r.Method != http.MethodGet:
		m.t.Errorf("unexpected %s %s", r.Method, path)
	case kind == "layout-apply" && single:
		m.say(w, m.applies[id])
	case kind == "resources" && single:
		m.say(w, m.find(id))
	case kind == "nodes" && single && m.nodes[id] != nil:
		m.say(w, m.node(id))
	case kind == "nodes" && single:
		m.say(w, nil)
	case r.URL.Query().Get("detail") != "true":
		m.t.Errorf("%s without detail", path)
	case kind == "nodes":
		list := []obj{}
		for id := range m.nodes {
			list = append(list, m.node(id))
		}

		m.say(w, obj{"count": len(list), "nodes": list})
	case kind == "resources":
		m.say(w, obj{"count": len(m.resources), "resources": m.resources})
	default:
		m.t.Errorf("unexpected %s %s", r.Method, path)
	}
}

func (m *manager) say(w http.ResponseWriter, doc obj) {
	status := http.StatusOK
	if doc == nil {
		status, doc = http.StatusNotFound, obj{"code": "E02001", "message": "Not found.", "details": "No search results"}
	}

	write(w, status, doc)
}

func write(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc)
}

// take takes an order as strictly as the schema of its dialect is.
func (m *manager) take(w http.ResponseWriter, r *http.Request) {
	names := []string{"dependencies", "operation", "operationID", "targetCPUID", "targetDeviceID"}
	if m.product {
		names = []string{"dependencies", "destinationDeviceID", "operation", "operationID", "sourceDeviceID"}
	}

	var body struct {
		Procedures []obj `json:"procedures"`
	}

	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()

	if err := dec.Decode(&body); err != nil || len(body.Procedures) != 1 {
		m.t.Errorf("order: %v, %d steps", err, len(body.Procedures))
	}

	for _, p := range body.Procedures {
		for _, name := range names {
			if p[name] == nil || p[name] == "" {
				m.t.Errorf("the step has no %s: %v", name, p)
			}
		}

		if len(p) != len(names) {
			m.t.Errorf("the step has other fields than %v: %v", names, p)
		}
	}

	m.orders = append(m.orders, body.Procedures...)
	m.applies["636ddde1ba"] = obj{"applyID": "636ddde1ba", "status": "IN_PROGRESS"}

	write(w, http.StatusAccepted, obj{"applyID": "636ddde1ba"})
}

// count tells how often a request came.
func (m *manager) count(request string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()

	for _, line := range m.log {
		if line == request {
			n++
		}
	}

	return n
}

// answer makes an answer that a test wants.
func answer(status int, doc any) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { write(w, status, doc) }
}

func raw(status int, kind, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// drop ends the connection without an answer.
func drop(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}
