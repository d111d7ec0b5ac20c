// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/bmc"
)

const (
	username  = "admin"
	secret    = "S3cret&+%"
	systems   = "/redfish/v1/Systems"
	systemOne = systems + "/1"
	resetPath = systemOne + "/Actions/ComputerSystem.Reset"
	sessions  = "/redfish/v1/SessionService/Sessions"
)

type doc = map[string]any

// reply is a scripted answer.
type reply struct {
	status int
	header map[string]string
	body   any
}

// call is a request as the BMC saw it.
type call struct {
	method, host, path string
	header             http.Header
	body               string
}

// fake is a BMC with a memory. It is called by the client's transport, without a socket,
// so that tests can run in virtual time.
type fake struct {
	mu       sync.Mutex
	docs     map[string]doc
	scripts  map[string]func(n int, r call) *reply // "METHOD path": the answer to the n-th request, nil for the usual one
	counts   map[string]int
	calls    []call
	open     map[string]bool // sessions by token
	limit    int             // of sessions
	nextID   int
	busy     int // requests at this moment
	peak     int
	down     error                 // what the network says instead of an answer
	hold     map[string]chan bool  // requests that wait here
	afterPut func(f *fake, c call) // what a reset does
}

func newFake() *fake {
	f := &fake{
		docs: map[string]doc{}, scripts: map[string]func(int, call) *reply{}, counts: map[string]int{},
		open: map[string]bool{}, limit: 4, hold: map[string]chan bool{},
	}
	f.docs["/redfish/v1/"] = doc{
		"@odata.id": "/redfish/v1/", "Systems": ref(systems), "Links": doc{"Sessions": ref(sessions)},
	}
	f.addSystem("1", "Off", "02:00:5E:10:00:01")

	return f
}

func ref(path string) doc { return doc{"@odata.id": path} }

// addSystem adds a system with its interfaces.
func (f *fake) addSystem(id string, power any, macs ...string) {
	path := systems + "/" + id

	var nics []any

	for i, mac := range macs {
		nic := fmt.Sprintf("%s/EthernetInterfaces/%d", path, i)
		f.docs[nic] = doc{"@odata.id": nic, "MACAddress": mac}
		nics = append(nics, ref(nic))
	}

	f.docs[path+"/EthernetInterfaces"] = doc{"Members": nics}
	f.docs[path] = doc{
		"@odata.id": path, "Id": id, "UUID": "ABCDEF00-0000-4000-8000-00000000000" + id[len(id)-1:], "PowerState": power,
		"ProcessorSummary":   "no object, as it should be",
		"EthernetInterfaces": ref(path + "/EthernetInterfaces"),
		"Actions": doc{"#ComputerSystem.Reset": doc{
			"target":                            path + "/Actions/ComputerSystem.Reset",
			"ResetType@Redfish.AllowableValues": []any{"On", "ForceOff", "ForceRestart"},
		}},
	}

	members, _ := f.docs[systems]["Members"].([]any)
	f.docs[systems] = doc{"Members": append(members, ref(path))}
}

// RoundTrip implements http.RoundTripper.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}

	f.mu.Lock()
	down, gate := f.down, f.hold[r.Method+" "+r.URL.Path]
	f.busy++
	f.peak = max(f.peak, f.busy)
	f.mu.Unlock()

	defer func() {
		f.mu.Lock()
		f.busy--
		f.mu.Unlock()
	}()

	if down != nil {
		return nil, down
	}

	w := httptest.NewRecorder()
	err := f.serve(w, r)

	if gate != nil { // the work is done, the answer is late
		select {
		case <-gate:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}

	return w.Result(), err
}

// errDropped is what a script says by the status 0: the work is done, the answer is lost.
var errDropped = errors.New("read: connection reset by peer")

func (f *fake) serve(w http.ResponseWriter, r *http.Request) error {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	c := call{r.Method, r.URL.Host, r.URL.Path, r.Header.Clone(), string(body)}
	f.calls = append(f.calls, c)
	key := c.method + " " + c.path
	f.counts[key]++

	if script := f.scripts[key]; script != nil {
		if answer := script(f.counts[key], c); answer != nil {
			if answer.status == 0 {
				return errDropped
			}

			write(w, *answer)

			return nil
		}
	}

	write(w, f.usual(c))

	return nil
}

