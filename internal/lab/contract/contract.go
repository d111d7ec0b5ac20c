// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package contract holds an Ironic to what the provider relies on: statuses, error bodies,
// documents and the ways through the provision states. It speaks plain HTTP, so that the same
// expectations run against the lab and against a real Ironic: a lab that passes is no fairy tale.
package contract

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Target is an Ironic to hold to the contract.
type Target struct {
	// Endpoint is the service's root, without /v1.
	Endpoint string
	// Transport reaches it; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Machine gives driver and driver_info of a machine that Ironic can reach; nil means that
	// there is none, and only the walks of fake-hardware run.
	Machine func(i int) (driver string, info map[string]any)
	// Image is an image that the machines can deploy, with its SHA-256 sum. MissingImage is a
	// URL on the same server that gives 404.
	Image, SHA256, MissingImage string
	// MinorMax is the newest API version; 0 means 96.
	MinorMax int
	// Poll is the pause between two looks; 0 means 100 ms.
	Poll time.Duration
	// Patience is how long one transition may take; 0 means a minute.
	Patience time.Duration
}

// Run runs the suite. Nodes that it makes are called labironic-…, and are gone at the end.
func Run(t *testing.T, target Target) {
	t.Helper()

	if target.MinorMax == 0 {
		target.MinorMax = 96
	}

	if target.Poll == 0 {
		target.Poll = 100 * time.Millisecond
	}

	if target.Patience == 0 {
		target.Patience = time.Minute
	}

	for name, test := range map[string]func(*far){
		"discovery needs no version":                discovery,
		"versions are negotiated by one header":     versions,
		"nodes that cannot be":                      badNodes,
		"a node document has all fields":            documents,
		"lists":                                     lists,
		"patches":                                   patches,
		"11.3 a claim is held by one":               claims,
		"fake hardware walks through its states":    fakeWalk,
		"verbs that the state does not accept":      badVerbs,
		"maintenance":                               maintenance,
		"11.3 a protected node stays":               protection,
		"manual cleaning that cannot start":         badClean,
		"ports":                                     ports,
		"11.3 allocations":                          allocations,
		"11.3 of many claims one is kept":           rivals,
		"11.3 a claim without an allocation":        plainClaims,
		"11.3 allocations that find no node":        vainAllocations,
		"11.3 an allocation lives with its node":    allocatedLife,
		"11.3 a claim is given up in maintenance":   forced,
		"11.3 an allocation of a node that runs":    backfills,
		"11.3 a retired node is kept for its claim": keeps,
		"traits":                 traits,
		"power":                  power,
		"drivers and conductors": drivers,
		"a machine lives from enrolled to deleted": life,
		"a BMC with a wrong password":              wrongPassword,
		"a BMC that is not there":                  noBMC,
		"an image that is not there":               missingImage,
		"an inspection that is aborted":            abortedInspection,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&far{T: t, Target: target, minor: target.MinorMax})
		})
	}
}

// far is a client of the far side for one test.
type far struct {
	*testing.T
	Target

	minor int // of the requests; 0 sends no header
}

// at is the same client at another API version.
func (f *far) at(minor int) *far { return &far{T: f.T, Target: f.Target, minor: minor} }

// reply is what came back.
type reply struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (f *far) do(method, path string, body any) reply {
	f.Helper()

	var content []byte

	switch b := body.(type) {
	case nil:
	case string:
		content = []byte(b)
	default:
		var err error
		if content, err = json.Marshal(b); err != nil {
			f.Fatal(err)
		}
	}

	ctx, cancel := context.WithTimeout(context.Background(), f.Patience)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, method, f.Endpoint+path, bytes.NewReader(content))
	if err != nil {
		f.Fatal(err)
	}

	req.Header.Set("Content-Type", "application/json")

	if f.minor > 0 {
		req.Header.Set("X-OpenStack-Ironic-API-Version", fmt.Sprintf("1.%d", f.minor))
	}

	transport := f.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}

	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		f.Fatal(err)
	}
	defer res.Body.Close()

	raw, err := io.ReadAll(res.Body)
	if err != nil {
		f.Fatal(err)
	}

	r := reply{status: res.StatusCode, header: res.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &r.body) // not every body is an object

	return r
}

// expect does a request and fails unless it gets the status.
func (f *far) expect(status int, method, path string, body any) reply {
	f.Helper()

	// A lock of a moment ago is not what these tests are about.
	for end := time.Now().Add(f.Patience); ; f.pause() {
		r := f.do(method, path, body)
		if r.status == http.StatusConflict && status != http.StatusConflict && strings.Contains(r.fault(), "is locked by host") &&
			time.Now().Before(end) {
			continue
		}

		if r.status != status {
			f.Fatalf("%s %s: %d, want %d: %s", method, path, r.status, status, r.raw)
		}

		return r
	}
}

