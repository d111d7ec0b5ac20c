// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

type block = providertest.Map

const (
	ours    = "11111111-1111-4111-8111-111111111111"
	foreign = "22222222-2222-4222-8222-222222222222"
	claim   = "aaaaaaaa-0000-4000-8000-000000000001"
)

func backend() *providertest.Hosts {
	return &providertest.Hosts{
		Nodes: []ironic.Node{
			{
				UUID: ours, Name: "metal3~node-0", Description: "first", Driver: "redfish", ProvisionState: ironic.Active, PowerState: ironic.PowerOn,
				InstanceUUID: claim, ResourceClass: "big", ConductorGroup: "dc1", Traits: []string{"CUSTOM_B", "CUSTOM_A"}, Health: "OK",
				Extra: map[string]any{"metal3": map[string]any{
					"v": 1.0, "managed_by": "terraform-provider-metal3", "namespace": "metal3", "name": "node-0", "phase": "provisioned",
					"labels": map[string]any{"rack": "r0"}, "annotations": map[string]any{"note": "x"}, "failure_domain": "fd1",
					"applied":           map[string]any{"image": map[string]any{"url": "http://images.test/a.raw"}},
					"fabric_machine_id": "m-1", "unhealthy": "capm3/UnhealthyNode",
					"consumer": map[string]any{"kind": "cluster", "name": "edge", "id": claim},
				}},
			},
			{UUID: foreign, Name: "rack7-u3", Driver: "ipmi", ProvisionState: ironic.Enroll},
		},
		Ports: map[string][]ironic.Port{ours: {
			{Address: "02:00:00:00:00:02", LocalLink: map[string]string{"port_id": "eth7"}},
			{Address: "02:00:00:00:00:01", PXEEnabled: true, PhysicalNetwork: "prov"},
		}},
		Inventories: map[string]string{ours: `{"inventory": {"hostname": "node-0", "cpu": {"count": 32}, "interfaces": [], "disks": []}}`},
	}
}

func server(t *testing.T, b *providertest.Hosts) *providertest.Server {
	t.Helper()

	s := providertest.NewServer(t, provider.WithBackend(b))
	if text := providertest.Errors(s.Configure(t, nil)); text != "" {
		t.Fatal(text)
	}

	return s
}

func TestHost_everyWayToFindIt(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		block block
		want  string
	}{
		"id":                         {block{"id": ours}, ours},
		"name in the provider's one": {block{"name": "node-0"}, ours},
		"name and namespace":         {block{"name": "node-0", "namespace": "metal3"}, ours},
		"node name":                  {block{"node_name": "rack7-u3"}, foreign},
		"claim":                      {block{"instance_uuid": strings.ToUpper(claim)}, ours},
		"MAC in another spelling":    {block{"mac_address": "02-00-00-00-00-02"}, ours},
	} {
		t.Run("by "+name, func(t *testing.T) {
			t.Parallel()

			got, diags := server(t, backend()).Read(t, "metal3_baremetal_host", c.block)
			if text := providertest.Errors(diags); text != "" || got["id"] != c.want {
				t.Errorf("got %v: %s", got["id"], text)
			}

			if mac := c.block["mac_address"]; mac != nil && got["mac_address"] != mac {
				t.Errorf("the spelling %v became %v", mac, got["mac_address"])
			}
		})
	}
}

