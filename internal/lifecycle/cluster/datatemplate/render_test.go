// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
)

// someVars are a machine on a host, with an address of each family.
func someVars() datatemplate.Vars {
	return datatemplate.Vars{
		Namespace: "default", Machine: "edge-cp-0", Host: "node-7", Index: 3, BootMAC: "02:00:00:00:00:0A",
		Interfaces:         map[string]string{"eth0": "02-00-00-00-00-0b", "twin": "02:00:00:00:00:01,02:00:00:00:00:02", "ib0": "80:00:02:08"},
		HostLabels:         map[string]string{"l": "of host"},
		HostAnnotations:    map[string]string{"mac": "02:00:00:00:00:0c", "bad": "nothing", "pool": "p6", "gone": "p9"},
		MachineLabels:      map[string]string{"l": "of machine"},
		MachineAnnotations: map[string]string{"mac": "02:00:00:00:00:0d"},
		Addresses: map[string]addresses.Address{
			"p": {Address: "10.0.0.7", Prefix: 24, Gateway: "10.0.0.1", DNS: []string{"10.0.0.53"}}, "p6": {Address: "2001:db8::7", Prefix: 56},
			"odd": {Address: "10.0.0.7", Prefix: 0},
		},
	}
}

func TestRenderMetaData_Values(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ list, want string }{
		"a literal":                       {`"strings": [{"key": "k", "value": "v"}]`, "v"},
		"a machine's name":                {`"object_names": [{"key": "k", "object": "machine"}]`, "edge-cp-0"},
		"a Metal3Machine is the machine":  {`"object_names": [{"key": "k", "object": "metal3machine"}]`, "edge-cp-0"},
		"a host's name":                   {`"object_names": [{"key": "k", "object": "host"}]`, "node-7"},
		"an index":                        {`"indexes": [{"key": "k"}]`, "3"},
		"a step of 0 counts as 1":         {`"indexes": [{"key": "k", "offset": 4, "step": 0}]`, "7"},
		"a namespace":                     {`"namespaces": [{"key": "k"}]`, "default"},
		"an address":                      {`"ip_addresses_from_pool": [{"key": "k", "name": "p6"}]`, "2001:db8::7"},
		"a prefix":                        {`"prefixes_from_pool": [{"key": "k", "name": "p6"}]`, "56"},
		"a gateway":                       {`"gateways_from_pool": [{"key": "k", "name": "p"}]`, "10.0.0.1"},
		"a gateway that a pool lacks":     {`"gateways_from_pool": [{"key": "k", "name": "p6"}]`, ""},
		"DNS servers":                     {`"dns_servers_from_pool": [{"key": "k", "name": "p"}]`, "10.0.0.53"},
		"DNS servers that a pool lacks":   {`"dns_servers_from_pool": [{"key": "k", "name": "p6"}]`, ""},
		"the interface that it boots of":  {`"from_host_interfaces": [{"key": "k", "from_boot_mac": true}]`, "02:00:00:00:00:0a"},
		"an interface, in lower case":     {`"from_host_interfaces": [{"key": "k", "interface": "eth0"}]`, "02:00:00:00:00:0b"},
		"a label of the host":             {`"from_labels": [{"key": "k", "object": "host", "label": "l"}]`, "of host"},
		"a label of the machine":          {`"from_labels": [{"key": "k", "object": "metal3machine", "label": "l"}]`, "of machine"},
		"an absent label is empty":        {`"from_labels": [{"key": "k", "object": "machine", "label": "m"}]`, ""},
		"an annotation":                   {`"from_annotations": [{"key": "k", "object": "baremetalhost", "annotation": "pool"}]`, "p6"},
		"an absent annotation is empty":   {`"from_annotations": [{"key": "k", "object": "machine", "annotation": "m"}]`, ""},
		"later lists win: strings do":     {`"strings": [{"key": "k", "value": "v"}], "namespaces": [{"key": "k"}], "from_annotations": [{"key": "k", "object": "machine", "annotation": "mac"}]`, "v"},
		"later lists win: labels":         {`"from_labels": [{"key": "k", "object": "host", "label": "l"}], "object_names": [{"key": "k", "object": "host"}], "indexes": [{"key": "k"}]`, "of host"},
		"the provider ID cannot be taken": {`"strings": [{"key": "k", "value": "v"}, {"key": "providerid", "value": "mine"}]`, "v"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := datatemplate.RenderMetaData(parse(t, []byte(`{"meta_data": {`+c.list+`}}`)), someVars())
			if want := map[string]string{"k": c.want, "providerid": "default/node-7/edge-cp-0"}; err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
}

func TestOCL07_incompleteHost(t *testing.T) {
	t.Parallel()

	// the index that the case asks for
	index := parse(t, []byte(`{"meta_data": {"indexes": [{"key": "i", "offset": 10, "step": 2, "prefix": "n-", "suffix": "-x"}]}}`))
	if got, err := datatemplate.RenderMetaData(index, someVars()); err != nil || got["i"] != "n-16-x" {
		t.Errorf("index 3 is %q, %v", got["i"], err)
	}

	bare := someVars()
	bare.BootMAC, bare.Interfaces = "", nil

	for name, c := range map[string]struct {
		list string
		vars datatemplate.Vars
		says []string
	}{
		"no boot MAC":                   {`"from_host_interfaces": [{"key": "k1", "from_boot_mac": true}]`, bare, []string{`host "node-7"`, `key "k1"`, "boots from"}},
		"no inventory":                  {`"from_host_interfaces": [{"key": "k1", "interface": "eth0"}]`, bare, []string{`host "node-7"`, `key "k1"`, `"eth0"`, "not known"}},
		"an interface that is not one":  {`"from_host_interfaces": [{"key": "k1", "interface": "eth9"}]`, someVars(), []string{`host "node-7"`, `key "k1"`, `"eth9"`, "eth0, ib0, twin"}},
		"a part of an interface's name": {`"from_host_interfaces": [{"key": "k1", "interface": "eth"}]`, someVars(), []string{`"eth"`}},
		"two interfaces of one name":    {`"from_host_interfaces": [{"key": "k1", "interface": "twin"}]`, someVars(), []string{`"twin"`, "more than one", "02:00:00:00:00:02"}},
		"an interface without Ethernet": {`"from_host_interfaces": [{"key": "k1", "interface": "ib0"}]`, someVars(), []string{`"ib0"`, `bad MAC address: "80:00:02:08"`}},
		"an unknown pool":               {`"ip_addresses_from_pool": [{"key": "k1", "name": "q"}]`, someVars(), []string{`key "k1"`, `pool "q"`, "odd, p, p6"}},
		"an impossible prefix":          {`"prefixes_from_pool": [{"key": "k1", "name": "odd"}]`, someVars(), []string{`"odd"`, "prefix 0"}},
		"an unknown object": {
			`"object_names": [{"key": "k1", "object": "x"}], "from_labels": [{"key": "k2", "object": "y"}], "from_annotations": [{"key": "k3", "object": "z"}]`, someVars(),
			[]string{`key "k1"`, `"x"`, `key "k2"`, `"y"`, `key "k3"`, `"z"`},
		},
	} {
		t.Run(name+" is an error before anything is written", func(t *testing.T) {
			t.Parallel()

			got, err := datatemplate.RenderMetaData(parse(t, []byte(`{"meta_data": {`+c.list+`}}`)), c.vars)
			if err == nil {
				t.Fatalf("it rendered %v", got)
			}

			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %q", want, err)
				}
			}
		})
	}

	// and in network data
	_, err := datatemplate.RenderNetworkData(parse(t, []byte(`{"network_data": {"links": {"ethernets": [
		{"id": "a", "mac_address": {"from_host_interface": "boot"}}, {"id": "b", "mac_address": {"from_host_interface": "eth0"}}]}}}`)), bare)
	if err == nil || !strings.Contains(err.Error(), `host "node-7"`) || !strings.Contains(err.Error(), `id "a"`) || !strings.Contains(err.Error(), `id "b"`) {
		t.Errorf("network data: %v", err)
	}
}

