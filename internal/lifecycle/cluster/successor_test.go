// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// renewed is the wanted cluster whose workers get another image.
func renewed() cluster.Wanted {
	w := wanted()
	image := *w.Pools[1].Image
	image.URL = other
	w.Pools[1].Image = &image

	return w
}

// scarred marks a host unhealthy, as a cluster does that it failed.
func (r *rig) scarred(id string) {
	r.t.Helper()

	s, err := r.another().Look(r.t.Context(), id)
	if err == nil {
		_, err = r.another().Patch(r.t.Context(), id, []ironic.Patch{{Op: "add", Path: "/extra/" + host.JournalKey + "/unhealthy", Value: "a fan"}})
	}

	if err != nil {
		r.t.Fatal(s.Node.Name, err)
	}
}

// TestSuccessor_noMachineGoesWithoutOne: each host is named with its reason, and nothing was touched.
func TestSuccessor_noMachineGoesWithoutOne(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		hosts int
		want  func(w *cluster.Wanted)
		here  func(r *rig, was cluster.Record)
		says  []string
	}{
		"the hosts are too small for what it asks now":   {5, func(w *cluster.Wanted) { w.Pools[1].Hardware.CPUs = 999 }, nil, []string{"edge-w-0", "edge-w-1", "999"}},
		"its own host would not come back into the pool": {3, nil, func(r *rig, was cluster.Record) { r.scarred(was.Machines["edge-w-1"].HostID) }, []string{"edge-w-1", "a fan"}},
		"one host is free for two": {4, nil, func(r *rig, was cluster.Record) {
			r.scarred(was.Machines["edge-w-0"].HostID)
			r.scarred(was.Machines["edge-w-1"].HostID)
		}, []string{"1 host is missing", "a fan"}},
		"the free host is another's in this apply": {4, func(w *cluster.Wanted) { w.Pools[1].Replicas = 3 }, func(r *rig, was cluster.Record) { r.scarred(was.Machines["edge-w-0"].HostID) }, []string{"edge-w-0", "a fan"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			bubble(t, c.hosts, func(r *rig) {
				was := r.run(wanted()).Create(r.t.Context()).Record
				want := renewed()

				if c.want != nil {
					c.want(&want)
				}

				if c.here != nil {
					c.here(r, was)
				}

				r.service.ResetCounts()

				res := r.run(want).Update(r.t.Context(), was)
				for _, text := range append(c.says, "no host would be left", "nothing was touched", "node-0") {
					if res.Err == nil || !strings.Contains(res.Err.Error(), text) {
						r.t.Errorf("no %q in %v", text, res.Err)
					}
				}

				if r.changes() > 0 || len(r.claims()) != 3 {
					r.t.Errorf("it sent %v; %v", r.service.Counts(), r.claims())
				}
			})
		})
	}
}

// TestSuccessor_itsOwnHostCounts: a cluster on all hosts that there are is rolled out all the same, and
// where one of them will not do, a machine goes to the free one.
func TestSuccessor_itsOwnHostCounts(t *testing.T) {
	t.Parallel()

	for hosts, scar := range map[int]bool{3: false, 4: true} {
		bubble(t, hosts, func(r *rig) {
			was := r.run(wanted()).Create(r.t.Context()).Record

			if scar {
				r.scarred(was.Machines["edge-w-0"].HostID)
			}

			res := r.run(renewed()).Update(r.t.Context(), was)
			if res.Err != nil || !res.Record.Ready {
				r.t.Fatalf("%v: %s", res.Err, res.Stands)
			}

			if moved := res.Record.Machines["edge-w-0"].HostID != was.Machines["edge-w-0"].HostID; scar && !moved {
				r.t.Errorf("edge-w-0 is on %s", res.Record.Machines["edge-w-0"].HostName)
			}
		})
	}
}

// TestSuccessor_beforeEachMachine: what was free for the second one may be gone when its turn comes.
func TestSuccessor_beforeEachMachine(t *testing.T) {
	t.Parallel()

	bubble(t, 3, func(r *rig) {
		was := r.run(wanted()).Create(r.t.Context()).Record

		res := hears(r.run(renewed()), func(text string) {
			if strings.HasPrefix(text, "undeploying machine edge-w-0") {
				r.scarred(was.Machines["edge-w-1"].HostID)
			}
		}).Update(r.t.Context(), was)

		if res.Err == nil || !strings.Contains(res.Err.Error(), "rollout of pool w stopped, 1 machines keep their old template") || !strings.Contains(res.Err.Error(), "a fan") {
			r.t.Errorf("%v", res.Err)
		}

		first, second := res.Record.Machines["edge-w-0"], res.Record.Machines["edge-w-1"]
		if first.ImageURL != other || second.State != cluster.StateActive || second.HostID != was.Machines["edge-w-1"].HostID || second.UpToDate {
			r.t.Errorf("%+v\n%+v", first, second)
		}
	})
}