func TestHost_facts(t *testing.T) {
	t.Parallel()

	got, diags := server(t, backend()).Read(t, "metal3_baremetal_host", block{"name": "node-0"})
	if text := providertest.Errors(diags); text != "" {
		t.Fatal(text)
	}

	for name, want := range map[string]any{
		"name": "node-0", "namespace": "metal3", "node_name": "metal3~node-0", "description": "first", "driver": "redfish",
		"provisioning_state": "provisioned", "operational_status": "OK", "powered_on": true, "ironic_state": "active", "health": "OK",
		"instance_uuid": claim, "resource_class": "big", "conductor_group": "dc1", "failure_domain": "fd1", "fabric_machine_id": "m-1",
		"unhealthy": "capm3/UnhealthyNode", "maintenance": false, "error_message": nil,
		"labels": block{"rack": "r0"}, "annotations": block{"note": "x"}, "traits": []any{"CUSTOM_A", "CUSTOM_B"},
		"consumer": block{"kind": "cluster", "name": "edge", "id": claim},
		"ports": []any{
			block{"mac": "02:00:00:00:00:01", "pxe_enabled": true, "physical_network": "prov", "local_link": block{}},
			block{"mac": "02:00:00:00:00:02", "pxe_enabled": false, "physical_network": nil, "local_link": block{"port_id": "eth7"}},
		},
	} {
		if !reflect.DeepEqual(got[name], want) {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}

	hardware, _ := got["hardware"].(block)
	if cpu, ok := hardware["cpu"].(block); !ok || cpu["count"] != int64(32) {
		t.Errorf("hardware is %v", hardware)
	}
}

func TestHost_foreignNodeWithoutAnything(t *testing.T) {
	t.Parallel()

	got, diags := server(t, backend()).Read(t, "metal3_baremetal_host", block{"id": foreign})
	if text := providertest.Errors(diags); text != "" {
		t.Fatal(text)
	}

	for name, want := range map[string]any{
		"name": "rack7-u3", "namespace": nil, "powered_on": nil, "hardware": nil, "consumer": nil, "unhealthy": nil,
		"labels": block{}, "ports": []any{}, "traits": []any{}, "provisioning_state": "registering",
	} {
		if !reflect.DeepEqual(got[name], want) {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}

func TestHost_absenceFromTheListIsNoNotFound(t *testing.T) {
	t.Parallel()

	b := backend()
	b.Hidden = ours

	got, diags := server(t, b).Read(t, "metal3_baremetal_host", block{"name": "node-0"})
	if text := providertest.Errors(diags); text != "" || got["id"] != ours {
		t.Errorf("got %v: %s", got["id"], text)
	}
}

func TestHost_refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		block block
		fail  map[string]error
		says  []string
	}{
		"nothing named":        {nil, nil, []string{"Exactly one"}},
		"two ways at once":     {block{"id": ours, "name": "node-0"}, nil, []string{"Exactly one"}},
		"a namespace alone":    {block{"id": ours, "namespace": "metal3"}, nil, []string{"name"}},
		"a bad MAC address":    {block{"mac_address": "eth0"}, nil, []string{`AttributeName("mac_address")`}},
		"an unknown name":      {block{"name": "no-such"}, nil, []string{`AttributeName("name")`, "Host no-such was not found"}},
		"another namespace":    {block{"name": "node-0", "namespace": "edge"}, nil, []string{"was not found"}},
		"an unknown claim":     {block{"instance_uuid": ours}, nil, []string{`AttributeName("instance_uuid")`, "was not found"}},
		"a MAC that none owns": {block{"mac_address": "02:00:00:00:00:99"}, nil, []string{"was not found"}},
		"Ironic down":          {block{"name": "node-0"}, map[string]error{"All": errors.New("connection refused")}, []string{"Host node-0 could not be read", "refused"}},
		"no inventory service": {block{"id": ours}, map[string]error{"Inventory": errors.New("503")}, []string{"inventory", "503"}},
	} {
		t.Run(name+" is an error in words", func(t *testing.T) {
			t.Parallel()

			b := backend()
			b.Fail = c.fail

			_, diags := server(t, b).Read(t, "metal3_baremetal_host", c.block)
			text := providertest.Errors(diags)

			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %q", want, text)
				}
			}
		})
	}
}

func TestOTF05_hostOfUnknownProvider(t *testing.T) {
	t.Parallel()

	s := providertest.NewServer(t)
	if text := providertest.Errors(s.Configure(t, block{"ironic": block{"endpoint": providertest.Unknown{}}})); text != "" {
		t.Fatal(text)
	}

	for name, b := range map[string]block{"metal3_baremetal_host": {"id": ours}, "metal3_baremetal_hosts": nil} {
		_, diags := s.Read(t, name, b)
		if text := providertest.Errors(diags); !strings.Contains(text, "yet") || !strings.Contains(text, "ironic.endpoint") || !strings.Contains(text, "depends_on") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestOTF05_hostInUnknownNamespace(t *testing.T) {
	t.Parallel()

	s := providertest.NewServer(t, provider.WithBackend(backend()))
	if text := providertest.Errors(s.Configure(t, block{"namespace": providertest.Unknown{}})); text != "" {
		t.Fatal(text)
	}

	_, diags := s.Read(t, "metal3_baremetal_host", block{"name": "node-0"})
	if text := providertest.Errors(diags); !strings.Contains(text, "namespace") {
		t.Errorf("got %q", text)
	}

	if _, diags = s.Read(t, "metal3_baremetal_host", block{"name": "node-0", "namespace": "metal3"}); providertest.Errors(diags) != "" {
		t.Errorf("with a namespace of its own: %s", providertest.Errors(diags))
	}
}
