// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onironic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"

	lab "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

const id = "00000000-0000-4000-8000-000000000001"

// recorder is an Ironic that says yes to all changes and remembers them.
type recorder struct {
	mu     sync.Mutex
	minor  int
	sent   []string // "PATCH /v1/nodes/…", without reads
	bodies []string
	answer map[string]func(w http.ResponseWriter) // by method and path
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-OpenStack-Ironic-API-Maximum-Version", fmt.Sprintf("1.%d", r.minor))

	what := req.Method + " " + strings.TrimPrefix(req.URL.Path, "/v1")
	if req.Method != http.MethodGet {
		r.sent, r.bodies = append(r.sent, what), append(r.bodies, string(body))
	}

	switch answer, ok := r.answer[what]; {
	case ok:
		answer(w)
	case req.Method == http.MethodPatch, req.Method == http.MethodPost:
		fmt.Fprintf(w, `{"uuid":%q,"name":"ns~n1","provision_state":"manageable"}`, id)
	case req.Method == http.MethodPut, req.Method == http.MethodDelete:
		w.WriteHeader(http.StatusAccepted)
	default:
		fmt.Fprint(w, `{"version":{"version":"1.1"}}`)
	}

	return w.Result(), nil
}

// last is the body of the last change, decoded.
func (r *recorder) last(t *testing.T, into any) {
	t.Helper()

	r.mu.Lock()
	defer r.mu.Unlock()

	if len(r.bodies) == 0 {
		t.Fatal("nothing was sent")
	}

	if err := json.Unmarshal([]byte(r.bodies[len(r.bodies)-1]), into); err != nil {
		t.Fatal(err)
	}
}

// patch is the operations of the last change, one a line: "add /name "x"", the journal left out.
func (r *recorder) patch(t *testing.T) []string {
	t.Helper()

	var ops []struct {
		Op, Path string
		Value    json.RawMessage
	}

	out := []string{}

	if len(r.bodies) == 0 {
		return out
	}

	r.last(t, &ops)

	for _, o := range ops {
		if !strings.HasPrefix(o.Path, "/extra/") {
			out = append(out, strings.TrimSpace(o.Op+" "+o.Path+" "+string(o.Value)))
		}
	}

	return out
}

func on(t *testing.T, transport http.RoundTripper) *onironic.Backend {
	t.Helper()

	c, err := ironic.New(ironic.Config{Endpoint: "http://ironic.lab:6385", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}

	return onironic.New(c)
}

func record(t *testing.T, minor int) (*recorder, *onironic.Backend) {
	t.Helper()

	r := &recorder{minor: minor, answer: map[string]func(http.ResponseWriter){}}

	return r, on(t, r)
}

// direct is a transport that calls a service without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Body == nil {
		r.Body = http.NoBody // as a server does
	}

	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)

	return w.Result(), nil
}

// inLab is a backend on the lab's Ironic.
func inLab(t *testing.T, minor int) (*lab.Service, *onironic.Backend) {
	t.Helper()

	s := lab.New(store.New(""), lab.Options{Pace: time.Millisecond, MaxMinor: minor})
	s.KeepRequests()

	return s, on(t, direct{s})
}

func parse(t *testing.T, address string) access.Access {
	t.Helper()

	a, err := access.Parse(address)
	if err != nil {
		t.Fatal(err)
	}

	return a
}

const address = "redfish-virtualmedia+http://node-0.lab/redfish/v1/Systems/1"

// wanted is a host with a Redfish BMC.
func wanted(t *testing.T) host.Wanted {
	t.Helper()

	return host.Wanted{
		ID: id, Namespace: "ns", Name: "n1", OwnerID: "me",
		BMC:      host.BMC{Access: parse(t, address), Username: "admin", Password: "S3cret"},
		BootMode: "UEFI", Architecture: "x86_64", CleaningMode: "metadata", InspectionMode: "agent",
	}
}

// settled is the record of that host when nothing differs.
func settled() ironic.Node {
	clean := true

	return ironic.Node{
		UUID: id, Name: "ns~n1", Driver: "redfish", ProvisionState: ironic.Manageable, AutomatedClean: &clean,
		Interfaces: map[string]string{
			"boot": "redfish-virtual-media", "raid": "redfish", "firmware": "redfish", "inspect": "agent", "deploy": "direct", "management": "redfish", "power": "redfish",
		},
		DriverInfo: map[string]any{
			"redfish_address": "http://node-0.lab", "redfish_system_id": "/redfish/v1/Systems/1", "redfish_username": "admin", "redfish_password": "******",
		},
		Properties:   map[string]any{"capabilities": "boot_mode:uefi", "cpu_arch": "x86_64", "of_others": "x"},
		InstanceInfo: map[string]any{}, Extra: map[string]any{},
	}
}

// refuse answers a call with an error of Ironic's.
func (r *recorder) refuse(what string, status int, words string) {
	r.answer[what] = func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = w.Write(fault(words))
	}
}

// fault is an error as Ironic writes it: JSON inside JSON.
func fault(words string) []byte {
	inner, _ := json.Marshal(map[string]any{"faultcode": "Client", "faultstring": words, "debuginfo": nil})
	outer, _ := json.Marshal(map[string]any{"error_message": string(inner)})

	return outer
}
