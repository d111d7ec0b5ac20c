// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

// crowd is a cluster of three machines of the control plane, which may be interrupted, and two workers.
func crowd() cluster.Wanted {
	w := wanted()
	w.Pools[0].Replicas, w.AllowDisruption = 3, true

	return w
}

// verbs are the provision requests since the last reset, in their order, as "target machine". A host
// is named by the machine that a record has on it.
func (r *rig) verbs(records ...cluster.Record) []string {
	names := map[string]string{}

	for _, record := range records {
		for name, m := range record.Machines {
			names[m.HostID] = name
		}
	}

	var out []string

	for _, q := range r.service.Requests() {
		id, ok := strings.CutSuffix(strings.TrimPrefix(q.Path, "/v1/nodes/"), "/states/provision")
		if !ok || q.Status >= 400 {
			continue
		}

		_, rest, _ := strings.Cut(q.Body, `"target":"`)
		target, _, _ := strings.Cut(rest, `"`)

		if target == "active" || target == "deleted" || target == "rebuild" {
			out = append(out, target+" "+names[id])
		}
	}

	return out
}

// before reports whether all of some verbs came before all of others.
func before(all []string, first, then func(string) bool) bool {
	last := -1

	for i, v := range all {
		if first(v) {
			last = i
		}
	}

	next := slices.IndexFunc(all, then)

	return last >= 0 && next >= 0 && last < next
}

func of(words ...string) func(string) bool {
	return func(verb string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(verb, w) })
	}
}

// TestLife_order holds the order of what is asked of Ironic.
func TestLife_order(t *testing.T) {
	t.Parallel()

	t.Run("11.5 three and two are made, the control plane first", func(t *testing.T) {
		t.Parallel()
		bubble(t, 5, func(r *rig) {
			w := crowd()
			res := r.run(w).Create(r.t.Context())
			if res.Err != nil || !res.Record.Ready || len(res.Record.Machines) != 5 {
				r.t.Fatalf("%+v", res)
			}

			if got := r.verbs(res.Record); len(got) != 5 || !before(got, of("active", "-cp-"), of("active", "-w-")) {
				r.t.Errorf("it asked for %v", got)
			}
		})
	})

	t.Run("11.5 two, four, one: the victims are those with the highest indexes", func(t *testing.T) {
		t.Parallel()
		bubble(t, 5, func(r *rig) {
			w := wanted()
			res := r.run(w).Create(r.t.Context())

			for _, step := range []struct {
				replicas int
				verbs    []string
			}{
				{4, []string{"active edge-w-2", "active edge-w-3"}},
				{1, []string{"deleted edge-w-1", "deleted edge-w-2", "deleted edge-w-3"}},
			} {
				was := res.Record
				planned := w.Lineup(was.Machines)

				if w.Pools[1].Replicas = step.replicas; len(planned.Leave) > 0 {
					r.t.Errorf("without a change %+v leave", planned.Leave)
				}

				planned = w.Lineup(was.Machines)

				r.service.ResetCounts()

				if res = r.run(w).Update(r.t.Context(), was); res.Err != nil {
					r.t.Fatal(res.Err)
				}

				got := r.verbs(was, res.Record)
				slices.Sort(got)

				if !slices.Equal(got, step.verbs) {
					r.t.Errorf("to %d: it asked for %v, want %v", step.replicas, got, step.verbs)
				}

				for _, m := range planned.Leave {
					if !slices.Contains(got, "deleted "+m.Name) {
						r.t.Errorf("%s was planned to leave", m.Name)
					}
				}
			}
		})
	})

	for strategy, verb := range map[cluster.Strategy]string{cluster.Rebuild: "rebuild", cluster.Replace: "deleted"} {
		t.Run(fmt.Sprintf("11.5 another image, %s: the control plane one by one, then the workers", strategy), func(t *testing.T) {
			t.Parallel()
			bubble(t, 5, func(r *rig) {
				w := crowd()

				start := r.run(w).Create(r.t.Context())
				if start.Err != nil {
					r.t.Fatal(start.Err)
				}

				img := *w.Pools[0].Image
				img.URL = "http://images.lab/debian-12.raw"

				for i := range w.Pools {
					w.Pools[i].Image, w.Pools[i].Rollout.Strategy = &img, strategy
					w.Pools[i].Reuse = cluster.ReuseRequired // its host stays the one that is asked
				}

				r.service.ResetCounts()

				res := r.run(w).Update(r.t.Context(), start.Record)
				if res.Err != nil || !res.Record.Ready {
					r.t.Fatalf("%v: %s", res.Err, res.Stands)
				}

				got := r.verbs(start.Record)

				var want []string

				for _, name := range []string{"edge-cp-0", "edge-cp-1", "edge-cp-2", "edge-w-0", "edge-w-1"} {
					want = append(want, verb+" "+name)
					if strategy == cluster.Replace {
						want = append(want, "active "+name)
					}
				}

				if !slices.Equal(got, want) {
					r.t.Errorf("it asked for %v, want %v", got, want)
				}
			})
		})
	}

	t.Run("11.5 at the end workers go before the control plane, also where a delete was cut short", func(t *testing.T) {
		t.Parallel()

		for n := range 4 {
			t.Run(fmt.Sprintf("change %d", n), func(t *testing.T) {
				t.Parallel()
				bubble(t, 5, func(r *rig) {
					w := crowd()

					start := r.run(w).Create(r.t.Context())
					if start.Err != nil {
						r.t.Fatal(start.Err)
					}

					r.service.ResetCounts()
					r.killed(n, n%2 == 0, w, func(ctx context.Context, run *cluster.Run) cluster.Result { return run.Delete(ctx, start.Record) })

					res := r.run(w).Delete(r.t.Context(), start.Record)
					if res.Err != nil || !res.Gone || len(r.claims()) > 0 {
						r.t.Fatalf("%v; %v", res.Err, r.claims())
					}

					if got := r.verbs(start.Record); !before(got, of("deleted", "-w-"), of("deleted", "-cp-")) || len(got) != 5 {
						r.t.Errorf("it asked for %v", got)
					}
				})
			})
		}
	})
}
