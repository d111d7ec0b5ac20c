// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/redfish"
)

type obj = map[string]any

const (
	v1       = "/redfish/v1"
	sys1     = v1 + "/Systems/1"
	sys2     = v1 + "/Systems/2"
	uuid1    = "38373035-3436-4D32-3235-353031325231"
	blockDir = v1 + "/CompositionService/ResourceBlocks"
	zoneA    = v1 + "/CompositionService/ResourceZones/A"
	sessions = v1 + "/SessionService/Sessions"
	monitor  = v1 + "/TaskService/TaskMonitors/7"
)

// service is a Redfish service that keeps documents by path, and is strict with changes.
type service struct {
	t *testing.T

	mu      sync.Mutex
	docs    map[string]obj
	version map[string]int                       // of each document, for its ETag
	answers map[string]func(http.ResponseWriter) // by method and path; they win
	page    int                                  // members of a page; 0: all
	tasks   bool                                 // changes are tasks
	bare    bool                                 // there are no ETags
	shy     bool                                 // a session has no Location
	login   string                               // how to log in: session, basic, or nothing
	tokens  map[string]bool
	orders  []string // changes with their bodies
	log     []string
}

func ref(path string) obj { return obj{"@odata.id": path} }

func refs(paths ...string) []any {
	out := []any{}
	for _, p := range paths {
		out = append(out, ref(p))
	}

	return out
}

func newService(t *testing.T) *service {
	t.Helper()

	s := &service{
		t: t, docs: map[string]obj{}, version: map[string]int{}, tokens: map[string]bool{},
		answers: map[string]func(http.ResponseWriter){},
	}
	s.put(v1, obj{
		"RedfishVersion": "1.18.0", "Systems": ref(v1 + "/Systems"), "Links": obj{"Sessions": ref(sessions)},
	})

	return s
}

func (s *service) put(path string, doc obj) {
	doc["@odata.id"] = path
	s.docs[path] = doc
	s.version[path]++
}

func (s *service) system(path, id, uuid string, more obj) {
	doc := obj{
		"@odata.type": "#ComputerSystem.v1_22_0.ComputerSystem", "Id": id, "UUID": uuid, "Name": "System " + id,
		"PowerState": "On", "Status": obj{"State": "Enabled", "Health": "OK"}, "Links": obj{},
	}
	maps.Copy(doc, more)
	s.put(path, doc)
}

// block adds a resource block of a GPU, and returns its path.
func (s *service) block(id, state, model string, zones ...string) string {
	path, core := blockDir+"/"+id, blockDir+"/"+id+"/Processors/0"
	s.put(path, obj{
		"@odata.type": "#ResourceBlock.v1_4_3.ResourceBlock", "Id": id, "ResourceBlockType": []any{"Processor"}, "Pool": "Free",
		"CompositionStatus": obj{"CompositionState": state, "Reserved": false}, "Status": obj{"State": "Enabled", "Health": "OK"},
		"Processors": refs(core), "Links": obj{"Zones": refs(zones...)},
	})
	s.put(core, obj{
		"@odata.type": "#Processor.v1_20_0.Processor", "ProcessorType": "GPU", "Model": model, "SerialNumber": "S-" + id,
		"UUID": "uuid-of-" + id, "Status": obj{"State": "Enabled", "Health": "OK"},
	})

	return path
}

// composable is a service with blocks: system 1 has the block g1, and g2 and g3 are free.
func composable(t *testing.T) *service {
	t.Helper()

	s := newService(t)
	s.docs[v1]["CompositionService"] = ref(v1 + "/CompositionService")
	s.put(v1+"/CompositionService", obj{"ResourceBlocks": ref(blockDir)})
	s.put(blockDir+"/base", obj{
		"ResourceBlockType": []any{"Compute"}, "CompositionStatus": obj{"CompositionState": "Composed"},
		"Processors": refs(v1 + "/never/read"), "Links": obj{"Zones": refs(zoneA)},
	})
	s.system(sys1, "1", uuid1, obj{
		"Links": obj{"ResourceBlocks": refs(blockDir+"/base", s.block("g1", "Composed", "A100", zoneA))},
		"Actions": obj{
			"#ComputerSystem.AddResourceBlock":    obj{"target": sys1 + "/Actions/ComputerSystem.AddResourceBlock"},
			"#ComputerSystem.RemoveResourceBlock": obj{"target": sys1 + "/Actions/ComputerSystem.RemoveResourceBlock"},
		},
	})
	s.system(sys2, "2", "", obj{"Links": obj{"ResourceBlocks": refs()}})
	s.block("g3", "Unused", "A100", zoneA)
	s.block("g2", "Unused", "A100", zoneA)

	return s
}

