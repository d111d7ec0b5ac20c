// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// TestOCL08_aHostIsKeptThroughItsRedeployment: at no step can another machine have the host,
// whether it asks for an allocation or writes instance_uuid; every step may be done twice.
func TestOCL08_aHostIsKeptThroughItsRedeployment(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		journal   map[string]any
		uncleaned bool // automated cleaning is off: the teardown ends in available
	}{
		"a host of this provider":        {map[string]any{"managed_by": "x"}, false},
		"a host of another tool":         {nil, false},
		"a host that nobody ever cleans": {nil, true},
	} {
		journal := c.journal

		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f, r, s := held(t, false)
				id := s.Node.UUID
				f.uncleaned = c.uncleaned
				end := map[bool]ironic.State{false: ironic.Manageable, true: ironic.Available}[c.uncleaned]

				if journal != nil {
					f.nodes[id].Extra[host.JournalKey] = journal
				}

				// The rival chooses as everybody does: what is eligible, first. It is of a cluster of the same name.
				thief := request("edge-w-0", node(0))
				thief.Namespace, thief.ID = "other", host.MachineClaim("other", "edge", "edge-w-0")
				thief.Eligible = func(s host.Seen) string {
					if hold, ok := choose.ParseHold(s.Journal.Hold); ok && !hold.Of("other/edge", "edge-w-0") {
						return hold.String()
					}

					return fit(thief.ID)(s)
				}
				strike := func() {
					t.Helper()

					if got, _, err := claim.Acquire(t.Context(), f, thief); !errors.Is(err, claim.ErrNoHost) {
						t.Errorf("the rival got %+v, %v", got, err)
					}
				}
				step := func(do func() (host.Seen, error)) {
					t.Helper()
					strike()

					for range 2 {
						var err error
						if s, err = do(); err != nil {
							t.Fatal(err)
						}
					}

					strike()
				}
				walk := func(verb string) {
					t.Helper()

					if err := f.walk(t, id, verb); err != nil {
						t.Fatal(err)
					}
				}

				walk("active")
				step(func() (host.Seen, error) { return claim.Keep(t.Context(), f, r, s, time.Now().Add(time.Hour)) })
				walk("deleted")

				if s, _ = f.Look(t.Context(), id); !r.Kept(s) || thief.Kept(s) || !r.Reclaimable(s) || s.Node.InstanceUUID != "" || s.Node.ProvisionState != end {
					t.Fatalf("after the teardown: %+v", s.Node)
				}

				if hold, ok := choose.ParseHold(s.Journal.Hold); !ok || !hold.Of("default/edge", "edge-w-0") || hold.Until.IsZero() {
					t.Errorf("hold %+v", hold)
				}

				no := false
				step(func() (host.Seen, error) { return claim.Reclaim(t.Context(), f, r, s, &no) })

				if s.Node.InstanceUUID != r.ID || s.Node.Retired || noted(f, id) != "edge-w-0" || *s.Node.AutomatedClean {
					t.Errorf("after the claim: %+v", s.Node)
				}

				walk("provide")
				strike()

				got, _, err := claim.Acquire(t.Context(), f, r)
				if err != nil || !got.Resumed || got.Host.Node.UUID != id {
					t.Errorf("the machine finds %+v, %v", got, err)
				}

				walk("active")
				step(func() (host.Seen, error) { return claim.Unhold(t.Context(), f, r, s) })

				if s.Journal.Hold != nil || s.Journal.ManagedBy != ironicText(journal["managed_by"]) {
					t.Errorf("journal %+v", s.Journal)
				}
			})
		})
	}
}

func ironicText(v any) string {
	s, _ := v.(string)

	return s
}

func TestKeep_refuses(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(n *ironic.Node){
		"a host of another claim":          func(n *ironic.Node) { n.InstanceUUID = rival },
		"a host without a claim":           func(n *ironic.Node) { n.InstanceUUID = "" },
		"a host that somebody has retired": func(n *ironic.Node) { n.Retired, n.RetiredReason = true, "broken fan" },
		"a host kept for another machine":  func(n *ironic.Node) { n.Retired, n.RetiredReason = true, "metal3 reuse default/other/edge-w-0" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f, r, s := held(t, false)
				n := f.nodes[s.Node.UUID]
				n.ProvisionState = ironic.Active
				change(n)

				reason := n.RetiredReason
				if _, err := claim.Keep(t.Context(), f, r, s, time.Time{}); err == nil || f.nodes[n.UUID].RetiredReason != reason {
					t.Errorf("%v: %+v", err, f.nodes[n.UUID])
				}
			})
		})
	}
}

func TestReclaim_refuses(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(n *ironic.Node){
		"a host of another claim":          func(n *ironic.Node) { n.InstanceUUID = rival },
		"a host that is not kept for it":   func(n *ironic.Node) { n.Retired, n.RetiredReason = false, "" },
		"a host kept for another machine":  func(n *ironic.Node) { n.RetiredReason = "metal3 reuse default/edge/edge-w-1" },
		"a host whose teardown still goes": func(n *ironic.Node) { n.ProvisionState = ironic.Cleaning },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f, r, s := held(t, false)
				_ = f.walk(t, s.Node.UUID, "active")

				if _, err := claim.Keep(t.Context(), f, r, s, time.Time{}); err != nil {
					t.Fatal(err)
				}

				_ = f.walk(t, s.Node.UUID, "deleted")
				n := f.nodes[s.Node.UUID]
				change(n)

				had := n.InstanceUUID
				if _, err := claim.Reclaim(t.Context(), f, r, s, nil); err == nil || f.nodes[n.UUID].InstanceUUID != had {
					t.Errorf("%v: %+v", err, f.nodes[n.UUID])
				}
			})
		})
	}
}

func TestUnkeep_endsMarkAndHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, r, s := held(t, false)
		_ = f.walk(t, s.Node.UUID, "active")

		if _, err := claim.Keep(t.Context(), f, r, s, time.Time{}); err != nil {
			t.Fatal(err)
		}

		other := request("edge-w-1")
		for _, c := range []struct {
			r    claim.Request
			kept bool
		}{{other, true}, {r, false}, {r, false}} {
			s, err := claim.Unkeep(t.Context(), f, c.r, s)
			if err != nil || s.Node.Retired != c.kept || (s.Journal.Hold != nil) != c.kept {
				t.Errorf("%v: %+v", err, s)
			}
		}
	})
}