func TestRenderNetworkData_Quirks(t *testing.T) {
	t.Parallel()

	net := func(s string) string { return `{"network_data": {` + s + `}}` }
	links := func(s string) string { return net(`"links": {` + s + `}`) }
	networks := func(s string) string { return net(`"networks": {` + s + `}`) }

	for name, c := range map[string]struct{ document, field, want string }{
		"links are bonds, ethernets, VLANs": {
			links(`"vlans": [{"id": "v", "vlan_id": 7, "vlan_link": "e"}], "ethernets": [{"id": "e"}], "bonds": [{"id": "b", "bond_mode": "broadcast"}]`), "links",
			`[{"bond_mode":"broadcast","id":"b","mtu":1500,"type":"bond"},{"id":"e","mtu":1500,"type":"phy"},{"id":"v","mtu":1500,"type":"vlan","vlan_id":7,"vlan_link":"e"}]`,
		},
		"a bond's parameters keep their type": {
			links(`"bonds": [{"id": "b", "name": "b0", "bond_mode": "broadcast", "parameters": [{"name": "miimon", "value": 100}, {"name": "x", "value": "1"}, {"name": "y", "value": [true]}]}]`), "links",
			`[{"bond_miimon":100,"bond_mode":"broadcast","bond_x":"1","bond_y":[true],"id":"b","mtu":1500,"name":"b0","type":"bond"}]`,
		},
		"a literal MAC wins over an interface, and that over an annotation": {
			links(`"ethernets": [{"id": "e", "mac_address": {"string": "02:00:00:00:00:AA", "from_host_interface": "eth0", "from_annotation": {"object": "host", "annotation": "mac"}}},
				{"id": "f", "mac_address": {"from_host_interface": "eth0", "from_annotation": {"object": "host", "annotation": "mac"}}},
				{"id": "g", "mac_address": {"from_annotation": {"object": "host", "annotation": "mac"}}}, {"id": "h", "mac_address": {"from_annotation": {"object": "machine", "annotation": "mac"}}}]`), "links",
			`[{"ethernet_mac_address":"02:00:00:00:00:aa","id":"e","mtu":1500,"type":"phy"},{"ethernet_mac_address":"02:00:00:00:00:0b","id":"f","mtu":1500,"type":"phy"},` +
				`{"ethernet_mac_address":"02:00:00:00:00:0c","id":"g","mtu":1500,"type":"phy"},{"ethernet_mac_address":"02:00:00:00:00:0d","id":"h","mtu":1500,"type":"phy"}]`,
		},
		"networks are ipv4, ipv6, DHCP of both, SLAAC": {
			networks(`"ipv6_slaac": [{"id": "s", "link": "e"}], "ipv6_dhcp": [{"id": "d6", "link": "e"}], "ipv4_dhcp": [{"id": "d4", "link": "e"}],
				"ipv6": [{"id": "n6", "link": "e", "from_pool": "p6"}], "ipv4": [{"id": "n4", "link": "e", "from_pool": "p"}]`), "networks",
			`[{"id":"n4","ip_address":"10.0.0.7","link":"e","netmask":"255.255.255.0","network_id":"n4","routes":[],"type":"ipv4"},` +
				`{"id":"n6","ip_address":"2001:db8::7","link":"e","netmask":"ffff:ffff:ffff:ff00::","network_id":"n6","routes":[],"type":"ipv6"},` +
				`{"id":"d4","link":"e","network_id":"d4","routes":[],"type":"ipv4_dhcp"},{"id":"d6","link":"e","network_id":"d6","routes":[],"type":"ipv6_dhcp"},` +
				`{"id":"s","link":"e","network_id":"s","routes":[],"type":"ipv6_slaac"}]`,
		},
		"an annotation's pool wins over a named one": {
			networks(`"ipv6": [{"id": "n", "link": "e", "from_pool": "p", "from_pool_annotation": {"object": "host", "annotation": "pool"}}]`), "networks",
			`[{"id":"n","ip_address":"2001:db8::7","link":"e","netmask":"ffff:ffff:ffff:ff00::","network_id":"n","routes":[],"type":"ipv6"}]`,
		},
		"a literal gateway wins, no prefix is 0, DNS servers are literal ones first": {
			networks(`"ipv4_dhcp": [{"id": "n", "link": "e", "routes": [{"network": "0.0.0.0", "gateway": {"string": "10.0.0.9", "from_pool": "p"}, "services": {"dns": ["9.9.9.9"], "dns_from_pool": "p"}},
				{"network": "10.9.0.0", "prefix": 16, "gateway": {"from_pool": "p"}}]}]`), "networks",
			`[{"id":"n","link":"e","network_id":"n","routes":[{"gateway":"10.0.0.9","netmask":"0.0.0.0","network":"0.0.0.0","services":[{"address":"9.9.9.9","type":"dns"},{"address":"10.0.0.53","type":"dns"}]},` +
				`{"gateway":"10.0.0.1","netmask":"255.255.0.0","network":"10.9.0.0","services":[]}],"type":"ipv4_dhcp"}]`,
		},
		"services": {net(`"services": {"dns": ["2001:DB8:0::53"], "dns_from_pool": "p"}`), "services", `[{"address":"2001:db8::53","type":"dns"},{"address":"10.0.0.53","type":"dns"}]`},
		"raw fields of a link are added, others appended": {
			net(`"links": {"ethernets": [{"id": "e"}]}, "raw": {"links": [{"id": "e", "mtu": 1400, "x": {"y": 1}}, {"id": "br", "type": "bridge"}, {"id": "br", "z": 2}, "odd", {"id": {}}]}`), "links",
			`[{"id":"e","mtu":1400,"type":"phy","x":{"y":1}},{"id":"br","type":"bridge","z":2},"odd",{"id":{}}]`,
		},
		"raw services are appended":                  {net(`"services": {"dns": ["10.0.0.1"]}, "raw": {"services": [{"type": "ntp", "id": "a"}, {"type": "dns", "id": "a"}]}`), "services", `[{"address":"10.0.0.1","type":"dns"},{"id":"a","type":"ntp"},{"id":"a","type":"dns"}]`},
		"what else is raw is added":                  {net(`"raw": {"version": 2, "links": null}`), "version", `2`},
		"a null among what is raw takes nothing off": {net(`"raw": {"links": null}`), "links", `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			parsed := parse(t, []byte(c.document))
			before := string(parsed.JSON())

			got, err := datatemplate.RenderNetworkData(parsed, someVars())
			if err != nil {
				t.Fatal(err)
			}

			if text, _ := json.Marshal(got[c.field]); string(text) != c.want {
				t.Errorf("\n got %s\nwant %s", text, c.want)
			}

			if after := string(parsed.JSON()); after != before {
				t.Errorf("rendering changed the template:\n%s\n%s", before, after)
			}
		})
	}
}

func TestRenderNetworkData_Refusals(t *testing.T) {
	t.Parallel()

	route := func(s string) string {
		return `"networks": {"ipv4": [{"id": "n", "link": "e", "from_pool": "p", "routes": [` + s + `]}]}`
	}
	ethernet := func(source string) string {
		return `"links": {"ethernets": [{"id": "e7", "mac_address": {` + source + `}}]}`
	}

	for name, c := range map[string]struct {
		data string
		says []string
	}{
		"11.1 a parameter that collides":  {`"links": {"bonds": [{"id": "b7", "bond_mode": "broadcast", "parameters": [{"name": "xmit_hash_policy", "value": 1}]}]}`, []string{`id "b7"`, `"xmit_hash_policy"`}},
		"11.1 a bad MAC":                  {ethernet(`"string": "x"`), []string{`host "node-7"`, `id "e7"`, `bad MAC address: "x"`}},
		"an annotation that is absent":    {ethernet(`"from_annotation": {"object": "host", "annotation": "nic"}`), []string{`id "e7"`, `no annotation "nic"`}},
		"an annotation of nobody":         {ethernet(`"from_annotation": {"object": "rack", "annotation": "nic"}`), []string{`"rack"`}},
		"an annotation that is no MAC":    {ethernet(`"from_annotation": {"object": "host", "annotation": "bad"}`), []string{`annotation "bad"`, `bad MAC address: "nothing"`}},
		"no source of a MAC":              {ethernet(``), []string{`bad MAC address: ""`}},
		"an unknown interface":            {ethernet(`"from_host_interface": "ETH0"`), []string{`"ETH0"`, "eth0"}},
		"11.1 an unknown pool":            {`"networks": {"ipv4": [{"id": "n7", "link": "e", "from_pool": "q"}]}`, []string{`id "n7"`, `pool "q"`}},
		"a pool of the other family":      {`"networks": {"ipv4": [{"id": "n7", "link": "e", "from_pool": "p6"}]}`, []string{`"p6"`, "2001:db8::7", "ipv4"}},
		"an annotation's unknown pool":    {`"networks": {"ipv4": [{"id": "n7", "link": "e", "from_pool_annotation": {"object": "host", "annotation": "gone"}}]}`, []string{`pool "p9"`}},
		"an absent annotation of a pool":  {`"networks": {"ipv4": [{"id": "n7", "link": "e", "from_pool_annotation": {"object": "machine", "annotation": "gone"}}]}`, []string{`no annotation "gone"`}},
		"a gateway that the pool lacks":   {route(`{"network": "0.0.0.0", "gateway": {"from_pool": "p6"}}`), []string{"route 0.0.0.0", `"p6" has no gateway`}},
		"a gateway of an unknown pool":    {route(`{"network": "0.0.0.0", "gateway": {"from_pool": "q"}}`), []string{`pool "q"`}},
		"a gateway of no annotation":      {route(`{"network": "0.0.0.0", "gateway": {"from_pool_annotation": {"object": "host", "annotation": "q"}}}`), []string{`"q"`}},
		"no gateway":                      {route(`{"network": "0.0.0.0"}`), []string{"no gateway"}},
		"a gateway that is no address":    {route(`{"network": "0.0.0.0", "gateway": {"string": "gw"}}`), []string{`"gw"`}},
		"a gateway of the other family":   {route(`{"network": "::", "gateway": {"from_pool": "p"}}`), []string{"10.0.0.1", "family"}},
		"a route to no address":           {route(`{"network": "all", "gateway": {"from_pool": "p"}}`), []string{`"all"`}},
		"a prefix out of bounds":          {route(`{"network": "10.0.0.0", "prefix": 40, "gateway": {"from_pool": "p"}}`), []string{"40"}},
		"DNS servers of an unknown pool":  {`"services": {"dns_from_pool": "q"}`, []string{"dns_from_pool", `pool "q"`}},
		"a DNS server that is no address": {`"services": {"dns": ["ns"]}`, []string{`"ns"`}},
		"all of it at once":               {ethernet(`"string": "x"`) + `, "services": {"dns": ["ns"]}`, []string{`"x"`, `"ns"`}},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()

			got, err := datatemplate.RenderNetworkData(parse(t, []byte(`{"network_data": {`+c.data+`}}`)), someVars())
			if err == nil {
				t.Fatalf("it rendered %v", got)
			}

			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %q", want, err)
				}
			}
		})
	}
}

func FuzzTemplate(f *testing.F) {
	f.Add(file(f, "template.json"))
	f.Add([]byte(withLinks(`, "vlans": [{"id": "v", "vlan_id": 7, "vlan_link": "e0", ` + mac + `}]`)))
	f.Add([]byte(`{"network_data": {"raw": {"links": [{"id": {}}, {"id": {}}, {"id": "a"}, {"id": "a"}, 3], "x": null, "services": {}}}}`))
	f.Add([]byte(`{"network_data": {"networks": {"ipv6": [{"id": "n", "link": "e", "from_pool": "p6", "routes": [{"network": "::", "prefix": -1, "gateway": {"string": "::1"}}]}]}}}`))

	f.Fuzz(func(t *testing.T, document []byte) {
		parsed, err := datatemplate.Parse(document)
		if err != nil {
			return
		}

		errs := parsed.Validate()
		once := parsed.JSON()

		again, err := datatemplate.Parse(once)
		if err != nil {
			t.Fatalf("its one form %s: %v", once, err)
		}

		if twice := again.JSON(); string(twice) != string(once) {
			t.Fatalf("its one form changes:\n%s\n%s", once, twice)
		}

		if len(errs) != len(again.Validate()) {
			t.Fatalf("its one form is judged otherwise: %v, %v", errs, again.Validate())
		}

		_ = parsed.PoolsFor(someVars())
		_, _ = datatemplate.RenderMetaData(parsed, someVars())

		data, err := datatemplate.RenderNetworkData(parsed, someVars())
		if err == nil && data != nil {
			if _, err := json.Marshal(data); err != nil {
				t.Fatalf("what it renders is no JSON: %v", err)
			}
		}
	})
}