func (s *service) serve() fabric.Fabric { return s.serveAs(fabric.Auth{}) }

func (s *service) serveAs(auth fabric.Auth) fabric.Fabric {
	s.t.Helper()

	far := httptest.NewServer(s)
	s.t.Cleanup(far.Close)

	f, err := redfish.New(fabric.Config{Endpoint: far.URL + v1, AllowPlainHTTP: true, Auth: auth})
	if err != nil {
		s.t.Fatal(err)
	}

	return f
}

func (s *service) etag(path string) string { return fmt.Sprintf(`W/"%d"`, s.version[path]) }

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	path := strings.TrimSuffix(r.URL.Path, "/")
	s.log = append(s.log, r.Method+" "+path)

	if say := s.answers[r.Method+" "+path]; say != nil {
		say(w)

		return
	}

	if path != v1 && path != sessions && !s.allowed(r) {
		refusal(w, http.StatusUnauthorized, "NoValidSession")

		return
	}

	if r.Method == http.MethodDelete && strings.HasPrefix(path, sessions+"/") {
		s.end(w, r, path)

		return
	}

	var body obj

	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			s.t.Errorf("%s %s: %v", r.Method, path, err)
		}
	}

	switch {
	case r.Method == http.MethodPost && path == sessions:
		s.open(w, body)
	case r.Method == http.MethodPost && strings.Contains(path, "/Actions/"):
		s.act(w, path, body)
	case r.Method == http.MethodPatch:
		s.patch(w, r, path, body)
	case r.Method != http.MethodGet:
		s.t.Errorf("unexpected %s %s", r.Method, path)
	case s.docs[path] != nil:
		if !s.bare {
			w.Header().Set("ETag", s.etag(path))
		}

		write(w, http.StatusOK, s.docs[path])
	case slices.ContainsFunc(slices.Collect(maps.Keys(s.docs)), func(p string) bool { return strings.HasPrefix(p, path+"/") }):
		s.list(w, r, path)
	default:
		refusal(w, http.StatusNotFound, "ResourceMissingAtURI")
	}
}

// list answers a collection, in pages.
func (s *service) list(w http.ResponseWriter, r *http.Request, path string) {
	var all []string

	for p := range s.docs {
		if rest, ok := strings.CutPrefix(p, path+"/"); ok && !strings.Contains(rest, "/") {
			all = append(all, p)
		}
	}

	slices.Sort(all)

	doc := obj{"@odata.id": path, "Members@odata.count": len(all)}

	skip := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("$skip"), &skip)

	some := all[skip:]
	if s.page > 0 && len(some) > s.page {
		some = some[:s.page]
		doc["Members@odata.nextLink"] = fmt.Sprintf("http://inner.example%s?$skip=%d&$expand=%s", path, skip+s.page, url.QueryEscape(r.URL.Query().Get("$expand")))
	}

	doc["Members"] = refs(some...)

	if how := r.URL.Query().Get("$expand"); how != "" {
		if want := map[bool]string{true: ".($levels=2)", false: "."}[path == blockDir]; how != want {
			s.t.Errorf("$expand=%s of %s", how, path)
		}

		doc["Members"] = s.unfold(some)
	}

	write(w, http.StatusOK, doc)
}

// unfold is members in full, with their processors.
func (s *service) unfold(paths []string) []any {
	out := []any{}

	for _, path := range paths {
		doc := maps.Clone(s.docs[path])
		doc["@odata.etag"] = s.etag(path)

		if path := path + "/Processors/0"; s.docs[path] != nil {
			doc["Processors"] = []any{s.docs[path]}
		}

		out = append(out, doc)
	}

	return out
}

func (s *service) allowed(r *http.Request) bool {
	user, password, _ := r.BasicAuth()

	switch s.login {
	case "session":
		return s.tokens[r.Header.Get("X-Auth-Token")]
	case "basic":
		return user == "u" && password == "hunter2!"
	default:
		return r.Header.Get("Authorization") == "" && r.Header.Get("X-Auth-Token") == ""
	}
}

