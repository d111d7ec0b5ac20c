// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"
)

// TestCluster_addressOfARunningMachine: a plan gives nobody an address that another machine still runs
// with, says whose it is, and what to do; done in two steps it goes.
func TestCluster_addressOfARunningMachine(t *testing.T) {
	t.Parallel()

	inLab(t, 5, func(w world) {
		w.apply(lived(2))

		chosen := func(all map[string]string, parts ...Map) Map {
			own := Map{}
			for machine, address := range all {
				own[machine] = Map{"addresses": Map{"prov": address}}
			}

			return workersOf(append(parts, Map{"machine_overrides": own})...)
		}
		three, another := Map{"replicas": 3}, Map{"image": image(Map{"url": otherImage})}
		moved := map[string]string{"edge-w-0": "192.0.2.130", "edge-w-2": "192.0.2.110"}
		swapped := map[string]string{"edge-w-0": "192.0.2.111", "edge-w-1": "192.0.2.110"}

		beside := chosen(nil, another, Map{"rollout": Map{"max_surge": "1"}})
		beside["workers"].(Map)["x"] = pool(1, Map{"data_template": theTemplate, "ip_index_offset": 12})

		for name, c := range map[string]struct {
			config Map
			want   string
		}{
			"one gives it up and another one comes":   {chosen(moved, three), "achine edge-w-2 is to have 192.0.2.110 of ip pool"},
			"one is made again and another one comes": {chosen(moved, three, another), "achine edge-w-2 is to have 192.0.2.110 of ip pool"},
			"two swap theirs":                         {chosen(swapped), "and machine edge-w-1 runs with it until it is made again"},
			"two swap theirs as they are made again":  {chosen(swapped, another), "and machine edge-w-0 runs with it until it is made again"},
			"a rollout makes one beside the others": {
				beside, "would both have 192.0.2.112",
			},
			"a pool takes the place of another one": {
				lived(2, Map{"workers": Map{"x": pool(1, Map{"data_template": theTemplate, "ip_index_offset": 10})}}), "and machine edge-w-0 runs with it until it is gone",
			},
		} {
			if o := w.Plan(w.ctx, c.config); !strings.Contains(strings.Join(strings.Fields(o.Errors), " "), c.want) {
				t.Errorf("%s: %s", name, o.Errors)
			}
		}

		first := map[string]string{"edge-w-0": "192.0.2.130"}
		w.apply(chosen(first))
		w.apply(chosen(first, another))
		w.apply(chosen(moved, three, another))

		if got := w.Get("machines.edge-w-2.addresses.prov.address"); got != "192.0.2.110" {
			t.Errorf("edge-w-2 has %v", got)
		}
	})
}

// TestCluster_poolBelowAMachine: an apply does what its plan says where a pool has fewer addresses than
// there are machines.
func TestCluster_poolBelowAMachine(t *testing.T) {
	t.Parallel()

	inLab(t, 4, func(w world) {
		w.apply(lived(2))

		less := pools(Map{"prov": prov(Map{"ranges": []any{Map{"start": "192.0.2.100", "end": "192.0.2.110"}}})})
		own := func(o Map) Map { return merged(workersOf(Map{"machine_overrides": Map{"edge-w-1": o}}), less) }
		touched := own(Map{"labels": Map{"a": "b"}}) // a pool alone changes nothing that is there

		if o := w.Plan(w.ctx, touched); o.Errors != "" || !strings.Contains(o.Warnings, "edge-w-1 (192.0.2.111)") {
			t.Errorf("%s: %s", o.Errors, o.Warnings)
		}

		w.apply(touched)

		if got := w.Get("machines.edge-w-1.addresses.prov.address"); got != "192.0.2.111" {
			t.Errorf("edge-w-1 has %v", got)
		}

		// What was chosen for it waits, and is no reason to look for what its index would give.
		if o := w.Plan(w.ctx, own(Map{"addresses": Map{"prov": "192.0.2.105"}})); o.Errors != "" || !strings.Contains(o.Warnings, "edge-w-1 keeps 192.0.2.111 of pool prov, and not 192.0.2.105") {
			t.Errorf("%s: %s", o.Errors, o.Warnings)
		}

		if o := w.Plan(w.ctx, lived(3, less)); !strings.Contains(o.Errors, "No address for machine edge-w-2") {
			t.Errorf("one more: %s", o.Errors)
		}
	})
}
