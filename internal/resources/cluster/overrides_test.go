// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestCluster_overridesThatWait: a plan tells which overrides of machines that are there have no effect
// yet, and the apply leaves the machines as they are.
func TestCluster_overridesThatWait(t *testing.T) {
	t.Parallel()

	inLab(t, 4, func(w world) {
		w.apply(lived(2))

		free := ""

		for i, id := range w.hosts {
			if w.Machine(t, "node-"+string(rune('0'+i))).Image == "" {
				free = id
			}
		}

		own := func(o Map, parts ...Map) Map {
			return workersOf(append([]Map{{"machine_overrides": Map{"edge-w-0": o}}}, parts...)...)
		}
		another := Map{"image": image(Map{"url": otherImage})}
		rebuilt := Map{"image": image(Map{"url": otherImage}), "rollout": Map{"strategy": "rebuild"}}
		here, _ := w.Get("machines.edge-w-0.host_id").(string)

		for name, c := range map[string]struct {
			config        Map
			warning, fail string
		}{
			"another address":                    {own(Map{"addresses": Map{"prov": "192.0.2.130"}}), "edge-w-0 keeps 192.0.2.110 of pool prov, and not 192.0.2.130", ""},
			"the address that it has":            {own(Map{"addresses": Map{"prov": "192.0.2.110"}}), "", ""},
			"an address that another one has":    {own(Map{"addresses": Map{"prov": "192.0.2.111"}}), "", "would both have 192.0.2.111"},
			"an address that no pool has":        {own(Map{"addresses": Map{"prov": "198.51.100.1"}}), "", "198.51.100.1"},
			"another address, made again":        {own(Map{"addresses": Map{"prov": "192.0.2.130"}}, another), "", ""},
			"another host":                       {own(Map{"host_id": free}), "edge-w-0 stays on host node-", ""},
			"another host, and the disk anew":    {own(Map{"host_id": free}, rebuilt), "until it is replaced (host_id " + free, ""},
			"another host, made again":           {own(Map{"host_id": free}, another), "", ""},
			"the host that it has":               {own(Map{"host_id": here}), "", ""},
			"labels of another host":             {own(Map{"host_selector": Map{"match_labels": Map{"a": "b"}}}), "until it is replaced (host_selector)", ""},
			"another address of another machine": {workersOf(Map{"machine_overrides": Map{"edge-w-2": Map{"addresses": Map{"prov": "192.0.2.130"}}}}), "", ""},
		} {
			o := w.Plan(w.ctx, c.config)

			const title = "overrides wait"
			if told := strings.Contains(o.Warnings, title); told != (c.warning != "") && c.fail == "" || !strings.Contains(o.Warnings, c.warning) {
				t.Errorf("%s: warnings %q, want %q", name, o.Warnings, c.warning)
			}

			if (o.Errors == "") != (c.fail == "") || !strings.Contains(o.Errors, c.fail) {
				t.Errorf("%s: errors %q, want %q", name, o.Errors, c.fail)
			}
		}

		w.apply(own(Map{"addresses": Map{"prov": "192.0.2.130"}, "host_id": free}))

		if w.Get("machines.edge-w-0.host_id") != here || w.Get("machines.edge-w-0.addresses.prov.address") != "192.0.2.110" {
			t.Errorf("edge-w-0: %v", w.Get("machines.edge-w-0"))
		}

		w.apply(own(Map{"addresses": Map{"prov": "192.0.2.130"}, "host_id": free}, another))

		if w.Get("machines.edge-w-0.host_id") != free || w.Get("machines.edge-w-0.addresses.prov.address") != "192.0.2.130" {
			t.Errorf("edge-w-0 was made again: %v", w.Get("machines.edge-w-0"))
		}
	})
}

// TestCluster_overridesThatMayWait: whether a machine is made again, and gets the address that was chosen
// for it, may show at apply alone.
func TestCluster_overridesThatMayWait(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		config := func(template any, overrides Map) Map {
			return workersOf(Map{"user_data_template": template, "machine_overrides": overrides})
		}
		chosen := Map{"edge-w-0": Map{"addresses": Map{"prov": "192.0.2.130"}}}

		w.apply(config("a", Map{}))

		o := w.Plan(w.ctx, config(providertest.Unknown{}, chosen))
		if _, open := acctest.Get(o.Planned, "machines.edge-w-0.addresses").(providertest.Unknown); !open || acctest.Get(o.Planned, "machines.edge-w-1.addresses.prov.address") != "192.0.2.111" {
			t.Errorf("planned: %v", acctest.Get(o.Planned, "machines"))
		}

		for _, each := range [][2]string{{"a", "192.0.2.110"}, {"b", "192.0.2.130"}} {
			template, want := each[0], each[1]

			o := w.ApplyUnknown(w.ctx, config(providertest.Unknown{}, chosen), config(template, chosen))
			if o.Errors != "" || w.Get("machines.edge-w-0.addresses.prov.address") != want {
				t.Errorf("%s: %s%v", template, o.Errors, w.Get("machines.edge-w-0"))
			}
		}
	})
}
