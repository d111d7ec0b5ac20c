// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// fit is the part of eligibility that is about the host itself.
func fit(id string) func(host.Seen) string {
	return func(s host.Seen) string {
		switch n := s.Node; {
		case n.Maintenance:
			return "in maintenance"
		case n.Retired:
			return "retired"
		case n.InstanceUUID != "" && n.InstanceUUID != id:
			return "claimed"
		default:
			return ""
		}
	}
}

func request(machine string, candidates ...ironic.Node) claim.Request {
	id := host.MachineClaim("default", "edge", machine)
	r := claim.Request{
		ID: id, Namespace: "default", Cluster: "edge", Machine: machine, Eligible: fit(id),
		Extra: map[string]string{"role": "worker"}, Note: map[string]any{"role": "worker"},
	}

	for _, n := range candidates {
		r.Candidates = append(r.Candidates, host.Seen{Node: n})
	}

	return r
}

const rival = "22222222-0000-4000-8000-000000000001"

// noted is the machine that a host's note names.
func noted(f *far, id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()

	return host.ReadTenancy(f.nodes[id].InstanceInfo).Machine
}

// TestAcquire_takesTheFirstThatItCanHave goes through what may be in the way of a claim.
func TestAcquire_takesTheFirstThatItCanHave(t *testing.T) {
	t.Parallel()

	type world struct {
		prepare func(f *far)
		on      int // the host that it gets; -1: none
		kind    claim.Kind
		refused string // of node-0
		took    time.Duration
	}

	first := func(change func(n *ironic.Node)) func(f *far) {
		return func(f *far) { change(f.nodes[node(0).UUID]) }
	}

	for name, w := range map[string]world{
		"nothing":                   {func(*far) {}, 0, claim.KindAllocation, "", time.Second},
		"an Ironic that takes time": {func(f *far) { f.working = 5 }, 0, claim.KindAllocation, "", 10 * time.Second},
		"allocations are forbidden": {func(f *far) { f.forbidden = true }, 0, claim.KindInstance, "", 0},
		"no resource class":         {first(func(n *ironic.Node) { n.ResourceClass = "" }), 0, claim.KindInstance, "", 0},
		"no power state":            {first(func(n *ironic.Node) { n.PowerState = "" }), 0, claim.KindInstance, "", 0},
		"a class of a moment ago":   {strike("allocate", func(n *ironic.Node) { n.ResourceClass = "" }), 1, claim.KindAllocation, "no available nodes", 0},
		"it has a claim already":    {first(func(n *ironic.Node) { n.InstanceUUID = rival }), 1, claim.KindAllocation, "claimed", 0},
		"claimed by a rival":        {strike("allocate", func(n *ironic.Node) { n.InstanceUUID = rival }), 1, claim.KindAllocation, "no available nodes", 0},
		"it is gone":                {func(f *far) { f.forbidden = true; delete(f.nodes, node(0).UUID) }, 1, claim.KindInstance, "it is gone", 0},
		"a rival, without records": {func(f *far) {
			f.forbidden = true
			strike("patch", func(n *ironic.Node) { n.InstanceUUID = rival })(f)
		}, 1, claim.KindInstance, "somebody else", 0},
		"it is being cleaned":        {func(f *far) { f.forbidden = true; f.nodes[node(0).UUID].ProvisionState = ironic.Cleaning }, 1, claim.KindInstance, "transition", 0},
		"maintenance since chosen":   {func(f *far) { f.forbidden = true; f.nodes[node(0).UUID].Maintenance = true }, 1, claim.KindInstance, "in maintenance", 0},
		"maintenance while claiming": {strike("patch", func(n *ironic.Node) { n.Maintenance = true }), 1, claim.KindAllocation, "in maintenance", 0},
		"it stays locked":            {func(f *far) { f.forbidden = true; f.locked[node(0).UUID] = true }, 1, claim.KindInstance, "locked", 2 * time.Minute},
		"an allocation that hangs":   {hangOnce, 1, claim.KindAllocation, "still allocating", 2 * time.Minute},
		"everything is taken": {func(f *far) {
			for _, n := range f.nodes {
				n.InstanceUUID = rival
			}
		}, -1, "", "claimed", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFar(hosts(3)...)
				w.prepare(f)

				r := request("edge-w-0", hosts(3)...)
				start := time.Now()
				got, refused, err := claim.Acquire(t.Context(), f, r)

				if took := time.Since(start); took > max(w.took, 5*time.Second) {
					t.Errorf("took %s", took)
				}

				if !strings.Contains(refused["node-0"], w.refused) || (w.refused == "") != (refused["node-0"] == "") {
					t.Errorf("node-0 was refused because %q", refused["node-0"])
				}

				if w.on < 0 {
					if !errors.Is(err, claim.ErrNoHost) || !strings.Contains(err.Error(), "node-2: ") || len(f.allocations) != 0 {
						t.Errorf("%+v, %v, left %v", got, err, f.allocations)
					}

					return
				}

				want := node(w.on).UUID
				if err != nil || got.Host.Node.UUID != want || got.Kind != w.kind || got.Resumed {
					t.Fatalf("got %+v, %v", got, err)
				}

				onlyClaim(t, f, r, want, w.kind)
			})
		})
	}
}