func write(w http.ResponseWriter, a reply) {
	for key, value := range a.header {
		w.Header().Set(key, value)
	}

	w.WriteHeader(a.status)

	switch body := a.body.(type) {
	case nil:
	case string:
		_, _ = io.WriteString(w, body)
	default:
		_ = json.NewEncoder(w).Encode(body)
	}
}

// usual is what a BMC without faults answers.
func (f *fake) usual(c call) reply {
	token := c.header.Get("X-Auth-Token")

	switch {
	case c.path == "/redfish/v1/":
	case c.method == http.MethodPost && c.path == sessions:
		return f.login(c)
	case token != "" && !f.open[token], token == "" && !basic(c):
		return failed(http.StatusUnauthorized, "no valid session or user")
	case c.method == http.MethodDelete:
		delete(f.open, "token-"+c.path[strings.LastIndex(c.path, "/")+1:])

		return reply{status: http.StatusNoContent}
	case strings.HasSuffix(c.path, "ComputerSystem.Reset"):
		if f.afterPut != nil {
			f.afterPut(f, c)
		} else {
			f.obey(c)
		}

		return reply{status: http.StatusNoContent}
	case c.method == http.MethodPatch:
		var change doc
		_ = json.Unmarshal([]byte(c.body), &change)
		maps.Copy(f.docs[c.path], change)

		return reply{status: http.StatusOK}
	}

	if d, there := f.docs[c.path]; there {
		return reply{status: http.StatusOK, body: d}
	}

	return failed(http.StatusNotFound, "no such resource")
}

func basic(c call) bool {
	user, password, ok := (&http.Request{Header: c.header}).BasicAuth()

	return ok && user == username && password == secret
}

func (f *fake) login(c call) reply {
	var user struct{ UserName, Password string }
	_ = json.Unmarshal([]byte(c.body), &user)

	switch {
	case user.UserName != username || user.Password != secret:
		return failed(http.StatusUnauthorized, "bad credentials: "+c.body)
	case len(f.open) >= f.limit:
		return failed(http.StatusServiceUnavailable, "RAC0218: the maximum number of user sessions is reached")
	}

	f.nextID++
	f.open[fmt.Sprintf("token-%d", f.nextID)] = true

	return reply{http.StatusCreated, map[string]string{
		"X-Auth-Token": fmt.Sprintf("token-%d", f.nextID), "Location": fmt.Sprintf("%s/%d", sessions, f.nextID),
	}, doc{}}
}

// obey changes the power at once.
func (f *fake) obey(c call) {
	system := f.docs[c.path[:strings.Index(c.path, "/Actions")]]
	system["PowerState"] = "On"

	if strings.Contains(c.body, "ForceOff") {
		system["PowerState"] = "Off"
	}
}

func failed(status int, text string) reply {
	return reply{status, nil, doc{"error": doc{"code": "Base.1.0.GeneralError", "message": text, "@Message.ExtendedInfo": []any{doc{"Message": text}}}}}
}

func (f *fake) script(key string, s func(n int, r call) *reply) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.scripts[key] = s
}

func (f *fake) count(key string) int {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.counts[key]
}

func (f *fake) sessionsOpen() int {
	f.mu.Lock()
	defer f.mu.Unlock()

	return len(f.open)
}

// client returns a client of the fake, closed at the end of the test.
func (f *fake) client(t *testing.T, change ...func(*bmc.Config)) *bmc.Client {
	t.Helper()

	cfg := bmc.Config{
		Address: "https://bmc.example", SystemPath: systemOne, Username: username, Password: secret, Transport: f,
	}
	for _, c := range change {
		c(&cfg)
	}

	client := bmc.New(cfg)
	t.Cleanup(func() { client.Close(t.Context()) })

	return client
}

// withoutSystem leaves the choice of the system to the client.
func withoutSystem(c *bmc.Config) { c.SystemPath = "" }

// checkNoSecret checks that a text shows no secret in any spelling.
func checkNoSecret(t *testing.T, text string) {
	t.Helper()

	for _, form := range []string{secret, "S3cret%26%2B%25", "S3cret", "UzNjcmV0JislJQ", "YWRtaW46UzNjcmV0", "token-"} {
		if strings.Contains(text, form) {
			t.Errorf("%q shows the secret %q", text, form)
		}
	}
}
