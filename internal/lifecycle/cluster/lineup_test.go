// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
)

// TestLineup_overRandomScaleSequences grows and shrinks a cluster at random, with machines that are
// named to go: whoever stays keeps what it is, who comes has the lowest free index, and no address is
// ever two machines'.
func TestLineup_overRandomScaleSequences(t *testing.T) {
	t.Parallel()

	for seed := range uint64(200) {
		t.Run(fmt.Sprintf("11.1 the lowest free index, no address twice, seed %d", seed), func(t *testing.T) {
			t.Parallel()

			chance := rand.New(rand.NewPCG(seed, 1))
			have := map[string]cluster.Machine{}

			for range 30 {
				w := wanted()
				w.Pools[1].Replicas = chance.IntN(9)
				w.Pools[1].ScaleIn = []string{"highest_index", "newest", "oldest"}[chance.IntN(3)]

				for name := range have {
					if chance.IntN(4) == 0 {
						w.DeleteMachines = append(w.DeleteMachines, name)
					}
				}

				have = rescaled(t, &w, have, chance)
			}
		})
	}
}

// rescaled applies a line-up to what there is, and holds it to the rules.
func rescaled(t *testing.T, w *cluster.Wanted, have map[string]cluster.Machine, chance *rand.Rand) map[string]cluster.Machine {
	t.Helper()

	l := w.Lineup(have)
	free := lowestFree(w, have)
	now := map[string]cluster.Machine{}

	for _, s := range l.Keep {
		if m, there := have[s.Name]; !there || m.Index != s.Index || m.ClaimID != s.ClaimID {
			t.Fatalf("%s stays, and was %+v", s.Name, m)
		}

		now[s.Name] = have[s.Name]
	}

	for _, s := range l.Add {
		if _, there := have[s.Name]; there || s.Index != free[s.Pool][0] || s.Name != w.MachineName(s.Pool, s.Index) {
			t.Fatalf("%+v comes, and the lowest free index is %d", s, free[s.Pool][0])
		}

		free[s.Pool] = free[s.Pool][1:]
		now[s.Name] = cluster.Machine{
			Name: s.Name, Pool: s.Pool, Role: s.Role, Index: s.Index, ClaimID: s.ClaimID, UpToDate: true,
			Provisioned: fmt.Sprintf("2026-01-01T00:00:%02dZ", chance.IntN(60)),
		}
	}

	if want := w.Pools[0].Replicas + w.Pools[1].Replicas; len(now) != want || len(l.Keep)+len(l.Leave) != len(have) {
		t.Fatalf("%d machines, wanted are %d; %d stay and %d leave of %d", len(now), want, len(l.Keep), len(l.Leave), len(have))
	}

	if len(l.Add) > 0 && slices.ContainsFunc(l.Leave, func(m cluster.Machine) bool { return m.Pool == l.Add[0].Pool }) {
		t.Fatalf("pool %s grows and shrinks: %+v", l.Add[0].Pool, l)
	}

	named := func(m cluster.Machine) bool { return slices.Contains(w.DeleteMachines, m.Name) }
	if i := slices.IndexFunc(l.Leave, func(m cluster.Machine) bool { return !named(m) }); i >= 0 {
		for _, s := range l.Keep {
			if s.Pool == l.Leave[i].Pool && named(have[s.Name]) {
				t.Fatalf("%s leaves, and %s, which was named, stays", l.Leave[i].Name, s.Name)
			}
		}
	}

	addressed(t, w, l)

	return now
}

// lowestFree are the free indexes of each pool in their order.
func lowestFree(w *cluster.Wanted, have map[string]cluster.Machine) map[string][]int {
	free := map[string][]int{}

	for _, p := range w.Pools {
		for index := range 32 {
			if _, taken := have[w.MachineName(p.Name, index)]; !taken {
				free[p.Name] = append(free[p.Name], index)
			}
		}
	}

	return free
}

// addressed checks that each machine has the address of its index, and no other machine has it.
func addressed(t *testing.T, w *cluster.Wanted, l cluster.Lineup) {
	t.Helper()

	compiled, errs := w.CompilePools()
	if len(errs) > 0 {
		t.Fatal(errs)
	}

	all := map[string]map[string]addresses.Address{}

	for _, s := range l.Slots() {
		got, err := w.Foreseen(compiled, s, nil)
		if err != nil {
			t.Fatal(err)
		}

		offset := map[string]int{"w": 10}[s.Pool]
		if want := fmt.Sprintf("192.0.2.%d", 100+offset+s.Index); got["prov"].Address != want {
			t.Fatalf("%s has %v, want %s", s.Name, got, want)
		}

		all[s.Name] = got
	}

	if errs := cluster.CheckAddresses(all); len(errs) > 0 {
		t.Fatal(errs)
	}
}

// TestCheckAddresses_namesBoth has two pools whose indexes meet.
func TestCheckAddresses_namesBoth(t *testing.T) {
	t.Parallel()

	same := map[string]addresses.Address{"prov": {Address: "192.0.2.110"}}

	errs := cluster.CheckAddresses(map[string]map[string]addresses.Address{"edge-w-0": same, "edge-x-0": same, "edge-y-0": {"other": same["prov"]}})
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "edge-w-0 and edge-x-0 would both have 192.0.2.110") {
		t.Errorf("got %v", errs)
	}
}