// strike changes node-0 right before its first request of a kind.
func strike(op string, change func(n *ironic.Node)) func(f *far) {
	return func(f *far) {
		once := true
		f.before = func(now, _ string) error {
			f.mu.Lock()
			defer f.mu.Unlock()

			if now == op && once {
				once = false

				change(f.nodes[node(0).UUID])
			}

			return nil
		}
	}
}

// hangOnce lets the first allocation hang; what is asked for afterwards works.
func hangOnce(f *far) {
	f.working = 1 << 30
	f.before = func(op, _ string) error {
		if op == "deallocate" {
			f.mu.Lock()
			f.working = 0
			f.mu.Unlock()
		}

		return nil
	}
}

// onlyClaim checks that a machine has one host with its note, and nothing else in the store.
func onlyClaim(t *testing.T, f *far, r claim.Request, want string, kind claim.Kind) {
	t.Helper()

	f.mu.Lock()
	defer f.mu.Unlock()

	for id, n := range f.nodes {
		note := host.ReadTenancy(n.InstanceInfo)

		switch {
		case id == want && (n.InstanceUUID != r.ID || note.ID != r.ID || note.Machine != r.Machine || note.Cluster != r.Cluster || note.Role != "worker"):
			t.Errorf("node %s: claim %s, note %+v", id, n.InstanceUUID, note)
		case id != want && (n.InstanceUUID == r.ID || note.ID != ""):
			t.Errorf("node %s: claim %s, note %+v", id, n.InstanceUUID, note)
		}
	}

	if kind == claim.KindInstance && len(f.allocations) != 0 {
		t.Errorf("left %v", f.allocations)
	}

	if kind == claim.KindAllocation {
		a := f.allocations[r.ID]
		if len(f.allocations) != 1 || a == nil || a.Name != "default.edge."+r.Machine || a.Extra["machine"] != r.Machine || a.Extra["role"] != "worker" {
			t.Errorf("allocations %+v", f.allocations)
		}
	}
}

// TestAcquire_endsAndLeavesNothing: whatever request fails, and also where the run is ended.
func TestAcquire_endsAndLeavesNothing(t *testing.T) {
	t.Parallel()

	broken := errors.New("broken")

	for _, forbidden := range []bool{false, true} {
		for nth := range 7 {
			for _, ended := range []bool{false, true} {
				t.Run(fmt.Sprintf("request %d, forbidden %t, ended %t", nth, forbidden, ended), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()

						f := newFar(hosts(2)...)
						f.forbidden = forbidden

						n := 0
						f.before = func(string, string) error {
							if n++; n != nth+1 {
								return nil
							}

							if ended {
								cancel()

								return ctx.Err()
							}

							return broken
						}

						r := request("edge-w-0", hosts(2)...)

						got, _, err := claim.Acquire(ctx, f, r)
						if err == nil {
							if n > nth {
								t.Errorf("got %+v in spite of it", got)
							}

							return
						}

						if len(f.live()) != 0 || len(f.allocations) != 0 || noted(f, node(0).UUID) != "" {
							t.Errorf("%v: left %v, %v", err, f.live(), f.allocations)
						}

						if f.before = nil; !ended && !errors.Is(err, broken) {
							t.Error(err)
						}

						if _, _, err := claim.Acquire(t.Context(), f, r); err != nil {
							t.Error(err)
						}
					})
				})
			}
		}
	}
}

// TestAcquire_claimThatVanishes: what was claimed is proved by another look.
func TestAcquire_claimThatVanishes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFar(node(0))
		f.forbidden = true
		looks := 0
		f.before = func(op, _ string) error {
			if op == "look" {
				looks++
			}

			if looks == 2 {
				f.nodes[node(0).UUID].InstanceUUID = ""
			}

			return nil
		}

		if got, _, err := claim.Acquire(t.Context(), f, request("edge-w-0", node(0))); err == nil || !strings.Contains(err.Error(), "a moment later") {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// TestAcquire_answerLost: a claim that was made, and whose answer never came.
func TestAcquire_answerLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFar(node(0))
		f.forbidden = true

		once := true
		f.lost = func(op, _ string) error {
			if op == "patch" && once {
				once = false

				return wait.Transient(errors.New("connection reset"))
			}

			return nil
		}

		r := request("edge-w-0", node(0))

		got, _, err := claim.Acquire(t.Context(), f, r)
		if err != nil {
			t.Fatal(err)
		}

		onlyClaim(t, f, r, got.Host.Node.UUID, claim.KindInstance)
	})
}

