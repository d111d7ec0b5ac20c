// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"encoding/json"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

// serving is a client of a fake that answers one request with a body.
func serving(t *testing.T, part string, status int, body string) *ironic.Client {
	t.Helper()

	f := newFake()
	f.answer("GET", part, -1, status, body)

	return f.client(t)
}

func FuzzNode(f *testing.F) {
	f.Add(`{"uuid":"` + someNode + `","name":null,"properties":{"capabilities":"boot_mode:uefi"},"traits":["A"],"boot_interface":"ipxe"}`)
	f.Add(`{"uuid":7,"maintenance":"yes","extra":[1],"inspection_finished_at":{}}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, body string) {
		n, err := serving(t, "/nodes/", 200, body).Node(t.Context(), "n")
		if (err == nil) != (n.UUID != "") {
			t.Errorf("got %+v, %v", n, err)
		}
	})
}

func FuzzPorts(f *testing.F) {
	f.Add(`{"ports":[{"uuid":"p","address":"52:54:00:00:00:01","local_link_connection":{"port_id":1}},null],"next":"http://x/v1/ports?marker=p"}`)
	f.Add(`{"ports":{}}`)
	f.Fuzz(func(t *testing.T, body string) {
		ports, err := serving(t, "/ports", 200, body).Ports(t.Context())
		if err != nil && ports != nil {
			t.Errorf("got %v, %v", ports, err)
		}
	})
}

func FuzzErrorBody(f *testing.F) {
	for _, status := range []int{400, 401, 403, 404, 409, 418} {
		f.Add(status, fault("Node X is locked by host c1, please retry"))
		f.Add(status, noRoute)
		f.Add(status, `{"error":{"message":"Incorrect username or password","code":401}}`)
		f.Add(status, `{"error_message":{"faultstring":7}}`)
		f.Add(status, `<html><title>x</title>`)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 400 || status > 499 || status == 408 || status == 429 || status == 409 {
			return // good, or repeated
		}

		_, err := serving(t, "/nodes/", status, body).Node(t.Context(), "n")
		if err == nil || len(err.Error()) > 4000 {
			t.Errorf("got %v", err)
		}

		if ironic.IsGone(err) && status != 404 {
			t.Errorf("%d counts as gone", status)
		}
	})
}

func FuzzInventory(f *testing.F) {
	f.Add(`{"inventory":{"cpu":{"count":null}},"plugin_data":[]}`)
	f.Add(`{"inventory":null} x`)
	f.Fuzz(func(t *testing.T, body string) {
		raw, err := serving(t, "/inventory", 200, body).Inventory(t.Context(), "n")
		if err == nil && !json.Valid(raw) {
			t.Errorf("got %q", raw)
		}
	})
}
