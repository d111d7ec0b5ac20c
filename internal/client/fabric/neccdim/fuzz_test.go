// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package neccdim

import "testing"

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"count":1,"resources":[{"device":{"deviceID":"g","type":"GPU","model":"A100","attribute":{"deviceSpecificInformation":{"status":"eeio"}},"status":{"state":"Enabled","health":"OK"},"links":[{"type":"CPU","deviceID":"c"}]},"detected":true,"nodeIDs":["c"]}]}`,
		`{"count":1,"nodes":[{"id":"n","resources":[{"device":{"deviceID":"c","type":"CPU"}}]}]}`,
		`{"resource":{"device":{"deviceID":"g"}}}`, `{"node":{"id":1}}`, `{"id":"n","resources":[null]}`,
		`{"applyID":"636ddde1ba","status":"FAILED","applyResult":[{"status":"FAILED","responseBody":{"message":1}}]}`,
		`{"status":"CANCELED","rollbackStatus":"SUSPENDED","rollbackResult":{}}`, `[]`, `null`, `<html>`,
	} {
		f.Add([]byte(seed))
	}

	f.Fuzz(func(t *testing.T, raw []byte) {
		all, err := parseResources(raw)
		if err == nil {
			for _, d := range freeOf(all, "", "", "p").Devices {
				if d.FabricID == "" || d.MachineID != "" {
					t.Fatalf("free: %+v", d)
				}
			}
		}

		nodes, err := parseNodes(raw)
		if err == nil {
			for _, n := range assemble(nodes, all) {
				_ = n.machine("p")
			}
		}

		if n, err := parseNode(raw); err == nil && n.machine("p").ID == "" {
			t.Fatal("a machine without an id")
		}

		if r, err := parseResource(raw); err == nil && r.id == "" {
			t.Fatal("a device without an id")
		}

		_, _ = parseTask("x", raw)
	})
}
