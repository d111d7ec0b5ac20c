// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hosts_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

type block = providertest.Map

func journal(namespace, name, rack string) map[string]any {
	return map[string]any{"metal3": map[string]any{
		"managed_by": "terraform-provider-metal3", "namespace": namespace, "name": name, "phase": "available",
		"labels": map[string]any{"rack": rack, "row": "a"},
	}}
}

func inventory(cpu, ram, gib int) string {
	return fmt.Sprintf(`{"inventory": {"cpu": {"count": %d}, "memory": {"physical_mb": %d}, "disks": [{"name": "/dev/sda", "size": %d}], "interfaces": []}}`,
		cpu, ram, int64(gib)<<30)
}

// backend knows five nodes: c, b and a of racks r0, r1, r0 (a is claimed, b is in
// maintenance), d of another namespace, and x, which was not made for a host.
func backend() *providertest.Hosts {
	node := func(id, namespace, name, rack string) ironic.Node {
		return ironic.Node{
			UUID: id, Name: namespace + "~" + name, Driver: "redfish", ProvisionState: ironic.Available, PowerState: ironic.PowerOff,
			ResourceClass: "small", ConductorGroup: "dc1", Extra: journal(namespace, name, rack),
		}
	}

	c, b, a, d := node("3", "metal3", "c", "r0"), node("2", "metal3", "b", "r1"), node("1", "metal3", "a", "r0"), node("4", "edge", "d", "r0")
	b.Maintenance = true
	a.InstanceInfo = map[string]any{"image_source": "http://images.test/a.raw", "image_checksum": strings.Repeat("0", 32)}
	a.ProvisionState, a.InstanceUUID, a.ResourceClass, a.PowerState = ironic.Active, "i-1", "big", ironic.PowerOn
	d.ConductorGroup, d.Driver = "dc2", "idrac"

	return &providertest.Hosts{
		Nodes:       []ironic.Node{c, b, a, d, {UUID: "5", Name: "x", Driver: "ipmi", ProvisionState: ironic.Enroll}},
		Ports:       map[string][]ironic.Port{"1": {{Address: "02:00:00:00:00:01", PXEEnabled: true}}},
		Inventories: map[string]string{"1": inventory(64, 262144, 960), "2": inventory(16, 65536, 480), "3": inventory(32, 131072, 1920)},
	}
}

func read(t *testing.T, b *providertest.Hosts, filter block) (names []string, hosts []any, errs string) {
	t.Helper()

	s := providertest.NewServer(t, provider.WithBackend(b))
	if text := providertest.Errors(s.Configure(t, nil)); text != "" {
		t.Fatal(text)
	}

	got, diags := s.Read(t, "metal3_baremetal_hosts", filter)
	hosts, _ = got["hosts"].([]any)
	names = []string{}

	for _, one := range hosts {
		h, _ := one.(block)
		names = append(names, fmt.Sprint(h["name"]))
	}

	return names, hosts, providertest.Errors(diags)
}

func TestHosts_filters(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		filter block
		want   string
	}{
		"nothing lets all through, by name": {nil, "a b c d x"},
		"one label":                         {block{"labels": block{"rack": "r0"}}, "a c d"},
		"two labels must both match":        {block{"labels": block{"rack": "r0", "row": "b"}}, ""},
		"a namespace":                       {block{"namespace": "metal3"}, "a b c"},
		"a state of the operator":           {block{"provisioning_states": []any{"provisioned"}}, "a"},
		"several states":                    {block{"provisioning_states": []any{"provisioned", "registering"}}, "a x"},
		"a state of Ironic":                 {block{"ironic_states": []any{"available"}}, "b c d"},
		"a driver":                          {block{"driver": "idrac"}, "d"},
		"a resource class":                  {block{"resource_class": "big"}, "a"},
		"a conductor group":                 {block{"conductor_group": "dc1"}, "a b c"},
		"available leaves out maintenance":  {block{"available": true}, "c d"},
		"not available":                     {block{"available": false}, "a b x"},
		"consumed":                          {block{"consumed": true}, "a"},
		"not consumed":                      {block{"consumed": false, "namespace": "metal3"}, "b c"},
		"processors":                        {block{"hardware": block{"min_cpu": 32}}, "a c"},
		"memory":                            {block{"hardware": block{"min_ram_mebibytes": 131073}}, "a"},
		"the largest disk":                  {block{"hardware": block{"min_disk_gib": 961}}, "c"},
		"all minima together":               {block{"hardware": block{"min_cpu": 64, "min_disk_gib": 961}}, ""},
		"hardware without minima lets all through":  {block{"hardware": block{}}, "a b c d x"},
		"hardware and a label":                      {block{"labels": block{"rack": "r1"}, "hardware": block{"min_cpu": 1}}, "b"},
		"a host without inventory meets no minimum": {block{"namespace": "edge", "hardware": block{"min_cpu": 1}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			names, _, errs := read(t, backend(), c.filter)
			if got := strings.Join(names, " "); errs != "" || got != c.want {
				t.Errorf("got %q, want %q: %s", got, c.want, errs)
			}
		})
	}
}