// refuse expects an error with a text in its faultstring.
func (f *far) refuse(status int, text, method, path string, body any) {
	f.Helper()

	r := f.expect(status, method, path, body)
	if got := r.fault(); !strings.Contains(got, text) {
		f.Errorf("%s %s: %q, want it to contain %q", method, path, got, text)
	}
}

// fault is the text of an error: JSON inside JSON.
func (r reply) fault() string {
	outer, _ := r.body["error_message"].(string)

	var inner struct {
		Faultcode, Faultstring, Description string
		Debuginfo                           any
	}

	if json.Unmarshal([]byte(outer), &inner) != nil {
		return ""
	}

	if inner.Faultcode == "" {
		return inner.Description
	}

	return inner.Faultstring
}

// pause is the time between two looks.
func (f *far) pause() { time.Sleep(f.Poll) } //nolint:forbidigo // a test that waits for a far side

// object is a field that must be an object.
func object(m map[string]any, field string) map[string]any {
	o, _ := m[field].(map[string]any)

	return o
}

// newName is a name that no other run has.
func newName() string {
	b := make([]byte, 5)
	_, _ = rand.Read(b) // never fails

	return "labironic-" + hex.EncodeToString(b)
}

// node creates a node and removes it at the end of the test, whatever state it is in.
func (f *far) node(body map[string]any) (name, uuid string) {
	f.Helper()

	name = newName()
	body["name"] = name

	r := f.expect(http.StatusCreated, http.MethodPost, "/v1/nodes", body)
	uuid, _ = r.body["uuid"].(string)

	f.Cleanup(func() { f.remove(uuid) })

	return name, uuid
}

func (f *far) remove(uuid string) {
	for end := time.Now().Add(f.Patience); time.Now().Before(end); f.pause() {
		if r := f.do(http.MethodGet, "/v1/nodes/"+uuid, nil); r.status == http.StatusNotFound {
			return
		}

		f.do(http.MethodPatch, "/v1/nodes/"+uuid, []any{map[string]any{"op": "add", "path": "/protected", "value": false}})
		f.do(http.MethodPut, "/v1/nodes/"+uuid+"/maintenance", nil)
		f.do(http.MethodDelete, "/v1/nodes/"+uuid, nil)
	}

	f.Errorf("node %s cannot be removed", uuid)
}

func (f *far) fake() (name, uuid string) {
	f.Helper()

	return f.node(map[string]any{"driver": "fake-hardware"})
}

// state is what a node says of itself.
func (f *far) state(node string) map[string]any {
	f.Helper()

	return f.expect(http.StatusOK, http.MethodGet, "/v1/nodes/"+node, nil).body
}

// verb asks for a provision verb.
func (f *far) verb(node, verb string, more map[string]any) {
	f.Helper()

	body := map[string]any{"target": verb}
	for k, v := range more {
		body[k] = v
	}

	f.expect(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+node+"/states/provision", body)
}

// wait polls until the node rests, and returns it; it must rest in the state wanted.
func (f *far) wait(node, want string) map[string]any {
	f.Helper()

	var n map[string]any

	for end := time.Now().Add(f.Patience); time.Now().Before(end); f.pause() {
		n = f.state(node)
		state, _ := n["provision_state"].(string)
		resting := n["target_provision_state"] == nil || strings.HasSuffix(state, "failed") || state == "error"

		if state == want && resting && n["reservation"] == nil {
			return n
		}

		// a failure that is wanted may still hold its lock
		if state != want && (strings.HasSuffix(state, "failed") || state == "error") {
			break
		}
	}

	f.Fatalf("node is %v (target %v), want %s: %v", n["provision_state"], n["target_provision_state"], want, n["last_error"])

	return nil
}

// to does verbs one after the other, each with the state that it must end in.
func (f *far) to(node string, steps ...[2]string) map[string]any {
	f.Helper()

	var n map[string]any
	for _, s := range steps {
		f.verb(node, s[0], nil)
		n = f.wait(node, s[1])
	}

	return n
}

func (f *far) patch(node string, ops ...map[string]any) reply {
	f.Helper()

	return f.expect(http.StatusOK, http.MethodPatch, "/v1/nodes/"+node, ops)
}

func add(path string, v any) map[string]any {
	return map[string]any{"op": "add", "path": path, "value": v}
}

func remove(path string) map[string]any { return map[string]any{"op": "remove", "path": path} }

func patchOf(ops ...map[string]any) []map[string]any { return ops }
