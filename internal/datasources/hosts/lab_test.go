// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hosts_test

import (
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestHosts_ofTheLab reads a node that another process put into the lab.
func TestHosts_ofTheLab(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()

	other, err := lab.Open(lab.Options{Dir: dir, Pace: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}

	client, err := ironic.New(ironic.Config{Endpoint: lab.Endpoint, Transport: other.Transport()})
	if err != nil {
		t.Fatal(err)
	}

	node, err := client.CreateNode(t.Context(), ironic.Create{Name: "metal3~a", Driver: "redfish", Extra: journal("metal3", "a", "r0")})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := client.CreatePort(t.Context(), ironic.Port{NodeUUID: node.UUID, Address: "02:00:00:00:00:01", PXEEnabled: true}); err != nil {
		t.Fatal(err)
	}

	s := providertest.NewServer(t)
	if text := providertest.Errors(s.Configure(t, block{"lab": block{"dir": dir, "pace": "1ms"}})); text != "" {
		t.Fatal(text)
	}

	got, diags := s.Read(t, "metal3_baremetal_hosts", block{"labels": block{"rack": "r0"}, "hardware": block{}})

	hosts, _ := got["hosts"].([]any)
	if text := providertest.Errors(diags); text != "" || len(hosts) != 1 {
		t.Fatalf("%d hosts: %s", len(hosts), text)
	}

	host, _ := hosts[0].(block)
	if ports, ok := host["ports"].([]any); !ok || len(ports) != 1 || host["id"] != node.UUID || host["ironic_state"] != "enroll" {
		t.Errorf("got %v", host)
	}

	for name, by := range map[string]block{
		"name": {"name": "a"}, "MAC": {"mac_address": "02-00-00-00-00-01"}, "id": {"id": node.UUID}, "node name": {"node_name": "metal3~a"},
	} {
		one, diags := s.Read(t, "metal3_baremetal_host", by)
		if text := providertest.Errors(diags); text != "" || one["id"] != node.UUID || one["hardware"] != nil {
			t.Errorf("by %s: %v: %s", name, one["id"], text)
		}
	}

	if _, diags := s.Read(t, "metal3_baremetal_host", block{"name": "nobody"}); providertest.Errors(diags) == "" {
		t.Error("a host that is not there was read")
	}
}
