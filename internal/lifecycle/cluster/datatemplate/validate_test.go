// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
)

const (
	eth0 = `{"id": "e0", "name": "eth0", "mac_address": {"string": "02:00:00:00:00:01"}}`
	eth1 = `{"id": "e1", "mac_address": {"string": "02:00:00:00:00:02"}}`
	mac  = `"mac_address": {"string": "02:00:00:00:00:09"}`
)

// withLinks is a template with two network cards and what is added to its links.
func withLinks(more string) string {
	return `{"network_data": {"links": {"ethernets": [` + eth0 + `, ` + eth1 + `]` + more + `}}}`
}

// withNetworks is a template with a network card and these networks.
func withNetworks(networks string) string {
	return `{"network_data": {"links": {"ethernets": [` + eth0 + `]}, "networks": {` + networks + `}}}`
}

// withRoute is a template with a network and a route.
func withRoute(route string) string {
	return withNetworks(`"ipv4": [{"id": "n", "link": "e0", "from_pool": "p", "routes": [` + route + `]}]`)
}

func TestValidate_MetaData(t *testing.T) {
	t.Parallel()

	validateAll(t, map[string]check{
		"a key of two lists":           {`{"meta_data": {"strings": [{"key": "a", "value": "x"}], "namespaces": [{"key": "a"}]}}`, []string{"namespaces[0]", "strings[0]", `"a"`}},
		"a key of one list twice":      {`{"meta_data": {"strings": [{"key": "a", "value": "x"}, {"key": "a", "value": "x"}]}}`, []string{"strings[1]", "strings[0]"}},
		"no key":                       {`{"meta_data": {"namespaces": [{}]}}`, []string{"namespaces[0]", "key is missing"}},
		"a long key":                   {`{"meta_data": {"namespaces": [{"key": "` + strings.Repeat("k", 513) + `"}]}}`, []string{"512"}},
		"the provider ID":              {`{"meta_data": {"strings": [{"key": "providerid", "value": "x"}]}}`, []string{"strings[0]", "providerid"}},
		"an unknown object":            {`{"meta_data": {"object_names": [{"key": "a", "object": "node"}]}}`, []string{"object_names[0]", `"node"`, "machine", "host"}},
		"a label without name":         {`{"meta_data": {"from_labels": [{"key": "a", "object": "host"}]}}`, []string{"from_labels[0]", "label is missing"}},
		"an annotation without name":   {`{"meta_data": {"from_annotations": [{"key": "a", "object": "Host"}]}}`, []string{"from_annotations[0]", "annotation is missing", `"Host"`}},
		"a pool without name":          {`{"meta_data": {"gateways_from_pool": [{"key": "a"}]}}`, []string{"gateways_from_pool[0]", "name"}},
		"neither interface nor boot":   {`{"meta_data": {"from_host_interfaces": [{"key": "a"}]}}`, []string{"from_host_interfaces[0]", "exactly one"}},
		"both interface and boot":      {`{"meta_data": {"from_host_interfaces": [{"key": "a", "interface": "eth0", "from_boot_mac": true}]}}`, []string{"exactly one"}},
		"a step below one":             {`{"meta_data": {"indexes": [{"key": "a", "step": -1, "offset": -2}]}}`, []string{"step -1", "offset -2"}},
		"several mistakes, all listed": {`{"meta_data": {"namespaces": [{}], "object_names": [{"key": "a"}], "prefixes_from_pool": [{"key": "b"}]}}`, []string{"namespaces[0]", "object_names[0]", "prefixes_from_pool[0]"}},
	})
}