func TestHosts_costs(t *testing.T) {
	t.Parallel()

	b := backend()
	if _, _, errs := read(t, b, block{"labels": block{"rack": "r0"}}); errs != "" {
		t.Fatal(errs)
	}

	if b.Calls("All") != 1 || b.Calls("Inventory") != 0 || b.Calls("Look") != 0 {
		t.Errorf("%d lists, %d inventories, %d looks", b.Calls("All"), b.Calls("Inventory"), b.Calls("Look"))
	}

	b = backend()
	if _, _, errs := read(t, b, block{"labels": block{"rack": "r0"}, "namespace": "metal3", "hardware": block{"min_cpu": 1}}); errs != "" {
		t.Fatal(errs)
	}

	if b.Calls("Inventory") != 2 {
		t.Errorf("%d inventories for two hosts", b.Calls("Inventory"))
	}
}

func TestHosts_facts(t *testing.T) {
	t.Parallel()

	_, hosts, errs := read(t, backend(), block{"consumed": true, "hardware": block{}})
	if errs != "" || len(hosts) != 1 {
		t.Fatalf("%d hosts: %s", len(hosts), errs)
	}

	host, _ := hosts[0].(block)
	for name, want := range map[string]any{
		"id": "1", "name": "a", "namespace": "metal3", "labels": block{"rack": "r0", "row": "a"}, "powered_on": true, "instance_uuid": "i-1",
		"ports": []any{block{"mac": "02:00:00:00:00:01", "pxe_enabled": true, "physical_network": nil, "local_link": block{}}},
	} {
		if !reflect.DeepEqual(host[name], want) {
			t.Errorf("%s is %v, want %v", name, host[name], want)
		}
	}

	if hardware, ok := host["hardware"].(block); !ok || hardware["ram_mebibytes"] != int64(262144) {
		t.Errorf("hardware is %v", host["hardware"])
	}
}

func TestHosts_refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		filter block
		fail   map[string]error
		says   []string
	}{
		"an unknown state":  {block{"provisioning_states": []any{"ready-ish"}}, nil, []string{`AttributeName("provisioning_states")`}},
		"an empty set":      {block{"ironic_states": []any{}}, nil, []string{`AttributeName("ironic_states")`}},
		"a minimum of zero": {block{"hardware": block{"min_cpu": 0}}, nil, []string{`AttributeName("min_cpu")`}},
		"a selector of nothing": {block{"host_selector": block{"match_expressions": []any{block{"key": "", "operator": "In"}}}}, nil, []string{
			`AttributeName("host_selector")`, "key is empty", "at least one value",
		}},
		"an expression without a key": {block{"host_selector": block{"match_expressions": []any{block{"operator": "!"}}}}, nil, []string{`AttributeName("host_selector")`, "xpressions[0].key is null"}},
		"a label without a value":     {block{"host_selector": block{"match_labels": block{"rack": nil}}}, nil, []string{`AttributeName("host_selector")`, "is null"}},
		"an empty namespace":          {block{"namespace": ""}, nil, []string{`AttributeName("namespace")`}},
		"Ironic down":                 {nil, map[string]error{"All": errors.New("connection refused")}, []string{"Hosts could not be listed", "refused"}},
		"no inventory service":        {block{"hardware": block{}}, map[string]error{"Inventory": errors.New("503")}, []string{"inventory of host", "503"}},
		"no ports":                    {nil, map[string]error{"Refresh": errors.New("500")}, []string{"ports of host", "500"}},
	} {
		t.Run(name+" is an error in words", func(t *testing.T) {
			t.Parallel()

			b := backend()
			b.Fail = c.fail

			_, _, errs := read(t, b, c.filter)
			for _, want := range c.says {
				if !strings.Contains(errs, want) {
					t.Errorf("no %q in %q", want, errs)
				}
			}
		})
	}
}

