// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate_test

import (
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/cloudinit"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
)

// shapes are templates of machines as people have them, with the netplan that cloud-init makes of each.
func shapes() map[string]struct{ document, netplan string } {
	const e0, e1 = `{match: {macaddress: "02:00:00:00:00:01"}, mtu: 1500, set-name: eth0`, `{match: {macaddress: "02:00:00:00:00:02"}, mtu: 1500, set-name: nic2}`

	return map[string]struct{ document, netplan string }{
		"a bond and a VLAN": {
			`{"network_data": {"links": {"ethernets": [` + eth0 + `, ` + eth1 + `],
				"bonds": [{"id": "b", "bond_mode": "active-backup", "bond_links": ["e0", "e1"], "parameters": [{"name": "miimon", "value": 100}]}],
				"vlans": [{"id": "v", "vlan_id": 7, "vlan_link": "b", "mac_address": {"string": "02:00:00:00:00:01"}}]},
				"networks": {"ipv4": [{"id": "n", "link": "v", "from_pool": "p", "routes": [{"network": "0.0.0.0", "gateway": {"from_pool": "p"}}]}]},
				"services": {"dns_from_pool": "p"}}}`,
			`{ethernets: {eth0: ` + e0 + `}, nic2: ` + e1 + `},
				bonds: {bond0: {interfaces: [eth0, nic2], mtu: 1500, parameters: {mode: active-backup, mii-monitor-interval: 100}}},
				vlans: {bond0.7: {id: 7, link: bond0, mtu: 1500, macaddress: "02:00:00:00:00:01", addresses: [10.0.0.7/24],
					nameservers: {addresses: [10.0.0.53], search: []}, routes: [{to: 0.0.0.0/0, via: 10.0.0.1}]}}}`,
		},
		"static addresses of both families": {
			withNetworks(`"ipv4": [{"id": "n4", "link": "e0", "from_pool": "p", "routes": [{"network": "0.0.0.0", "gateway": {"from_pool": "p"}}]}],
				"ipv6": [{"id": "n6", "link": "e0", "from_pool": "p6", "routes": [{"network": "2001:db8:1::", "prefix": 48, "gateway": {"string": "fe80::1"}}]}]`),
			`{ethernets: {eth0: ` + e0 + `, accept-ra: false, addresses: [10.0.0.7/24, "2001:db8::7/56"],
				routes: [{to: 0.0.0.0/0, via: 10.0.0.1}, {to: "2001:db8:1::/48", via: "fe80::1"}]}}}`,
		},
		"addresses of somebody else": {
			withNetworks(`"ipv4_dhcp": [{"id": "n4", "link": "e0"}], "ipv6_slaac": [{"id": "n6", "link": "e0"}]`),
			`{ethernets: {eth0: ` + e0 + `, dhcp4: true, dhcp6: true}}}`,
		},
	}
}

// netplan returns the network of a netplan.
func netplan(t *testing.T, document string) map[string]any {
	t.Helper()

	var parsed map[string]any
	if err := yaml.Unmarshal([]byte(document), &parsed); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}

	network, _ := parsed["network"].(map[string]any)
	delete(network, "version")

	return network
}

func TestCloudInit_TakesWhatWeRender(t *testing.T) {
	t.Parallel()

	for name, c := range shapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			document, err := datatemplate.NetworkDataJSON(valid(t, c.document), someVars())
			if err != nil {
				t.Fatal(err)
			}

			made := cloudinit.Convert(t, document)
			if got, want := netplan(t, made), netplan(t, "network: "+c.netplan); !reflect.DeepEqual(got, want) {
				t.Errorf("it made\n%s\n got %v\nwant %v", made, got, want)
			}
		})
	}
}

func TestCloudInit_WorkedExample(t *testing.T) {
	t.Parallel()

	document, err := datatemplate.NetworkDataJSON(valid(t, string(file(t, "template.json"))), workedVars())
	if err != nil {
		t.Fatal(err)
	}

	network := netplan(t, cloudinit.Convert(t, document))
	part := func(kind, name string) map[string]any {
		all, _ := network[kind].(map[string]any)
		one, _ := all[name].(map[string]any)

		return one
	}

	for what, c := range map[string]struct {
		got  any
		want []any
	}{
		"links of the bond":          {part("bonds", "bond0")["interfaces"], []any{"nic2", "nic3"}},
		"addresses of the VLAN":      {part("vlans", "bond0.100")["addresses"], []any{"10.100.0.13/16"}},
		"routes of the VLAN":         {part("vlans", "bond0.100")["routes"], []any{map[string]any{"to": "10.200.0.0/16", "via": "10.100.0.254"}}},
		"addresses of the first NIC": {part("ethernets", "prov0")["addresses"], []any{"192.168.111.103/24", "2001:db8::13/64"}},
		"name servers":               {part("ethernets", "prov0")["nameservers"].(map[string]any)["addresses"], []any{"1.1.1.1", "2606:4700:4700::1111", "192.168.111.53", "192.168.111.54"}},
	} {
		if !reflect.DeepEqual(c.got, any(c.want)) {
			t.Errorf("%s are %v, want %v", what, c.got, c.want)
		}
	}

	if parameters, _ := part("bonds", "bond0")["parameters"].(map[string]any); parameters["lacp-rate"] != "fast" || parameters["mode"] != "802.3ad" {
		t.Errorf("parameters of the bond are %v", parameters)
	}
}

// TestCloudInit_WhyWeRefuse shows what becomes of machines with templates that Validate refuses.
func TestCloudInit_WhyWeRefuse(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ document, says string }{
		"a VLAN without MAC address": {withLinks(`, "vlans": [{"id": "v", "vlan_id": 7, "vlan_link": "e0"}]`), "vlan_mac_address"},
		"a bond without links":       {withLinks(`, "bonds": [{"id": "b", "bond_mode": "broadcast"}]`), "bond_links"},
		"a VLAN on an unknown link":  {withLinks(`, "vlans": [{"id": "v", "vlan_id": 7, "vlan_link": "e9", ` + mac + `}]`), "e9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			refused := parse(t, []byte(c.document))
			if len(refused.Validate()) == 0 {
				t.Error("it is not refused")
			}

			document, err := datatemplate.NetworkDataJSON(refused, someVars())
			if err != nil {
				t.Fatal(err)
			}

			nics := map[string]string{"eth0": "02:00:00:00:00:01", "eth1": "02:00:00:00:00:02"}
			if plan, err := cloudinit.ConvertOn(t, document, nics); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("cloud-init took it: %v\n%s", err, plan)
			}
		})
	}

	// and this one it takes, and drops the network without a word
	lost, err := datatemplate.NetworkDataJSON(parse(t, []byte(withNetworks(`"ipv4": [{"id": "n", "link": "eth0", "from_pool": "p"}]`))), someVars())
	if err != nil {
		t.Fatal(err)
	}

	if plan := cloudinit.Convert(t, lost); strings.Contains(plan, "10.0.0.7") {
		t.Errorf("a network on an unknown link is there:\n%s", plan)
	}
}