func TestValidate_Links(t *testing.T) {
	t.Parallel()

	validateAll(t, map[string]check{
		"one id on two kinds":             {withLinks(`, "bonds": [{"id": "e0", "bond_mode": "broadcast", "bond_links": ["e1"]}]`), []string{"bonds[0]", "ethernets[0]", `id "e0"`}},
		"one name on two links":           {withLinks(`, "bonds": [{"id": "b", "name": "eth0", "bond_mode": "broadcast", "bond_links": ["e1"]}]`), []string{"bonds[0]", "ethernets[0]", `name "eth0"`}},
		"no id":                           {withLinks(`, "vlans": [{"vlan_id": 7, "vlan_link": "e0", ` + mac + `}]`), []string{"vlans[0]", "id is missing"}},
		"an ethernet without MAC":         {`{"network_data": {"links": {"ethernets": [{"id": "e9"}]}}}`, []string{"ethernets[0]", "mac_address is missing", `"e9"`}},
		"one card as two links":           {`{"network_data": {"links": {"ethernets": [` + eth0 + `, {"id": "e1", "mac_address": {"string": "02-00-00-00-00-01"}}]}}}`, []string{"ethernets[1]", "ethernets[0]", "02:00:00:00:00:01"}},
		"one interface as two links":      {`{"network_data": {"links": {"ethernets": [{"id": "a", "mac_address": {"from_host_interface": "boot"}}, {"id": "b", "mac_address": {"from_host_interface": "boot"}}]}}}`, []string{`"boot"`}},
		"11.1 a bad MAC":                  {`{"network_data": {"links": {"ethernets": [{"id": "a", "mac_address": {"string": "02:00:00:00:00"}}]}}}`, []string{"ethernets[0].mac_address", `bad MAC address: "02:00:00:00:00"`}},
		"a MAC from nowhere":              {`{"network_data": {"links": {"ethernets": [{"id": "a", "mac_address": {}}]}}}`, []string{"ethernets[0].mac_address", "exactly one"}},
		"a MAC from two places":           {`{"network_data": {"links": {"ethernets": [{"id": "a", "mac_address": {"string": "02:00:00:00:00:01", "from_host_interface": "boot"}}]}}}`, []string{"exactly one"}},
		"a MAC of nobody's annotation":    {`{"network_data": {"links": {"ethernets": [{"id": "a", "mac_address": {"from_annotation": {"object": "x"}}}]}}}`, []string{`"x"`, "annotation is missing"}},
		"an unknown type":                 {`{"network_data": {"links": {"ethernets": [{"id": "a", "type": "wifi", ` + mac + `}]}}}`, []string{`"wifi"`, "phy"}},
		"an mtu too small":                {`{"network_data": {"links": {"ethernets": [{"id": "a", "mtu": 576, ` + mac + `}]}}}`, []string{"576", "1280"}},
		"a name too long":                 {`{"network_data": {"links": {"ethernets": [{"id": "a", "name": "sixteen-letters0", ` + mac + `}]}}}`, []string{"sixteen-letters0", "15"}},
		"a name that begins with a digit": {`{"network_data": {"links": {"ethernets": [{"id": "a", "name": "0a", ` + mac + `}]}}}`, []string{`"0a"`}},
		"a bond of unknown links":         {withLinks(`, "bonds": [{"id": "b", "bond_mode": "broadcast", "bond_links": ["e0", "eth1"]}]`), []string{"bonds[0]", `"eth1"`, `"e1"`}},
		"a bond without links":            {withLinks(`, "bonds": [{"id": "b", "bond_mode": "broadcast"}]`), []string{"bonds[0]", "bond_links is missing"}},
		"a link of two bonds":             {withLinks(`, "bonds": [{"id": "b", "bond_mode": "broadcast", "bond_links": ["e0"]}, {"id": "c", "bond_mode": "broadcast", "bond_links": ["e0"]}]`), []string{"bonds[1]", "bonds[0]", `"e0"`}},
		"an unknown mode":                 {withLinks(`, "bonds": [{"id": "b", "bond_mode": "lacp", "bond_links": ["e0"]}]`), []string{`"lacp"`, "802.3ad"}},
		"an unknown hash policy":          {withLinks(`, "bonds": [{"id": "b", "bond_mode": "802.3ad", "bond_xmit_hash_policy": "layer4", "bond_links": ["e0"]}]`), []string{`"layer4"`, "layer3+4"}},
		"a parameter with a field":        {withLinks(`, "bonds": [{"id": "b", "bond_mode": "802.3ad", "bond_links": ["e0"], "parameters": [{"name": "mode", "value": 1}]}]`), []string{`"mode"`, "bond_mode"}},
		"a parameter twice":               {withLinks(`, "bonds": [{"id": "b", "bond_mode": "802.3ad", "bond_links": ["e0"], "parameters": [{"name": "miimon", "value": 1}, {"name": "miimon", "value": 2}]}]`), []string{"parameters[1]", "parameters[0]"}},
		"a parameter without value":       {withLinks(`, "bonds": [{"id": "b", "bond_mode": "802.3ad", "bond_links": ["e0"], "parameters": [{"name": "miimon"}]}]`), []string{`value of "miimon" is missing`}},
		"11.1 a VLAN without MAC":         {withLinks(`, "vlans": [{"id": "v", "vlan_id": 7, "vlan_link": "e0"}]`), []string{"vlans[0]", "mac_address is missing", `"e0"`}},
		"11.1 a VLAN on an unknown link":  {withLinks(`, "vlans": [{"id": "v", "vlan_id": 7, "vlan_link": "eth0", ` + mac + `}]`), []string{"vlans[0]", `"eth0"`, `"e0"`}},
		"a VLAN on itself":                {withLinks(`, "vlans": [{"id": "v", "vlan_id": 7, "vlan_link": "v", ` + mac + `}]`), []string{"vlans[0]", `"v"`}},
		"VLAN 0":                          {withLinks(`, "vlans": [{"id": "v", "vlan_id": 0, "vlan_link": "e0", ` + mac + `}]`), []string{"vlan_id 0", "4094"}},
		"VLAN 4095":                       {withLinks(`, "vlans": [{"id": "v", "vlan_id": 4095, "vlan_link": "e0", ` + mac + `}]`), []string{"vlan_id 4095"}},
		"VLAN 4096":                       {withLinks(`, "vlans": [{"id": "v", "vlan_id": 4096, "vlan_link": "e0", ` + mac + `}]`), []string{"vlan_id 4096"}},
		"a VLAN twice on a link":          {withLinks(`, "vlans": [{"id": "v", "vlan_id": 7, "vlan_link": "e0", ` + mac + `}, {"id": "w", "vlan_id": 7, "vlan_link": "e0", ` + mac + `}]`), []string{"vlans[1]", "vlans[0]", "7"}},
	})
}

