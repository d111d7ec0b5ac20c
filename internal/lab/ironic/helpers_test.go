// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// rig is an Ironic of one test, called without a network.
type rig struct {
	*testing.T
	*ironic.Service

	minor int
}

func newRig(t *testing.T, o ironic.Options) rig {
	t.Helper()

	return rigOn(t, store.New(""), o)
}

func rigOn(t *testing.T, st *store.Store, o ironic.Options) rig {
	t.Helper()

	if o.Pace == 0 {
		o.Pace = time.Millisecond
	}

	minor := o.MaxMinor
	if minor == 0 {
		minor = ironic.DefaultMinor
	}

	return rig{t, ironic.New(st, o), minor}
}

// do sends a request; a body that is no string is sent as JSON.
func (r rig) do(method, path string, body any) (int, map[string]any) {
	r.Helper()

	text, ok := body.(string)
	if !ok && body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			r.Fatal(err)
		}

		text = string(raw)
	}

	w := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(r.Context(), method, "http://ironic.lab"+path, strings.NewReader(text))
	req.Header.Set("X-OpenStack-Ironic-API-Version", fmt.Sprintf("1.%d", r.minor))
	r.ServeHTTP(w, req)

	var out map[string]any
	if w.Body.Len() > 0 {
		_ = json.Unmarshal(w.Body.Bytes(), &out) // some bodies are no objects
	}

	return w.Code, out
}

func (r rig) must(status int, method, path string, body any) map[string]any {
	r.Helper()

	code, out := r.do(method, path, body)
	if code != status {
		r.Fatalf("%s %s: %d, want %d: %v", method, path, code, status, out)
	}

	return out
}

func (r rig) get(node string) map[string]any {
	r.Helper()

	return r.must(http.StatusOK, http.MethodGet, "/v1/nodes/"+node, nil)
}

func (r rig) verb(verb, more string) int {
	r.Helper()

	code, _ := r.do(http.MethodPut, "/v1/nodes/n/states/provision", `{"target":"`+verb+`"`+more+`}`)

	return code
}

// rest waits until node n rests in a state.
func (r rig) rest(want string) map[string]any {
	r.Helper()

	for range 2000 {
		n := r.get("n")
		if n["provision_state"] == want && n["reservation"] == nil {
			return n
		}

		time.Sleep(time.Millisecond)
	}

	r.Fatalf("%v, want %s: %v", r.get("n")["provision_state"], want, r.get("n")["last_error"])

	return nil
}

// fake makes node n of fake hardware.
func (r rig) fake() {
	r.Helper()
	r.must(http.StatusCreated, http.MethodPost, "/v1/nodes", map[string]any{"name": "n", "driver": "fake-hardware"})
}

// family is a kind of BMC and boot.
type family struct {
	driver, boot string
	info         map[string]any
}

func redfish(i int) map[string]any {
	return map[string]any{
		"redfish_address": fmt.Sprintf("http://node-%d.lab", i), "redfish_system_id": "/redfish/v1/Systems/1",
		"redfish_username": "admin", "redfish_password": "password",
	}
}

// node makes a node of machine node-i.
func (r rig) node(name string, f family) {
	r.Helper()

	body := map[string]any{"name": name, "driver": f.driver, "driver_info": f.info, "inspect_interface": "agent"}
	if f.boot != "" {
		body["boot_interface"] = f.boot
	}

	r.must(http.StatusCreated, http.MethodPost, "/v1/nodes", body)
}

func (r rig) edit(node string, fields map[string]any) {
	r.Helper()

	if err := r.Edit(node, fields); err != nil {
		r.Fatal(err)
	}
}

// image tells node n which image to deploy.
func (r rig) image(url, sum string) {
	r.Helper()
	r.must(http.StatusOK, http.MethodPatch, "/v1/nodes/n", []any{
		map[string]any{"op": "add", "path": "/instance_info/image_source", "value": url},
		map[string]any{"op": "add", "path": "/instance_info/image_checksum", "value": sum},
	})
}

// text is a fault's text.
func text(body map[string]any) string {
	outer, _ := body["error_message"].(string)

	var inner struct{ Faultstring string }

	_ = json.Unmarshal([]byte(outer), &inner) // an empty text fails the test that asks

	return inner.Faultstring
}

func (r rig) failNext(node, verb string, f ironic.Failure) {
	r.Helper()

	if err := r.FailNext(node, verb, f); err != nil {
		r.Fatal(err)
	}
}
