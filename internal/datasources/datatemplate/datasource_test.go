// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

const typeName = "metal3_data_template"

type block = providertest.Map

// worked is upstream's worked example, of the package that renders it.
func worked(t *testing.T) []byte {
	t.Helper()

	document, err := os.ReadFile("../../lifecycle/cluster/datatemplate/testdata/template.json")
	if err != nil {
		t.Fatal(err)
	}

	return document
}

func read(t *testing.T, config block) (block, string) {
	t.Helper()

	got, diags := providertest.NewServer(t).Read(t, typeName, config)

	return got, providertest.Errors(diags)
}

// ethernet is a template with a network card, and other fields of network data.
func ethernet(more block) block {
	network := block{"links": block{"ethernets": []any{block{"id": "e0", "mac_address": block{"from_host_interface": "boot"}}}}}
	for name, v := range more {
		network[name] = v
	}

	return block{"network_data": network}
}

func TestDataTemplate_WritesTheWorkedExample(t *testing.T) {
	t.Parallel()

	var config block
	if err := json.Unmarshal(worked(t), &config); err != nil {
		t.Fatal(err)
	}

	// a parameter's value is a text in Terraform, whatever it says
	bond := config["network_data"].(block)["links"].(block)["bonds"].([]any)[0].(block)
	bond["parameters"].([]any)[0].(block)["value"] = "100"

	got, errs := read(t, config)
	if errs != "" {
		t.Fatal(errs)
	}

	want, err := datatemplate.Parse(worked(t))
	if err != nil {
		t.Fatal(err)
	}

	if got["json"] != string(want.JSON()) {
		t.Errorf("\n got %s\nwant %s", got["json"], want.JSON())
	}

	if !reflect.DeepEqual(got["pools"], []any{"prov", "stor"}) {
		t.Errorf("the pools are %v", got["pools"])
	}
}

func TestDataTemplate_Raw(t *testing.T) {
	t.Parallel()

	const want = `{"network_data":{"links":{"ethernets":[{"id":"e0","type":"phy","mtu":1500,"mac_address":{"from_host_interface":"boot"}}]},"raw":{"links":[{"id":"e0","mtu":1400}]}}}`

	for name, raw := range map[string]any{
		"an object": block{"links": []any{block{"id": "e0", "mtu": 1400}}},
		"JSON":      `{"links": [{"id": "e0", "mtu": 1400}]}`,
		"YAML":      "links:\n- {id: e0, mtu: 1400}\n",
	} {
		if got, errs := read(t, ethernet(block{"raw": raw})); errs != "" || got["json"] != want {
			t.Errorf("%s is %v: %s", name, got["json"], errs)
		}
	}

	if _, errs := read(t, ethernet(block{"raw": "links"})); !strings.Contains(errs, "network_data.raw") {
		t.Errorf("a text that is no document: %s", errs)
	}
}

func TestDataTemplate_Nothing(t *testing.T) {
	t.Parallel()

	got, errs := read(t, nil)
	if errs != "" || got["json"] != "{}" || !reflect.DeepEqual(got["pools"], []any{}) {
		t.Errorf("it is %v: %s", got, errs)
	}
}

func TestDataTemplate_RefusesAtPlan(t *testing.T) {
	t.Parallel()

	_, errs := read(t, block{
		"meta_data": block{"strings": []any{block{"key": "a", "value": "b"}}, "namespaces": []any{block{"key": "a"}}},
		"network_data": block{
			"links":    block{"vlans": []any{block{"id": "v", "vlan_id": 4095, "vlan_link": "e0", "mac_address": block{}}}},
			"networks": block{"ipv4_dhcp": []any{block{"id": "n", "link": "e1"}}},
		},
	})

	for _, want := range []string{
		`AttributeName("meta_data")`, "meta_data.namespaces[0]", `AttributeName("network_data")`, "vlan_id 4095", `vlan_link "e0"`, "exactly one of string", `link "e1"`,
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in %s", want, errs)
		}
	}
}

func TestOTF05_templateUnknownAtPlan(t *testing.T) {
	t.Parallel()

	s := providertest.NewServer(t)
	valueType := s.Schema().DataSourceSchemas[typeName].ValueType()

	validate := func(config block) string {
		value, err := tfprotov6.NewDynamicValue(valueType, providertest.Value(valueType, config))
		if err != nil {
			t.Fatal(err)
		}

		resp, err := s.ValidateDataResourceConfig(t.Context(), &tfprotov6.ValidateDataResourceConfigRequest{TypeName: typeName, Config: &value})
		if err != nil {
			t.Fatal(err)
		}

		return providertest.Errors(resp.Diagnostics)
	}

	unknown := providertest.Unknown{}

	for name, config := range map[string]block{
		"a part":              {"meta_data": unknown, "network_data": unknown},
		"a list":              {"meta_data": block{"strings": unknown}},
		"a key":               {"meta_data": block{"namespaces": []any{block{"key": unknown}}}},
		"a link's id":         {"network_data": block{"links": block{"ethernets": []any{block{"id": unknown, "mac_address": block{"string": unknown}}}}, "networks": block{"ipv4_dhcp": []any{block{"id": "n", "link": "e"}}}}},
		"a bond's parameters": {"network_data": block{"links": block{"bonds": []any{block{"id": "b", "bond_mode": "lacp?", "bond_links": unknown, "parameters": unknown}}}}},
		"raw network data":    ethernet(block{"raw": unknown}),
		"something raw":       ethernet(block{"raw": block{"links": unknown}}),
	} {
		if errs := validate(config); errs != "" {
			t.Errorf("%s that is not known is refused: %s", name, errs)
		}
	}

	// what is known is judged
	if errs := validate(block{"meta_data": unknown, "network_data": block{"networks": block{"ipv4_dhcp": []any{block{"id": "n", "link": "e"}}}}}); !strings.Contains(errs, `link "e"`) {
		t.Errorf("beside what is not known: %s", errs)
	}
}
