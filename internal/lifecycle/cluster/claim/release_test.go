// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"errors"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// held is a store in which a machine has node-0.
func held(t *testing.T, forbidden bool) (*far, claim.Request, host.Seen) {
	t.Helper()

	f := newFar(hosts(2)...)
	f.forbidden = forbidden
	r := request("edge-w-0", node(0))

	got, _, err := claim.Acquire(t.Context(), f, r)
	if err != nil {
		t.Fatal(err)
	}

	return f, r, got.Host
}

func TestRelease_inEveryState(t *testing.T) {
	t.Parallel()

	for state, freed := range map[ironic.State]bool{
		ironic.Available: true, ironic.Manageable: true, ironic.Enroll: true, ironic.InspectFailed: true, ironic.CleanFailed: true,
		ironic.Active: false, ironic.Deploying: false, ironic.WaitCallBack: false, ironic.DeployFailed: false, ironic.Error: false,
		ironic.Deleting: false, ironic.Cleaning: false, ironic.CleanWait: false, ironic.Rescue: false, ironic.ServiceFailed: false,
		"of a later release": false,
	} {
		for _, forbidden := range []bool{false, true} {
			t.Run(string(state), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					f, r, s := held(t, forbidden)
					f.nodes[s.Node.UUID].ProvisionState = state
					s.Node.ProvisionState = ironic.Available // what was seen is of the past

					for range 2 {
						err := claim.Release(t.Context(), f, r.ID, s)

						var busy *claim.InUseError
						if freed != (err == nil) || freed == errors.As(err, &busy) {
							t.Errorf("got %v", err)
						}
					}

					if _, still := f.live()[r.ID]; still == freed || (noted(f, s.Node.UUID) == "") != freed || (len(f.allocations) == 0) != (freed || forbidden) {
						t.Errorf("claims %v, note %q, allocations %v", f.live(), noted(f, s.Node.UUID), f.allocations)
					}
				})
			})
		}
	}
}

func TestRelease_touchesNothingOfOthers(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(f *far, r claim.Request){
		"the host has another claim by now": func(f *far, _ claim.Request) {
			n := f.nodes[node(0).UUID]
			n.InstanceUUID, n.AllocationUUID = rival, rival
			n.InstanceInfo[host.TenancyKey] = map[string]any{"id": rival, "machine": "theirs"}
			clear(f.allocations)
			f.allocations[rival] = &record{Allocation: ironic.Allocation{UUID: rival, State: ironic.AllocationActive, NodeUUID: n.UUID}}
		},
		"the claim is on another host": func(f *far, r claim.Request) {
			n, other := f.nodes[node(0).UUID], f.nodes[node(1).UUID]
			n.InstanceUUID, n.AllocationUUID, n.InstanceInfo = "", "", map[string]any{}
			other.InstanceUUID, other.AllocationUUID = r.ID, r.ID
			f.allocations[r.ID].NodeUUID = other.UUID
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f, r, s := held(t, false)
				change(f, r)

				before, note := f.live(), noted(f, node(0).UUID)
				if err := claim.Release(t.Context(), f, r.ID, s); err != nil {
					t.Error(err)
				}

				if !reflect.DeepEqual(before, f.live()) || noted(f, node(0).UUID) != note || len(f.allocations) != 1 {
					t.Errorf("claims %v, want %v; note %q; allocations %v", f.live(), before, noted(f, node(0).UUID), f.allocations)
				}
			})
		})
	}
}

func TestRelease_ofWhatHasNoHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, r, s := held(t, false)
		n := f.nodes[s.Node.UUID]
		n.InstanceUUID, n.AllocationUUID = "", ""
		f.allocations[r.ID].State, f.allocations[r.ID].NodeUUID = ironic.AllocationError, ""

		if err := claim.Release(t.Context(), f, r.ID, host.Seen{}); err != nil || len(f.allocations) != 0 {
			t.Errorf("%v, left %v", err, f.allocations)
		}

		if err := claim.Release(t.Context(), f, "", s); err == nil {
			t.Error("an empty id was given back")
		}
	})
}

// TestLeftover finds the claims of one cluster among those of others, from two lists.
func TestLeftover(t *testing.T) {
	t.Parallel()

	for _, forbidden := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFar(hosts(6)...)
			f.forbidden = forbidden

			for i, machine := range []string{"edge-w-1", "edge-cp-0"} {
				if _, _, err := claim.Acquire(t.Context(), f, request(machine, node(i))); err != nil {
					t.Fatal(err)
				}
			}

			other := request("edge-w-1", node(2))
			other.Cluster, other.ID = "edge2", host.MachineClaim("default", "edge2", "edge-w-1")
			other.Eligible = nil

			if _, _, err := claim.Acquire(t.Context(), f, other); err != nil {
				t.Fatal(err)
			}

			// A note that outlived its claim on a free host, and one whose host runs.
			stale := map[string]any{host.TenancyKey: map[string]any{"namespace": "default", "cluster": "edge", "machine": "edge-w-7"}}
			f.nodes[node(3).UUID].InstanceInfo = stale
			f.nodes[node(4).UUID].InstanceInfo, f.nodes[node(4).UUID].InstanceUUID = stale, rival
			f.nodes[node(5).UUID].InstanceInfo, f.nodes[node(5).UUID].ProvisionState = stale, ironic.Active

			if !forbidden {
				// An allocation without an extra, whose id proves whose it is; and one that only has the name.
				id := host.MachineClaim("default", "edge", "edge-w-9")
				f.allocations[id] = &record{Allocation: ironic.Allocation{UUID: id, Name: "default.edge.edge-w-9", State: ironic.AllocationError}}
				f.allocations[rival] = &record{Allocation: ironic.Allocation{UUID: rival, Name: "default.edge.edge-w-8"}}
			}

			f.lists = 0

			found, err := claim.Leftover(t.Context(), f, "default", "edge")
			if err != nil {
				t.Fatal(err)
			}

			var got []string
			for _, x := range found {
				got = append(got, x.Machine+" "+string(x.Kind)+" "+x.HostID)

				if x.ID != host.MachineClaim("default", "edge", x.Machine) || (x.HostID != "" && x.Note == nil) || (x.Allocation == nil) == (!forbidden && x.Kind != claim.KindNote) {
					t.Errorf("found %+v", x)
				}
			}

			want := []string{
				"edge-cp-0 allocation " + node(1).UUID, "edge-w-1 allocation " + node(0).UUID, "edge-w-7 note " + node(5).UUID, "edge-w-9 allocation ",
			}
			if forbidden {
				want = []string{"edge-cp-0 instance_uuid " + node(1).UUID, "edge-w-1 instance_uuid " + node(0).UUID, "edge-w-7 note " + node(5).UUID}
			}

			if !reflect.DeepEqual(got, want) || f.lists > 2 {
				t.Errorf("after %d lists %q\nwant %q", f.lists, got, want)
			}
		})
	}
}
