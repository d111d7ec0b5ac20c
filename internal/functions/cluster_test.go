// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package functions_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/functions"
)

type object = map[string]any

// call calls a function with arguments.
func call(t *testing.T, f function.Function, arguments ...attr.Value) (attr.Value, *function.FuncError) {
	t.Helper()

	var def function.DefinitionResponse

	f.Definition(t.Context(), function.DefinitionRequest{}, &def)

	result, err := def.Definition.Return.NewResultData(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	resp := function.RunResponse{Result: result}
	f.Run(t.Context(), function.RunRequest{Arguments: function.NewArgumentsData(arguments)}, &resp)

	return resp.Result.Value(), resp.Error
}

// anything makes an argument whose type is open.
func anything(t *testing.T, v any) attr.Value {
	t.Helper()

	return types.DynamicValue(dynamic(t.Context(), v))
}

// refused checks that a function refused an argument with words.
func refused(t *testing.T, err *function.FuncError, argument int64, says ...string) {
	t.Helper()

	if err == nil {
		t.Fatal("it was taken")
	}

	if err.FunctionArgument == nil || *err.FunctionArgument != argument {
		t.Errorf("the error is not attached to argument %d: %v", argument, err)
	}

	for _, want := range says {
		if !strings.Contains(err.Text, want) {
			t.Errorf("no %q in %q", want, err.Text)
		}
	}
}

// node is a template as users write it: an object.
func node() object {
	return object{
		"meta_data": object{"ip_addresses_from_pool": []any{object{"key": "node_ip", "name": "prov"}}},
		"network_data": object{
			"links":    object{"ethernets": []any{object{"id": "eth0", "type": "phy", "name": "eth0", "mac_address": object{"from_host_interface": "boot"}}}},
			"networks": object{"ipv4": []any{object{"id": "prov", "link": "eth0", "from_pool": "prov", "routes": nil}}},
		},
	}
}

func vars() object {
	return object{
		"host": "node-0", "boot_mac": "02:00:00:00:00:01",
		"addresses": object{"prov": object{"address": "192.0.2.100", "prefix": 24, "gateway": nil, "dns": []any{}}},
	}
}

func TestRender(t *testing.T) {
	t.Parallel()

	const (
		meta    = `{"node_ip":"192.0.2.100","providerid":"default/node-0/node-0"}`
		network = `{"links":[{"ethernet_mac_address":"02:00:00:00:00:01","id":"eth0","mtu":1500,"name":"eth0","type":"phy"}],` +
			`"networks":[{"id":"prov","ip_address":"192.0.2.100","link":"eth0","netmask":"255.255.255.0","network_id":"prov","routes":[],"type":"ipv4"}],"services":[]}`
		asJSON = `{"meta_data": {"ip_addresses_from_pool": [{"key": "node_ip", "name": "prov"}]}}`
	)

	if got, err := call(t, functions.NewRenderMetaData(), anything(t, node()), anything(t, vars())); err != nil || !got.Equal(types.StringValue(meta)) {
		t.Errorf("metadata are %v, %v", got, err)
	}

	if got, err := call(t, functions.NewRenderMetaData(), anything(t, asJSON), anything(t, vars())); err != nil || !got.Equal(types.StringValue(meta)) {
		t.Errorf("metadata of JSON are %v, %v", got, err)
	}

	if got, err := call(t, functions.NewRenderNetworkData(), anything(t, node()), anything(t, vars())); err != nil || !got.Equal(types.StringValue(network)) {
		t.Errorf("network data are %v, %v", got, err)
	}

	if got, err := call(t, functions.NewRenderNetworkData(), anything(t, asJSON), anything(t, vars())); err != nil || !got.IsNull() {
		t.Errorf("network data of a template without are %v, %v", got, err)
	}
}

func TestRender_Refusals(t *testing.T) {
	t.Parallel()

	without := func(key string) object {
		v := vars()
		delete(v, key)

		return v
	}
	more := func(key string, value any) object {
		v := vars()
		v[key] = value

		return v
	}

	for name, c := range map[string]struct {
		template, vars any
		argument       int64
		says           []string
	}{
		"an unknown field":              {object{"metadata": object{}}, vars(), 0, []string{"metadata", "meta_data"}},
		"a template that is wrong":      {object{"network_data": object{"networks": object{"ipv4_dhcp": []any{object{"id": "n", "link": "x"}}}}}, vars(), 0, []string{"ipv4_dhcp[0]", `"x"`}},
		"a text that is no template":    {"node", vars(), 0, []string{"no data template"}},
		"an unknown variable":           {node(), more("hostname", "x"), 1, []string{"hostname", "host_labels"}},
		"no host":                       {node(), without("host"), 1, []string{"host is missing"}},
		"no address of the pool":        {node(), without("addresses"), 1, []string{`host "node-0"`, `pool "prov"`}},
		"no MAC address that boots":     {node(), without("boot_mac"), 1, []string{`id "eth0"`, "boots from"}},
		"an index that is no number":    {node(), more("index", "one"), 1, []string{"index"}},
		"interfaces that are no object": {node(), more("interfaces", []any{"a"}), 1, []string{"interfaces"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := call(t, functions.NewRenderNetworkData(), anything(t, c.template), anything(t, c.vars))
			refused(t, err, c.argument, c.says...)
		})
	}

	// metadata and vars are both wrong: both are told
	_, err := call(t, functions.NewRenderMetaData(), anything(t, object{"x": 1}), anything(t, object{"y": 1}))
	refused(t, err, 0, "x (", "y (")
}

func TestIPAt(t *testing.T) {
	t.Parallel()

	pool := object{"ranges": []any{object{"start": "192.0.2.100", "end": "192.0.2.150", "subnet": nil}}, "prefix": 24, "gateway": "192.0.2.1", "dns_servers": []any{"192.0.2.53"}}

	got, err := call(t, functions.NewIPAt(), anything(t, pool), types.Int64Value(10))
	if err != nil {
		t.Fatal(err)
	}

	made, ok := got.(types.Object)
	if !ok {
		t.Fatalf("it is %T", got)
	}

	for name, want := range map[string]attr.Value{
		"address": types.StringValue("192.0.2.110"), "prefix": types.Int64Value(24), "gateway": types.StringValue("192.0.2.1"),
		"dns": types.ListValueMust(types.StringType, []attr.Value{types.StringValue("192.0.2.53")}),
	} {
		if is := made.Attributes()[name]; !want.Equal(is) {
			t.Errorf("%s is %v, want %v", name, is, want)
		}
	}

	six, err := call(t, functions.NewIPAt(), anything(t, object{"ranges": []any{object{"subnet": "2001:db8::/64"}}, "step": 16}), types.Int64Value(1<<32))
	if made, ok := six.(types.Object); err != nil || !ok || !made.Attributes()["address"].Equal(types.StringValue("2001:db8::10:0:0")) || !made.Attributes()["gateway"].IsNull() {
		t.Errorf("index 2^32 with step 16 is %v, %v", six, err)
	}

	for name, c := range map[string]struct {
		pool     any
		index    int64
		argument int64
		says     []string
	}{
		"an index beyond":          {pool, 51, 1, []string{"51"}},
		"an index below 0":         {pool, -1, 1, []string{"-1"}},
		"a pool that is wrong":     {object{"ranges": []any{object{"start": "192.0.2.9", "end": "192.0.2.1"}}, "prefix": 33}, 0, 0, []string{"192.0.2.9", "33"}},
		"a pool with other fields": {object{"start": "192.0.2.9"}, 0, 0, []string{"start"}},
		"a list":                   {[]any{"192.0.2.9"}, 0, 0, []string{"no ip pool"}},
	} {
		_, err := call(t, functions.NewIPAt(), anything(t, c.pool), types.Int64Value(c.index))
		t.Log(name)
		refused(t, err, c.argument, c.says...)
	}
}

func TestProviderID(t *testing.T) {
	t.Parallel()

	text := types.StringValue

	got, err := call(t, functions.NewProviderID(), text("default"), text("node-0"), text("edge-cp-0"))
	if err != nil || !got.Equal(text("metal3://default/node-0/edge-cp-0")) {
		t.Errorf("it is %v, %v", got, err)
	}

	_, err = call(t, functions.NewProviderID(), text("default"), text("rack/node"), text("m"))
	refused(t, err, 1, `"rack/node"`)

	_, err = call(t, functions.NewProviderID(), text("default"), text("n"), text(""))
	refused(t, err, 2, `""`)
}
