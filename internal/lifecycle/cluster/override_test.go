// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
)

// TestRequest_selectors: a machine's own selector takes the place of its pool's, and of nothing else.
func TestRequest_selectors(t *testing.T) {
	t.Parallel()

	of := func(label string) choose.Selector { return choose.Selector{MatchLabels: map[string]string{label: "x"}} }
	own, none := of("own"), choose.Selector{}

	for name, c := range map[string]struct {
		override cluster.Override
		want     []string
	}{
		"the role's":                    {want: []string{"all", "pool"}},
		"its own":                       {override: cluster.Override{Selector: &own}, want: []string{"all", "own"}},
		"its own, without any term":     {override: cluster.Override{Selector: &none}, want: []string{"all"}},
		"the role's, and a host by its": {override: cluster.Override{HostID: "h"}, want: []string{"all", "pool"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := wanted()
			w.Selector, w.Pools[1].Selector = of("all"), of("pool")
			w.Overrides = map[string]cluster.Override{"edge-w-1": c.override}

			var got []string

			for _, s := range w.Request(cluster.Slot{Name: "edge-w-1", Pool: "w", Role: cluster.Worker, Index: 1}).Selectors {
				for label := range s.MatchLabels {
					got = append(got, label)
				}
			}

			if !slices.Equal(got, c.want) {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestUpdate_overriddenAddress: a machine keeps its address until it is made again, and nobody else gets
// the one that was chosen for it.
func TestUpdate_overriddenAddress(t *testing.T) {
	t.Parallel()

	bubble(t, 4, func(r *rig) {
		w := wanted()
		pool := w.IPPools["prov"]
		pool.Allocation = addresses.BySequential
		w.IPPools["prov"] = pool

		res := r.run(w).Create(r.t.Context())
		if res.Err != nil {
			r.t.Fatal(res.Err)
		}

		before := res.Record.Machines["edge-w-1"]

		w.Overrides = map[string]cluster.Override{"edge-w-1": {Addresses: map[string]string{"prov": "192.0.2.103"}}}
		w.Pools[1].Replicas = 3

		if res = r.run(w).Update(r.t.Context(), res.Record); res.Err != nil || !res.Record.Ready {
			r.t.Fatalf("%+v", res)
		}

		if now := res.Record.Machines["edge-w-1"]; now.Addresses["prov"].Address != before.Addresses["prov"].Address || now.Provisioned != before.Provisioned {
			r.t.Errorf("%+v", now)
		}

		if a := res.Record.Machines["edge-w-2"].Addresses["prov"].Address; a != "192.0.2.104" {
			r.t.Errorf("edge-w-2 has %s", a)
		}

		w.Pools[1].UserData.Constant = "other"

		if res = r.run(w).Update(r.t.Context(), res.Record); res.Err != nil || res.Record.Machines["edge-w-1"].Addresses["prov"].Address != "192.0.2.103" {
			r.t.Errorf("%v: %+v", res.Err, res.Record.Machines["edge-w-1"])
		}
	})
}