// TestAcquire_resumes what an earlier run of the same machine left.
func TestAcquire_resumes(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		prepare func(t *testing.T, f *far)
		on      int
		kind    claim.Kind
		resumed bool
	}{
		"a claim": {func(*testing.T, *far) {}, 1, claim.KindAllocation, true},
		"a claim without its note": {func(_ *testing.T, f *far) {
			f.nodes[node(1).UUID].InstanceInfo = map[string]any{}
		}, 1, claim.KindAllocation, true},
		"a deployed machine, also in maintenance": {func(t *testing.T, f *far) {
			t.Helper()

			_ = f.walk(t, node(1).UUID, "active")
			f.nodes[node(1).UUID].Maintenance = true
		}, 1, claim.KindAllocation, true},
		"a claim on a host that is no longer fit": {func(_ *testing.T, f *far) {
			f.nodes[node(1).UUID].Maintenance = true
		}, 0, claim.KindAllocation, false},
		"the record without its node": {func(_ *testing.T, f *far) {
			n := f.nodes[node(1).UUID]
			n.InstanceUUID, n.AllocationUUID, n.InstanceInfo = "", "", map[string]any{}
		}, 0, claim.KindAllocation, false},
		"the node is gone": {func(_ *testing.T, f *far) {
			delete(f.nodes, node(1).UUID)
			f.order = f.order[:1]
		}, 0, claim.KindAllocation, false},
		"a record in error": {func(_ *testing.T, f *far) {
			n, a := f.nodes[node(1).UUID], f.allocations[host.MachineClaim("default", "edge", "edge-w-0")]
			n.InstanceUUID, n.AllocationUUID, n.InstanceInfo = "", "", map[string]any{}
			a.State, a.NodeUUID = ironic.AllocationError, ""
		}, 0, claim.KindAllocation, false},
		"a claim without a record": {func(_ *testing.T, f *far) {
			f.nodes[node(1).UUID].AllocationUUID = ""
			clear(f.allocations)
		}, 1, claim.KindInstance, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFar(hosts(2)...)
				if _, _, err := claim.Acquire(t.Context(), f, request("edge-w-0", node(1))); err != nil {
					t.Fatal(err)
				}

				c.prepare(t, f)

				r := request("edge-w-0", hosts(2)...)

				got, _, err := claim.Acquire(t.Context(), f, r)
				if err != nil || got.Host.Node.UUID != node(c.on).UUID || got.Kind != c.kind || got.Resumed != c.resumed {
					t.Fatalf("got %+v, %v", got, err)
				}

				onlyClaim(t, f, r, node(c.on).UUID, c.kind)
			})
		})
	}
}

// TestOCL06_aPredecessorThatIsBeingDeleted: the store still shows the old record for some
// looks, under its own id or under another one with the same name.
func TestOCL06_aPredecessorThatIsBeingDeleted(t *testing.T) {
	t.Parallel()

	for name, id := range map[string]string{
		"of the same id":               host.MachineClaim("default", "edge", "edge-w-0"),
		"of another id and this name":  rival,
		"that nobody ever takes away…": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFar(hosts(2)...)
				old := &record{deleted: true, lingering: 3, Allocation: ironic.Allocation{
					UUID: id, Name: "default.edge.edge-w-0", State: ironic.AllocationActive, NodeUUID: node(1).UUID,
				}}

				if id == "" {
					old.UUID, old.deleted = rival, false
				}

				f.allocations[old.UUID] = old
				r := request("edge-w-0", node(0))

				_, _, err := claim.Acquire(t.Context(), f, r)
				if id == "" {
					if err == nil || !strings.Contains(err.Error(), "the name default.edge.edge-w-0 of the allocation is taken") || len(f.live()) != 0 {
						t.Errorf("%v, %v", err, f.live())
					}

					return
				}

				if err != nil {
					t.Fatal(err)
				}

				onlyClaim(t, f, r, node(0).UUID, claim.KindAllocation)

				// The whole life again under the same names, with a store that forgets slowly.
				f.lingering = 3
				f.allocations[r.ID].lingering = 3

				for range 2 {
					if err := claim.Release(t.Context(), f, r.ID, host.Seen{Node: node(0)}); err != nil {
						t.Fatal(err)
					}

					if len(f.allocations) != 0 {
						t.Errorf("left %v", f.allocations)
					}

					if _, _, err := claim.Acquire(t.Context(), f, r); err != nil {
						t.Fatal(err)
					}

					onlyClaim(t, f, r, node(0).UUID, claim.KindAllocation)
				}
			})
		})
	}
}
