// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

// fake is an Ironic of canned answers that counts requests and runs without a network.
type fake struct {
	mu       sync.Mutex
	version  int
	page     int
	nodes    []map[string]any
	ports    []map[string]any
	requests []string // "GET /v1/nodes/detail"
	bodies   []string
	headers  []http.Header
	answers  []rule
	drop     func(r *http.Request) error // breaks connections
}

// rule answers requests instead of the fake, as often as it says.
type rule struct {
	method, part string
	times        int // -1: always
	status       int
	body         string
	header       http.Header
}

func newFake() *fake { return &fake{version: 96, page: 1000} }

func (f *fake) answer(method, part string, times, status int, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.answers = append(f.answers, rule{method: method, part: part, times: times, status: status, body: body})
}

func (f *fake) add(uuid string, fields map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()

	node := map[string]any{"uuid": uuid, "name": "name-of-" + uuid, "provision_state": "available", "driver": "fake-hardware"}
	for k, v := range fields {
		node[k] = v
	}

	f.nodes = append(f.nodes, node)
}

func (f *fake) fleet(n int) []string {
	var ids []string

	for i := range n {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		ids = append(ids, id)
		f.add(id, nil)
		f.ports = append(f.ports, map[string]any{
			"uuid": fmt.Sprintf("00000000-0000-4000-9000-%012d", i), "node_uuid": id, "address": fmt.Sprintf("52:54:00:00:%02x:%02x", i/256, i%256),
		})
	}

	return ids
}

func (f *fake) forget(uuid string) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.nodes = slices.DeleteFunc(f.nodes, func(n map[string]any) bool { return n["uuid"] == uuid })
}

// count returns how many requests begin with a text such as "GET /v1/nodes/detail".
func (f *fake) count(prefix string) int {
	f.mu.Lock()
	defer f.mu.Unlock()

	n := 0

	for _, r := range f.requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}

	return n
}

func (f *fake) log() string {
	f.mu.Lock()
	defer f.mu.Unlock()

	return strings.Join(f.requests, "\n")
}

func fault(text string) string {
	inner, _ := json.Marshal(map[string]any{"faultcode": "Client", "faultstring": text, "debuginfo": nil})
	outer, _ := json.Marshal(map[string]any{"error_message": string(inner)})

	return string(outer)
}

// RoundTrip makes the fake a transport.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}

	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	f.requests = append(f.requests, r.Method+" "+r.URL.RequestURI())
	f.bodies = append(f.bodies, string(body))
	f.headers = append(f.headers, r.Header.Clone())

	if f.drop != nil {
		if err := f.drop(r); err != nil {
			return nil, err
		}
	}

	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-OpenStack-Ironic-API-Maximum-Version", fmt.Sprintf("1.%d", f.version))

	for i := range f.answers {
		a := &f.answers[i]
		if a.times == 0 || r.Method != a.method || !strings.Contains(r.URL.RequestURI(), a.part) {
			continue
		}

		a.times--
		for key, values := range a.header {
			w.Header()[key] = values
		}

		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)

		return w.Result(), nil
	}

	f.serve(w, r, body)

	return w.Result(), nil
}

func (f *fake) serve(w *httptest.ResponseRecorder, r *http.Request, body []byte) {
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	id := strings.Split(strings.TrimPrefix(path, "nodes/"), "/")[0]

	switch {
	case r.Method == http.MethodGet && path == "":
		_, _ = fmt.Fprintf(w, `{"id":"v1","version":{"id":"v1","version":"1.%d"}}`, f.version)
	case r.Method == http.MethodGet && (path == "nodes" || path == "nodes/detail"):
		f.list(w, r, "nodes", f.nodes)
	case r.Method == http.MethodGet && path == "ports":
		f.list(w, r, "ports", f.ports)
	case r.Method == http.MethodPost && path == "nodes":
		f.create(w, body)
	default:
		at := slices.IndexFunc(f.nodes, func(n map[string]any) bool { return n["uuid"] == id || n["name"] == id })
		if at < 0 {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, fault("Node "+id+" could not be found."))

			return
		}

		switch r.Method {
		case http.MethodPut:
			w.WriteHeader(http.StatusAccepted)
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		default:
			_ = json.NewEncoder(w).Encode(f.nodes[at])
		}
	}
}

func (f *fake) create(w *httptest.ResponseRecorder, body []byte) {
	var node map[string]any

	_ = json.Unmarshal(body, &node)
	for _, n := range f.nodes {
		if n["uuid"] == node["uuid"] {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, fault(fmt.Sprintf("A node with UUID %s already exists.", node["uuid"])))

			return
		}
	}

	f.nodes = append(f.nodes, node)

	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(node)
}

func (f *fake) list(w io.Writer, r *http.Request, key string, all []map[string]any) {
	q := r.URL.Query()

	items := []map[string]any{}
	for _, item := range all {
		hidden := item["parent_node"] != nil && q.Get("include_children") != "true"
		if (q.Get("node_uuid") == "" || item["node_uuid"] == q.Get("node_uuid")) &&
			(q.Get("address") == "" || item["address"] == q.Get("address")) && !hidden {
			items = append(items, item)
		}
	}

	if marker := q.Get("marker"); marker != "" {
		items = items[slices.IndexFunc(items, func(n map[string]any) bool { return n["uuid"] == marker })+1:]
	}

	out := map[string]any{key: items}
	if len(items) > f.page {
		out[key] = items[:f.page]
		out["next"] = fmt.Sprintf("http://cannot.be.reached/v1/%s?limit=%d&marker=%s", key, f.page, items[f.page-1]["uuid"])
	}

	_ = json.NewEncoder(w).Encode(out)
}

// client makes a client on the fake.
func (f *fake) client(tb testing.TB, change ...func(*ironic.Config)) *ironic.Client {
	tb.Helper()

	cfg := ironic.Config{Endpoint: "http://ironic.test:6385", Transport: f}
	for _, c := range change {
		c(&cfg)
	}

	c, err := ironic.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}

	return c
}