func (s *service) open(w http.ResponseWriter, body obj) {
	if s.login != "session" {
		refusal(w, http.StatusMethodNotAllowed, "OperationNotAllowed")

		return
	}

	if body["UserName"] != "u" || body["Password"] != "hunter2!" || len(body) != 2 {
		refusal(w, http.StatusUnauthorized, "NoValidSession")

		return
	}

	token := fmt.Sprintf("token-%d", len(s.tokens))
	s.tokens[token] = true

	path := sessions + "/" + token
	if !s.shy {
		w.Header().Set("Location", "http://inner.example"+path)
	}

	w.Header().Set("X-Auth-Token", token)
	write(w, http.StatusCreated, obj{"@odata.id": path})
}

// end ends a session.
func (s *service) end(w http.ResponseWriter, r *http.Request, path string) {
	token := strings.TrimPrefix(path, sessions+"/")

	switch {
	case !s.tokens[r.Header.Get("X-Auth-Token")]:
		refusal(w, http.StatusUnauthorized, "NoValidSession")
	case !s.tokens[token]:
		refusal(w, http.StatusNotFound, "ResourceMissingAtURI")
	default:
		s.tokens[token] = false

		w.WriteHeader(http.StatusNoContent)
	}
}

// sessions tells how many sessions there are.
func (s *service) sessions() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, there := range s.tokens {
		if there {
			n++
		}
	}

	return n
}

// act does the two actions as the schema has them.
func (s *service) act(w http.ResponseWriter, path string, body obj) {
	system, action, _ := strings.Cut(path, "/Actions/ComputerSystem.")
	target, _ := body["ResourceBlock"].(obj)
	block, _ := target["@odata.id"].(string)

	if len(body) != 3 || s.docs[block] == nil {
		s.t.Errorf("body of %s: %v", action, body)
	}

	if body["ComputerSystemETag"] != s.etag(system) || body["ResourceBlockETag"] != s.etag(block) {
		refusal(w, http.StatusPreconditionFailed, "PreconditionFailed")

		return
	}

	s.done(w, action+" "+strings.TrimPrefix(block, blockDir+"/"))
}

// patch takes the whole list of links and nothing else.
func (s *service) patch(w http.ResponseWriter, r *http.Request, path string, body obj) {
	links, _ := body["Links"].(obj)
	if len(body) != 1 || len(links) != 1 {
		s.t.Errorf("body of PATCH %s: %v", path, body)
	}

	if r.Header.Get("If-Match") != s.etag(path) && !s.bare {
		refusal(w, http.StatusPreconditionFailed, "PreconditionFailed")

		return
	}

	raw, _ := json.Marshal(links)
	s.done(w, "PATCH "+strings.TrimPrefix(path, v1)+" "+strings.ReplaceAll(string(raw), v1, ""))
}

func (s *service) done(w http.ResponseWriter, order string) {
	s.orders = append(s.orders, order)

	if !s.tasks {
		w.WriteHeader(http.StatusNoContent)

		return
	}

	w.Header().Set("Location", "http://inner.example"+monitor)
	write(w, http.StatusAccepted, obj{"@odata.id": v1 + "/TaskService/Tasks/7", "TaskState": "Running"})
}

func refusal(w http.ResponseWriter, status int, id string) {
	write(w, status, obj{"error": obj{
		"code": "Base.1.18.GeneralError", "message": "see the extended information",
		"@Message.ExtendedInfo": []obj{{"MessageId": "Base.1.18." + id, "Message": "words of " + id}},
	}})
}

func write(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc)
}

func answer(status int, doc any) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { write(w, status, doc) }
}

func refusing(status int, id string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { refusal(w, status, id) }
}

func raw(status int, kind, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func drop(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}

func (s *service) count(request string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, line := range s.log {
		if line == request {
			n++
		}
	}

	return n
}

func ids(devices []fabric.Device) (out []string) {
	for _, d := range devices {
		out = append(out, strings.TrimPrefix(d.FabricID, blockDir+"/"))
	}

	return out
}

func want(id string) fabric.Want {
	return fabric.Want{Type: "gpu", Model: "A100", Count: 1, Device: fabric.Device{FabricID: id, Type: "gpu", Model: "A100"}}
}
