// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
)

// workedVars are what upstream's worked example was rendered for.
func workedVars() datatemplate.Vars {
	return datatemplate.Vars{
		Namespace: "metal3", Machine: "edge-md-0-x7k2q", Metal3Machine: "w-abc", Host: "node-3", Index: 3,
		BootMAC: "00:11:22:33:44:55", Interfaces: map[string]string{"eth0": "00:11:22:33:44:55"},
		HostLabels:      map[string]string{"topology/rack": "r12"},
		HostAnnotations: map[string]string{"asset-tag": "A-991", "nic3-mac": "00:11:22:33:44:77", "v6-pool": "prov6"},
		Addresses: map[string]addresses.Address{
			"prov":  {Address: "192.168.111.103", Prefix: 24, Gateway: "192.168.111.1", DNS: []string{"192.168.111.53", "192.168.111.54"}},
			"stor":  {Address: "10.100.0.13", Prefix: 16, Gateway: "10.100.0.1"},
			"prov6": {Address: "2001:db8::13", Prefix: 64, Gateway: "2001:db8::1"},
		},
	}
}

func file(tb testing.TB, name string) []byte {
	tb.Helper()

	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}

	return content
}

func parse(tb testing.TB, document []byte) datatemplate.Template {
	tb.Helper()

	parsed, err := datatemplate.Parse(document)
	if err != nil {
		tb.Fatal(err)
	}

	return parsed
}

// valid is a template that must be right.
func valid(tb testing.TB, document string) datatemplate.Template {
	tb.Helper()

	parsed := parse(tb, []byte(document))
	if err := errors.Join(parsed.Validate()...); err != nil {
		tb.Fatal(err)
	}

	return parsed
}

// written is the one form of a JSON document: sorted keys, no spaces.
func written(t *testing.T, v any) []byte {
	t.Helper()

	if document, ok := v.([]byte); ok {
		d := json.NewDecoder(bytes.NewReader(document))
		d.UseNumber()

		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
	}

	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}

	return out
}

