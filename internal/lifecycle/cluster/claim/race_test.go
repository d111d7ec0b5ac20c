// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// TestOCL01_hostsAreDisjoint: machines of two clusters claim from one pool at the same time,
// each in an order of its own and from a list of the past; some allocations are forbidden, some
// are given back in between. Fifty rounds; every host has one machine, and nothing is left over.
func TestOCL01_hostsAreDisjoint(t *testing.T) {
	t.Parallel()

	for round := range 50 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { raceOnce(t, rand.New(rand.NewPCG(uint64(round), 1))) })
		})
	}
}

func raceOnce(t *testing.T, chance *rand.Rand) {
	t.Helper()

	pool := 3 + chance.IntN(6)
	f := newFar(hosts(pool)...)
	f.forbidden, f.working, f.lingering = chance.IntN(3) == 0, chance.IntN(3), chance.IntN(4)

	for _, n := range f.nodes {
		if chance.IntN(4) == 0 {
			n.ResourceClass = "" // such a host is claimed plainly, beside the allocations
		}
	}

	seen, _ := f.All(t.Context())

	// A slow Ironic, so that the requests of all mix.
	f.before = func(string, string) error {
		time.Sleep(rand.N(40 * time.Millisecond))

		return nil
	}

	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		got  = map[string]string{}
		none int
	)

	machines := pool + chance.IntN(3) // sometimes more than there are hosts
	for i := range machines {
		cluster, machine := []string{"a", "b"}[i%2], fmt.Sprintf("m-%d", i)
		r := claim.Request{
			ID: host.MachineClaim("ns", cluster, machine), Namespace: "ns", Cluster: cluster, Machine: machine,
			Candidates: append([]host.Seen{}, seen...),
		}
		r.Eligible = fit(r.ID)
		chance.Shuffle(len(seen), func(i, j int) { r.Candidates[i], r.Candidates[j] = r.Candidates[j], r.Candidates[i] })

		again := chance.IntN(3) == 0

		wg.Go(func() {
			g, _, err := claim.Acquire(t.Context(), f, r)
			if err == nil && again {
				if err = claim.Release(t.Context(), f, r.ID, g.Host); err == nil {
					g, _, err = claim.Acquire(t.Context(), f, r)
				}
			}

			mu.Lock()
			defer mu.Unlock()

			switch {
			case err == nil && got[g.Host.Node.UUID] != "":
				t.Errorf("host %s has machines %s and %s", g.Host.Node.Name, got[g.Host.Node.UUID], machine)
			case err == nil:
				got[g.Host.Node.UUID] = r.ID
			case errors.Is(err, claim.ErrNoHost):
				none++
			default:
				t.Errorf("machine %s: %v", machine, err)
			}
		})
	}

	wg.Wait()

	f.before = nil
	live := f.live()

	if len(got)+none != machines || len(live) != len(got) || len(got) == 0 || none < machines-pool {
		t.Errorf("%d machines on %d hosts: %d have one, %d have none; Ironic knows of %d claims", machines, pool, len(got), none, len(live))
	}

	records := 0

	for id, n := range f.nodes {
		if n.InstanceUUID != got[id] || (host.ReadTenancy(n.InstanceInfo).ID != got[id]) {
			t.Errorf("host %s: claim %q, note %+v, handed out for %q", n.Name, n.InstanceUUID, host.ReadTenancy(n.InstanceInfo), got[id])
		}

		if n.AllocationUUID != "" {
			records++
		}
	}

	if len(f.allocations) != records {
		t.Errorf("%d allocations, %d of them on hosts", len(f.allocations), records)
	}

	found := 0

	for _, cluster := range []string{"a", "b"} {
		all, err := claim.Leftover(t.Context(), f, "ns", cluster)
		if err != nil {
			t.Fatal(err)
		}

		for _, x := range all {
			if found++; got[x.HostID] != x.ID {
				t.Errorf("found %+v", x)
			}

			if err := claim.Release(t.Context(), f, x.ID, x.Host); err != nil {
				t.Error(err)
			}
		}
	}

	if found != len(got) || len(f.live()) != 0 || len(f.allocations) != 0 {
		t.Errorf("found %d of %d; left %v, %v", found, len(got), f.live(), f.allocations)
	}
}
