// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"
)

var errKilled = errors.New("the process was killed")

// mortal is a way to Ironic that dies at its nth change: before it arrives, or after it was done.
type mortal struct {
	direct

	left  atomic.Int64
	after bool
	die   context.CancelCauseFunc
}

func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		if m.left.Load() < 0 {
			return nil, errKilled
		}

		return m.direct.RoundTrip(r)
	}

	left := m.left.Add(-1)

	switch {
	case left < 0 && !m.after, left < -1:
		m.die(errKilled)

		return nil, errKilled
	case left < 0:
		resp, err := m.direct.RoundTrip(r)
		if err == nil {
			_ = resp.Body.Close()
		}

		m.die(errKilled)

		return nil, errKilled
	default:
		return m.direct.RoundTrip(r)
	}
}

// killed runs a verb that dies at its nth change, and reports whether it came that far.
func (r *rig) killed(n int, after bool, w cluster.Wanted, verb func(ctx context.Context, run *cluster.Run) cluster.Result) bool {
	r.t.Helper()

	ctx, cancel := context.WithCancelCause(r.t.Context())
	defer cancel(nil)

	m := &mortal{direct: direct{r.service}, after: after, die: cancel}
	m.left.Store(int64(n))

	c, err := ironic.New(ironic.Config{Endpoint: "http://ironic.lab:6385", Transport: m})
	if err != nil {
		r.t.Fatal(err)
	}

	verb(ctx, &cluster.Run{Far: onironic.New(c), Wanted: w})

	return m.left.Load() < 0
}

// claims lists what is claimed in the lab: claim -> host.
func (r *rig) claims() map[string]string {
	r.t.Helper()

	all, err := r.another().All(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}

	out := map[string]string{}

	for _, s := range all {
		if id := s.Node.InstanceUUID; id != "" {
			if other, twice := out[id]; twice {
				r.t.Fatalf("claim %s is on %s and on %s", id, other, s.Node.Name)
			}

			out[id] = s.Node.Name
		}
	}

	return out
}

// Test11_4_killedAtEachChangeOfACreate dies at each change that a create makes, with and without the change
// done, and goes on: the same claims, no host too many, and nothing is left after the end.
func Test11_4_killedAtEachChangeOfACreate(t *testing.T) {
	t.Parallel()

	for _, after := range []bool{false, true} {
		for n := range 24 {
			t.Run(fmt.Sprintf("change %d, done: %t", n, after), func(t *testing.T) {
				t.Parallel()
				acctest.OneIn(t, 4)

				bubble(t, 4, func(r *rig) {
					w := wanted()

					died := r.killed(n, after, w, func(ctx context.Context, run *cluster.Run) cluster.Result { return run.Create(ctx) })
					before := r.claims()

					res := r.run(w).Create(r.t.Context())
					if res.Err != nil || !res.Record.Ready || len(res.Record.Machines) != 3 {
						r.t.Fatalf("died: %t; then: %+v", died, res)
					}

					now := r.claims()
					if len(now) != 3 {
						r.t.Errorf("%d claims: %v", len(now), now)
					}

					for id, name := range before {
						if now[id] != name {
							r.t.Errorf("claim %s was on %s and is on %s", id, name, now[id])
						}
					}

					if res = r.run(w).Delete(r.t.Context(), res.Record); res.Err != nil || !res.Gone || len(r.claims()) > 0 {
						r.t.Errorf("deleted: %+v; left: %v", res, r.claims())
					}
				})
			})
		}
	}
}