func TestValidate_Networks(t *testing.T) {
	t.Parallel()

	const def = `{"network": "0.0.0.0", "prefix": 0, "gateway": {"string": "10.0.0.1"}}`

	validateAll(t, map[string]check{
		"11.1 a network on an unknown link": {withNetworks(`"ipv4_dhcp": [{"id": "n", "link": "eth0"}]`), []string{"ipv4_dhcp[0]", `"eth0"`, `"e0"`}},
		"one id on two kinds":               {withNetworks(`"ipv4_dhcp": [{"id": "n", "link": "e0"}], "ipv6_slaac": [{"id": "n", "link": "e0"}]`), []string{"ipv6_slaac[0]", "ipv4_dhcp[0]", `"n"`}},
		"a network without id":              {withNetworks(`"ipv6_dhcp": [{"link": "e0"}]`), []string{"ipv6_dhcp[0]", "id is missing"}},
		"an address from nowhere":           {withNetworks(`"ipv4": [{"id": "n", "link": "e0"}]`), []string{"ipv4[0]", "exactly one"}},
		"an address from two pools":         {withNetworks(`"ipv6": [{"id": "n", "link": "e0", "from_pool": "p", "from_pool_annotation": {"object": "host", "annotation": "a"}}]`), []string{"ipv6[0]", "exactly one"}},
		"a pool of nobody's annotation":     {withNetworks(`"ipv6": [{"id": "n", "link": "e0", "from_pool_annotation": {"object": "rack"}}]`), []string{"from_pool_annotation", `"rack"`, "annotation is missing"}},
		"a route without gateway":           {withRoute(`{"network": "0.0.0.0", "prefix": 0}`), []string{"ipv4[0].routes[0]", "no gateway"}},
		"a route with an empty gateway":     {withRoute(`{"network": "0.0.0.0", "prefix": 0, "gateway": {}}`), []string{"no gateway"}},
		"a route with two gateways":         {withRoute(`{"network": "0.0.0.0", "gateway": {"string": "10.0.0.1", "from_pool": "p"}}`), []string{"routes[0].gateway", "exactly one"}},
		"a gateway that is no address":      {withRoute(`{"network": "0.0.0.0", "gateway": {"string": "router"}}`), []string{`"router"`}},
		"a gateway of the other family":     {withRoute(`{"network": "0.0.0.0", "gateway": {"string": "fe80::1"}}`), []string{"fe80::1", "IPv4"}},
		"a route without network":           {withRoute(`{"gateway": {"string": "10.0.0.1"}}`), []string{"routes[0]", "network"}},
		"a route of the other family":       {withRoute(`{"network": "::", "prefix": 0, "gateway": {"string": "10.0.0.1"}}`), []string{"::", "IPv4"}},
		"a route without prefix":            {withRoute(`{"network": "10.1.0.0", "gateway": {"string": "10.0.0.1"}}`), []string{"prefix is missing", "10.1.0.0"}},
		"a prefix out of bounds":            {withRoute(`{"network": "10.1.0.0", "prefix": 33, "gateway": {"string": "10.0.0.1"}}`), []string{"33", "32"}},
		"a route to a host in a network":    {withRoute(`{"network": "10.1.0.5", "prefix": 16, "gateway": {"string": "10.0.0.1"}}`), []string{"10.1.0.5", "10.1.0.0"}},
		"a route twice":                     {withRoute(def + `, ` + def), []string{"routes[1]", "routes[0]", "0.0.0.0/0"}},
		"a DNS server that is none":         {withRoute(`{"network": "0.0.0.0", "gateway": {"from_pool": "p"}, "services": {"dns": ["dns.example"]}}`), []string{"services.dns[0]", "dns.example"}},
		"one of all networks":               {`{"network_data": {"services": {"dns": ["10.0.0.1", "x"]}}}`, []string{"network_data.services.dns[1]", `"x"`}},
		"raw links that are no list":        {`{"network_data": {"raw": {"links": {}, "networks": "x"}}}`, []string{"raw.links", "raw.networks"}},
	})
}

