// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
)

// having are machines with addresses of the pool prov.
func having(all map[string]string) map[string]map[string]addresses.Address {
	out := map[string]map[string]addresses.Address{}
	for machine, address := range all {
		out[machine] = map[string]addresses.Address{"prov": {Address: address}}
	}

	return out
}

// TestCheckOwners_alsoInBetween: no machine is to have what another one runs with.
func TestCheckOwners_alsoInBetween(t *testing.T) {
	t.Parallel()

	type all map[string]string

	for name, c := range map[string]struct {
		now, next all
		want      []string // one of each error, in order
	}{
		"nothing moves":                       {all{"w-0": ".110", "w-1": ".111"}, all{"w-0": ".110", "w-1": ".111"}, nil},
		"one gets a free one":                 {all{"w-0": ".110"}, all{"w-0": ".130"}, nil},
		"one gets it, and another one's":      {all{"w-0": ".110"}, all{"w-0": ".130", "w-2": ".110"}, []string{"machine w-2 is to have .110 of ip pool \"prov\", and machine w-0 runs with it until it is made again"}},
		"two swap theirs":                     {all{"w-0": ".110", "w-1": ".111"}, all{"w-0": ".111", "w-1": ".110"}, []string{"w-0 is to have .111 of ip pool \"prov\", and machine w-1", "w-1 is to have .110 of ip pool \"prov\", and machine w-0"}},
		"one comes, and another one leaves":   {all{"w-0": ".110"}, all{"x-0": ".110"}, []string{"machine x-0 is to have .110 of ip pool \"prov\", and machine w-0 runs with it until it is gone"}},
		"both in the end":                     {all{"w-0": ".110"}, all{"w-0": ".110", "w-1": ".110"}, []string{"machines w-0 and w-1 would both have .110"}},
		"both have it, and one is to lose it": {all{"w-0": ".110", "w-1": ".110"}, all{"w-0": ".110", "w-1": ".111"}, nil},
		"nobody has it yet":                   {all{}, all{"w-0": ".111", "w-1": ".110"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			errs := cluster.CheckOwners(having(c.now), having(c.next))

			if !slices.EqualFunc(errs, c.want, func(err error, want string) bool { return strings.Contains(err.Error(), want) }) {
				t.Errorf("got %v", errs)
			}
		})
	}
}

// TestUpdate_addressThatRunsElsewhere: an address is given to nobody while another machine runs with it,
// and nothing is touched for it.
func TestUpdate_addressThatRunsElsewhere(t *testing.T) {
	t.Parallel()

	choose := func(w *cluster.Wanted, all map[string]string) {
		w.Overrides = map[string]cluster.Override{}
		for machine, address := range all {
			w.Overrides[machine] = cluster.Override{Addresses: map[string]string{"prov": address}}
		}
	}

	for name, c := range map[string]struct {
		change func(w *cluster.Wanted)
		want   string
	}{
		"one gives it up and another one comes": {func(w *cluster.Wanted) {
			w.Pools[1].Replicas = 3
			choose(w, map[string]string{"edge-w-0": "192.0.2.130", "edge-w-2": "192.0.2.110"})
		}, "machine edge-w-2 is to have 192.0.2.110 of ip pool \"prov\", and machine edge-w-0 runs with it until it is made again"},
		"two swap theirs": {func(w *cluster.Wanted) {
			choose(w, map[string]string{"edge-w-0": "192.0.2.111", "edge-w-1": "192.0.2.110"})
		}, "machine edge-w-1 is to have 192.0.2.110 of ip pool \"prov\", and machine edge-w-0 runs with it"},
		"two swap theirs as they are made again": {func(w *cluster.Wanted) {
			w.Pools[1].UserData.Constant = "other"
			choose(w, map[string]string{"edge-w-0": "192.0.2.111", "edge-w-1": "192.0.2.110"})
		}, "machine edge-w-1 is to have 192.0.2.110 of ip pool \"prov\", and machine edge-w-0 runs with it"},
		"a pool takes the place of another one": {func(w *cluster.Wanted) {
			w.Pools[1].Name = "x"
		}, "machine edge-x-0 is to have 192.0.2.110 of ip pool \"prov\", and machine edge-w-0 runs with it until it is gone"},
		"a rollout makes one beside the others": {func(w *cluster.Wanted) {
			w.Pools[1].UserData.Constant, w.Pools[1].Rollout.MaxSurge = "other", cluster.Share{Number: 1}
			choose(w, map[string]string{"edge-w-0": "192.0.2.112"})
		}, "machines edge-w-0 and edge-w-2 would both have 192.0.2.112"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			bubble(t, 6, func(r *rig) {
				w := wanted()

				res := r.run(w).Create(r.t.Context())
				if res.Err != nil {
					r.t.Fatal(res.Err)
				}

				r.service.ResetCounts()
				c.change(&w)

				err := r.run(w).Update(r.t.Context(), res.Record).Err
				if err == nil || !strings.Contains(err.Error(), c.want) {
					r.t.Errorf("got %v", err)
				}

				if n := r.changes(); n != 0 {
					r.t.Errorf("%d changes", n)
				}
			})
		})
	}
}

// TestUpdate_poolBelowAMachine: a machine that stays keeps an address that its pool no longer has, and
// one that is made again, or comes, is told that there is none.
func TestUpdate_poolBelowAMachine(t *testing.T) {
	t.Parallel()

	bubble(t, 5, func(r *rig) {
		w := wanted()

		res := r.run(w).Create(r.t.Context())
		if res.Err != nil {
			r.t.Fatal(res.Err)
		}

		w.IPPools["prov"] = addresses.Pool{Ranges: []addresses.Range{{Start: "192.0.2.100", End: "192.0.2.110"}}, Prefix: 24, Gateway: "192.0.2.1"}

		before := res.Record.Machines["edge-w-1"]

		if res = r.run(w).Update(r.t.Context(), res.Record); res.Err != nil || !res.Record.Ready {
			r.t.Fatalf("%+v", res)
		}

		if now := res.Record.Machines["edge-w-1"]; now.Addresses["prov"].Address != before.Addresses["prov"].Address || now.Provisioned != before.Provisioned {
			r.t.Errorf("%+v", now)
		}

		more := w
		more.Pools = slices.Clone(w.Pools)
		more.Pools[1].Replicas = 3

		again := w
		again.Pools = slices.Clone(w.Pools)
		again.Pools[1].UserData.Constant = "other"

		for machine, w := range map[string]cluster.Wanted{"edge-w-2": more, "edge-w-1": again} {
			r.service.ResetCounts()

			err := r.run(w).Update(r.t.Context(), res.Record).Err
			if err == nil || !strings.Contains(err.Error(), "machine "+machine+": ") || !strings.Contains(err.Error(), "widen its ranges") || r.changes() > 0 {
				r.t.Errorf("%s: %v", machine, err)
			}
		}
	})
}