// TestKill_changesAtEachChange dies in an update that grows, shrinks and rolls out, and in a delete.
func TestKill_changesAtEachChange(t *testing.T) {
	t.Parallel()

	grown := wanted()
	grown.Pools[1].Replicas = 3

	shrunk := wanted()
	shrunk.Pools[1].Replicas = 1

	another := *wanted().Pools[0].Image
	another.URL = "http://images.lab/debian-12.raw"

	replaced, rebuilt, reused := wanted(), wanted(), wanted()
	for _, w := range []*cluster.Wanted{&replaced, &rebuilt, &reused} {
		w.Pools[0].Image, w.Pools[1].Image = &another, &another
	}

	for i := range rebuilt.Pools {
		rebuilt.Pools[i].Rollout.Strategy = cluster.Rebuild
		reused.Pools[i].Reuse = cluster.ReuseRequired
	}

	for name, c := range map[string]struct {
		to   cluster.Wanted
		most int
	}{"grow": {grown, 8}, "shrink": {shrunk, 3}, "replace": {replaced, 16}, "rebuild": {rebuilt, 12}, "reuse": {reused, 20}} {
		for n := range c.most {
			t.Run(fmt.Sprintf("%s, change %d", name, n), func(t *testing.T) {
				t.Parallel()
				acctest.OneIn(t, 4)

				bubble(t, 5, func(r *rig) {
					start := r.run(wanted()).Create(r.t.Context())
					if start.Err != nil {
						r.t.Fatal(start.Err)
					}

					r.killed(n, n%2 == 0, c.to, func(ctx context.Context, run *cluster.Run) cluster.Result { return run.Update(ctx, start.Record) })

					seen := r.run(c.to).Refresh(r.t.Context(), start.Record)
					if seen.Err != nil {
						r.t.Fatal(seen.Err)
					}

					res := r.run(c.to).Update(r.t.Context(), seen.Record)

					replicas := c.to.Pools[0].Replicas + c.to.Pools[1].Replicas
					if res.Err != nil || !res.Record.Ready || len(res.Record.Machines) != replicas || len(r.claims()) != replicas {
						r.t.Fatalf("%+v; claims: %v", res, r.claims())
					}

					for name, m := range res.Record.Machines {
						if !m.UpToDate || m.ImageURL != c.to.Pools[0].Image.URL {
							r.t.Errorf("%s: %+v", name, m)
						}
					}

					r.killed(n, n%2 == 1, c.to, func(ctx context.Context, run *cluster.Run) cluster.Result { return run.Delete(ctx, res.Record) })

					seen = r.run(c.to).Refresh(r.t.Context(), res.Record)
					if res = r.run(c.to).Delete(r.t.Context(), seen.Record); res.Err != nil || !res.Gone || len(r.claims()) > 0 {
						r.t.Errorf("deleted: %+v; left: %v", res, r.claims())
					}
				})
			})
		}
	}
}

// TestKill_keptHostsAreGivenBack dies while machines change their template on hosts that are kept for
// them, and then the cluster is destroyed: no host stays marked or held for a machine that never comes.
func TestKill_keptHostsAreGivenBack(t *testing.T) {
	t.Parallel()

	another := *wanted().Pools[0].Image
	another.URL = "http://images.lab/debian-12.raw"

	w := wanted()
	for i := range w.Pools {
		w.Pools[i].Image, w.Pools[i].Reuse = &another, cluster.ReuseRequired
	}

	for n := range 12 {
		t.Run(fmt.Sprintf("change %d", n), func(t *testing.T) {
			t.Parallel()
			acctest.OneIn(t, 3)
			bubble(t, 3, func(r *rig) {
				start := r.run(wanted()).Create(r.t.Context())
				if start.Err != nil {
					r.t.Fatal(start.Err)
				}

				r.killed(n, n%2 == 0, w, func(ctx context.Context, run *cluster.Run) cluster.Result { return run.Update(ctx, start.Record) })

				if res := r.run(w).Delete(r.t.Context(), start.Record); res.Err != nil || !res.Gone || len(r.claims()) > 0 {
					r.t.Fatalf("%v; %v", res.Err, r.claims())
				}

				all, err := r.another().All(r.t.Context())
				if err != nil {
					r.t.Fatal(err)
				}

				for _, s := range all {
					if s.Node.Retired || s.Journal.Hold != nil {
						r.t.Errorf("%s: retired %t (%s), hold %v", s.Node.Name, s.Node.Retired, s.Node.RetiredReason, s.Journal.Hold)
					}
				}
			})
		})
	}
}