type check struct {
	document string
	says     []string
}

func validateAll(t *testing.T, cases map[string]check) {
	t.Helper()

	for name, c := range cases {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()

			text := fmt.Sprint(errors.Join(parse(t, []byte(c.document)).Validate()...))
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %q", want, text)
				}
			}
		})
	}
}

func TestValidate_Right(t *testing.T) {
	t.Parallel()

	for name, document := range map[string]string{
		"the worked example":             string(file(t, "template.json")),
		"nothing":                        `{}`,
		"a VLAN id on two links":         withLinks(`, "vlans": [{"id": "v", "vlan_id": 7, "vlan_link": "e0", ` + mac + `}, {"id": "w", "vlan_id": 7, "vlan_link": "e1", ` + mac + `}]`),
		"a VLAN in a VLAN":               withLinks(`, "vlans": [{"id": "v", "vlan_id": 7, "vlan_link": "e0", ` + mac + `}, {"id": "w", "vlan_id": 7, "vlan_link": "v", ` + mac + `}]`),
		"a bond without MAC and options": withLinks(`, "bonds": [{"id": "b", "bond_mode": "active-backup", "bond_links": ["e0", "e1"]}]`),
		"a network on a raw link":        `{"network_data": {"raw": {"links": [{"id": "br0", "type": "bridge"}]}, "networks": {"ipv4_dhcp": [{"id": "n", "link": "br0"}]}}}`,
		"a default route without prefix": withRoute(`{"network": "0.0.0.0", "gateway": {"from_pool": "p"}}`),
		"a link-local gateway":           withNetworks(`"ipv6_slaac": [{"id": "n", "link": "e0", "routes": [{"network": "2001:db8::", "prefix": 32, "gateway": {"string": "fe80::1"}}]}]`),
		"all names of objects":           `{"meta_data": {"object_names": [{"key": "a", "object": "machine"}, {"key": "b", "object": "host"}, {"key": "c", "object": "metal3machine"}, {"key": "d", "object": "baremetalhost"}]}}`,
	} {
		t.Run(name+" is taken", func(t *testing.T) {
			t.Parallel()

			parsed := valid(t, document)
			if again := parse(t, parsed.JSON()); len(again.Validate()) > 0 {
				t.Errorf("its one form is not: %v", again.Validate())
			}
		})
	}

	if errs := (datatemplate.Template{}).Validate(); errs != nil {
		t.Error(errs)
	}
}