// Test11_1_workedExample renders the worked example: as it is here, and as upstream renders it,
// which is the same without what we add on purpose.
func Test11_1_workedExample(t *testing.T) {
	t.Parallel()

	worked := valid(t, string(file(t, "template.json")))

	meta, err := datatemplate.RenderMetaData(worked, workedVars())
	if err != nil {
		t.Fatal(err)
	}

	network, err := datatemplate.RenderNetworkData(worked, workedVars())
	if err != nil {
		t.Fatal(err)
	}

	same := func(name, against string, got any) {
		t.Helper()

		if got, want := written(t, got), written(t, file(t, against)); !bytes.Equal(got, want) {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}

	same("our metadata", "meta_data.json", meta)
	same("our network data", "network_data.json", network)

	// what we add: the DNS servers of a pool in metadata, and the id of networks under a second name
	delete(meta, "node_dns")

	networks, _ := network["networks"].([]any)
	for _, one := range networks {
		fields, _ := one.(map[string]any)
		if fields["network_id"] != fields["id"] {
			t.Errorf("network %v has the network_id %v", fields["id"], fields["network_id"])
		}

		delete(fields, "network_id")
	}

	same("upstream's metadata", "upstream_meta_data.json", meta)
	same("upstream's network data", "upstream_network_data.json", network)
}

func TestTemplate_OneForm(t *testing.T) {
	t.Parallel()

	worked := parse(t, file(t, "template.json"))
	document := worked.JSON()

	if again := parse(t, document); !bytes.Equal(again.JSON(), document) {
		t.Errorf("it changes when it is read again:\n%s\n%s", document, again.JSON())
	}

	short := parse(t, []byte(`{"meta_data": {"indexes": [{"key": "i"}]}, "network_data": {"links": {
		"ethernets": [{"id": "e"}], "bonds": [{"id": "b", "bond_mode": "broadcast", "parameters": [{"name": "x", "value": { "a" : 1 }}]}], "vlans": [{"id": "v", "vlan_id": 1, "vlan_link": "b"}]}}}`))
	long := parse(t, []byte(`{"network_data": {"links": {"vlans": [{"mtu": 1500, "vlan_link": "b", "vlan_id": 1, "id": "v", "name": null}],
		"ethernets": [{"id": "e", "type": "phy", "mtu": 1500, "mac_address": null}], "bonds": [{"mtu": 1500, "id": "b", "bond_mode": "broadcast", "bond_links": [],
		"parameters": [{"value": {"a":1}, "name": "x"}]}]}}, "meta_data": {"strings": [], "indexes": [{"key": "i", "offset": 0, "step": 1}]}}`))

	if !bytes.Equal(short.JSON(), long.JSON()) {
		t.Errorf("two ways to write one template differ:\n%s\n%s", short.JSON(), long.JSON())
	}
}

func TestTemplate_Pools(t *testing.T) {
	t.Parallel()

	worked := parse(t, file(t, "template.json"))
	if got := strings.Join(worked.Pools(), " "); got != "prov stor" {
		t.Errorf("the pools that it names are %q", got)
	}

	if got := strings.Join(worked.PoolsFor(workedVars()), " "); got != "prov prov6 stor" {
		t.Errorf("the pools of the machine are %q", got)
	}

	everywhere := parse(t, []byte(`{"meta_data": {"prefixes_from_pool": [{"key": "k", "name": "a"}], "gateways_from_pool": [{"key": "l", "name": "b"}], "dns_servers_from_pool": [{"key": "m", "name": "c"}]},
		"network_data": {"services": {"dns_from_pool": "d"}, "networks": {
			"ipv4_dhcp": [{"id": "x", "link": "e", "routes": [{"network": "0.0.0.0", "gateway": {"from_pool": "e"}, "services": {"dns_from_pool": "f"}}]}],
			"ipv6": [{"id": "x", "link": "e", "from_pool": "g"}]}}}`))
	if got := strings.Join(everywhere.Pools(), ""); got != "abcdefg" {
		t.Errorf("the pools that it names are %q", got)
	}

	if got := (datatemplate.Template{}).Pools(); len(got) != 0 {
		t.Errorf("nothing names %v", got)
	}
}

func TestRender_Nothing(t *testing.T) {
	t.Parallel()

	meta, err := datatemplate.RenderMetaData(datatemplate.Template{}, datatemplate.Vars{Namespace: "default", Host: "h", Machine: "m"})
	if err != nil || len(meta) != 1 || meta[datatemplate.ProviderID] != "default/h/m" {
		t.Errorf("metadata of no template are %v, %v", meta, err)
	}

	if network, err := datatemplate.NetworkDataJSON(datatemplate.Template{}, datatemplate.Vars{}); err != nil || network != nil {
		t.Errorf("network data of no template are %s, %v", network, err)
	}

	document, err := datatemplate.NetworkDataJSON(parse(t, []byte(`{"network_data": {}}`)), datatemplate.Vars{})
	if err != nil || string(document) != `{"links":[],"networks":[],"services":[]}` {
		t.Errorf("empty network data are %s, %v", document, err)
	}
}

func TestParse_Refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		document string
		says     []string
	}{
		"an unknown field at the top":    {`{"metadata": {}}`, []string{"metadata", "meta_data, network_data"}},
		"upstream's spelling":            {`{"meta_data": {"ipAddressesFromPool": []}}`, []string{"meta_data.ipAddressesFromPool", "ip_addresses_from_pool"}},
		"another case":                   {`{"network_data": {"Links": {}}}`, []string{"network_data.Links"}},
		"all unknown fields at once":     {`{"x": 1, "network_data": {"links": {"ethernets": [{"id": "a"}, {"mac": "b"}], "bridges": []}}}`, []string{"x (", "ethernets[1].mac", "links.bridges"}},
		"a field of the wrong type":      {`{"network_data": {"links": {"ethernets": [{"id": 7}]}}}`, []string{"links.ethernets.id", "number"}},
		"a list that is an object":       {`{"meta_data": {"strings": {"key": "a"}}}`, []string{"strings"}},
		"an object that is a list":       {`{"meta_data": [1]}`, []string{"meta_data"}},
		"what is no JSON":                {`links: []`, []string{"no data template"}},
		"what is no object":              {`"x"`, []string{"no data template"}},
		"two documents":                  {`{} {}`, []string{"something follows"}},
		"nothing":                        {``, []string{"no data template"}},
		"an index that is no whole one":  {`{"meta_data": {"indexes": [{"key": "a", "step": 1.5}]}}`, []string{"step"}},
		"an unknown field of a gateway":  {`{"network_data": {"networks": {"ipv4": [{"routes": [{"gateway": {"from_ip_pool": "a"}}]}]}}}`, []string{"ipv4[0].routes[0].gateway.from_ip_pool", "from_pool"}},
		"an unknown field of the source": {`{"network_data": {"links": {"vlans": [{"mac_address": {"from_annotation": {"name": "a"}}}]}}}`, []string{"mac_address.from_annotation.name"}},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()

			_, err := datatemplate.Parse([]byte(c.document))
			if err == nil {
				t.Fatal("it was taken")
			}

			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %q", want, err)
				}
			}
		})
	}

	if _, err := datatemplate.ParseVars([]byte(`{"host": "h", "hostname": "x"}`)); err == nil || !strings.Contains(err.Error(), "hostname") {
		t.Errorf("an unknown variable: %v", err)
	}

	if v, err := datatemplate.ParseVars([]byte(`{"host": "h", "index": 4, "interfaces": {"a": "b"}, "addresses": {"p": {"address": "10.0.0.1", "dns": null}}}`)); err != nil ||
		v.Host != "h" || v.Index != 4 || v.Interfaces["a"] != "b" || v.Addresses["p"].Address != "10.0.0.1" {
		t.Errorf("variables are %+v, %v", v, err)
	}
}

func TestLiteral(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"100": "100", "fast": `"fast"`, `"100"`: `"100"`, "true": "true", "802.3ad": `"802.3ad"`, `[1, 2]`: "[1,2]", "": `""`, "0x1": `"0x1"`,
	} {
		if got := string(datatemplate.Literal(text)); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestInterfaces(t *testing.T) {
	t.Parallel()

	got := datatemplate.Interfaces([]datatemplate.NIC{
		{Name: "a", MAC: "02:00:00:00:00:01"},
		{Name: "a", MAC: "02:00:00:00:00:0A"},
		{Name: "b", MAC: "02:00:00:00:00:0B"},
		{Name: "b", MAC: "02:00:00:00:00:0b"},
		{Name: "", MAC: "x"},
		{Name: "c"},
	})
	want := map[string]string{"a": "02:00:00:00:00:01,02:00:00:00:00:0A", "b": "02:00:00:00:00:0B"}

	if !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}

	if keys := slices.Sorted(maps.Keys(got)); len(keys) != 2 {
		t.Errorf("names %v", keys)
	}
}