// refusals reads the hosts and returns of each what keeps it from being chosen.
func refusals(t *testing.T, b *providertest.Hosts, filter block) map[string]any {
	t.Helper()

	names, hosts, errs := read(t, b, filter)
	if errs != "" {
		t.Fatal(errs)
	}

	out := map[string]any{}

	for i, one := range hosts {
		h, _ := one.(block)
		if eligible, _ := h["eligible"].(bool); eligible != (h["refusal"] == nil) {
			t.Errorf("%s: eligible is %v, refusal is %v", names[i], h["eligible"], h["refusal"])
		}

		out[names[i]] = h["refusal"]
	}

	return out
}

func TestHosts_eligibility(t *testing.T) {
	t.Parallel()

	selector := func(key, operator string, values ...any) block {
		e := block{"key": key, "operator": operator}
		if values != nil {
			e["values"] = values
		}

		return block{"host_selector": block{"match_expressions": []any{e}}}
	}

	const free = ""

	for name, c := range map[string]struct {
		filter block
		want   map[string]string
	}{
		"without a selector":          {nil, map[string]string{"a": `"active"`, "b": "maintenance", "c": free, "d": free, "x": `"enroll"`}},
		"an empty selector":           {block{"host_selector": block{}}, map[string]string{"a": `"active"`, "b": "maintenance", "c": free, "d": free, "x": `"enroll"`}},
		"labels":                      {block{"host_selector": block{"match_labels": block{"rack": "r1"}}}, map[string]string{"a": `"active"`, "b": "maintenance", "c": `rack is "r0", not "r1"`, "d": `rack is "r0"`, "x": `"enroll"`}},
		"an expression in lower case": {selector("rack", "notin", "r0"), map[string]string{"a": `"active"`, "b": "maintenance", "c": "ruled out", "d": "ruled out", "x": `"enroll"`}},
		"a label that hosts have without anybody setting it": {selector("metal3.io/name", "In", "d"), map[string]string{"a": `"active"`, "b": "maintenance", "c": "not \"d\"", "d": free, "x": `"enroll"`}},
		"a selector filters nothing, and a filter does":      {block{"namespace": "edge", "host_selector": block{"match_labels": block{"rack": "r9"}}}, map[string]string{"d": `not "r9"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := backend()

			got := refusals(t, b, c.filter)
			if len(got) != len(c.want) {
				t.Errorf("got %v", got)
			}

			for host, want := range c.want {
				said, _ := got[host].(string)
				if (said == "") != (want == free) || !strings.Contains(said, want) {
					t.Errorf("%s: %q, want %q", host, said, want)
				}
			}

			if b.Calls("All") != 1 || b.Calls("Look") != 0 || b.Calls("Inventory") != 0 {
				t.Errorf("%d lists, %d looks, %d inventories", b.Calls("All"), b.Calls("Look"), b.Calls("Inventory"))
			}
		})
	}
}

// TestOTF05_selectorUnknownAtPlan has parts of a selector come from something that is made in the same
// apply: nothing is missed in them.
func TestOTF05_selectorUnknownAtPlan(t *testing.T) {
	t.Parallel()

	const typeName = "metal3_baremetal_hosts"

	s := providertest.NewServer(t)
	valueType := s.Schema().DataSourceSchemas[typeName].ValueType()
	unknown := providertest.Unknown{}

	for name, selector := range map[string]any{
		"all of it":       unknown,
		"the labels":      block{"match_labels": unknown},
		"a label":         block{"match_labels": block{"rack": unknown}},
		"the expressions": block{"match_expressions": unknown},
		"an expression":   block{"match_expressions": []any{unknown, block{"key": "a", "operator": "!"}}},
		"a key":           block{"match_expressions": []any{block{"key": unknown, "operator": "!"}}},
		"the operator":    block{"match_expressions": []any{block{"key": "a", "operator": unknown}}},
		"the values":      block{"match_expressions": []any{block{"key": "a", "operator": "In", "values": unknown}}},
		"a value":         block{"match_expressions": []any{block{"key": "a", "operator": "In", "values": []any{unknown}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			value, err := tfprotov6.NewDynamicValue(valueType, providertest.Value(valueType, block{"host_selector": selector}))
			if err != nil {
				t.Fatal(err)
			}

			resp, err := s.ValidateDataResourceConfig(t.Context(), &tfprotov6.ValidateDataResourceConfigRequest{TypeName: typeName, Config: &value})
			if err != nil || len(resp.Diagnostics) > 0 {
				t.Errorf("%v: %s", err, providertest.Errors(resp.Diagnostics))
			}
		})
	}
}
