// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

const other = "http://images.lab/debian-12.raw"

// rolled is a cluster of three control plane machines that get another image. The apply waits for no Node.
func rolled(strategy cluster.Strategy, surge int) cluster.Wanted {
	w := crew(3)
	image := *w.Pools[0].Image
	image.URL = other
	w.Pools[0].Image = &image
	w.Pools[0].Rollout = cluster.Rollout{Strategy: strategy, MaxSurge: cluster.Share{Number: surge}}
	w.Wait.NodeTimeout = 5 * time.Minute

	return w
}

// hears is a run whose log is listened to.
func hears(run *cluster.Run, f func(text string)) *cluster.Run {
	log := run.Log
	run.Log = func(ctx context.Context, text string) {
		log(ctx, text)
		f(text)
	}

	return run
}

// remade lists the control plane's machines that have the other image.
func remade(r cluster.Record) []string {
	var out []string

	for name, m := range r.Machines {
		if m.Role == cluster.ControlPlane && m.ImageURL == other {
			out = append(out, name)
		}
	}

	slices.Sort(out)

	return out
}

var rollouts = map[string]struct {
	strategy cluster.Strategy
	surge    int
	comes    string // the first machine that is deployed
}{"rebuild": {cluster.Rebuild, 0, master}, "replace": {cluster.Replace, 0, master}, "surge": {cluster.Replace, 1, "edge-cp-3"}}

// TestPreflight_illMachineStopsARollout: how far the apply waits for machines has no part in it.
func TestPreflight_illMachineStopsARollout(t *testing.T) {
	t.Parallel()

	for name, c := range rollouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inWard(t, 3, 7, func(w *ward) {
				w.api.SetReady("edge-cp-1", "False")

				res := w.verb(rolled(c.strategy, c.surge)).Update(w.t.Context(), w.record)
				w.says(res.Err, "the control plane is not healthy enough to change it", "Node edge-cp-1 is not Ready", master)
				w.untouched()
			})
		})
	}
}

// TestPreflight_asksBeforeEachMachine: the machine that was made anew counts before the next one goes.
func TestPreflight_asksBeforeEachMachine(t *testing.T) {
	t.Parallel()

	for name, c := range rollouts {
		for _, comesBack := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				inWard(t, 3, 7, func(w *ward) {
					run := hears(w.verb(rolled(c.strategy, c.surge)), func(text string) {
						one, ok := strings.CutPrefix(text, "deploying machine ")
						if one, _, _ = strings.Cut(one, " "); !ok || !strings.Contains(one, "-cp-") {
							return
						}

						if name == "replace" && w.api.Labels(one) != nil {
							w.t.Errorf("the Node of the former %s is left", one)
						}

						w.api.Remove("nodes", "", one)

						if comesBack {
							w.later.Go(func() {
								time.Sleep(3 * time.Minute)
								w.joinsAnew(one)
							})
						}
					})

					res := run.Update(w.t.Context(), w.record)

					if comesBack {
						if got := remade(res.Record); res.Err != nil || len(got) != 3 {
							w.t.Errorf("%v: %v", res.Err, got)
						}

						return
					}

					w.says(res.Err, "not healthy enough", "machine "+c.comes+" has no Node")

					if got := remade(res.Record); len(got) != 1 || got[0] != c.comes || len(res.Record.Machines) != 5+c.surge {
						w.t.Errorf("%v; %v", got, res.Record.Machines)
					}
				})
			})
		}
	}
}

// joinsAnew is a kubelet that registers a machine which was made anew.
func (w *ward) joinsAnew(name string) {
	all, err := w.another().All(w.t.Context())
	if err != nil {
		w.t.Error(err)
	}

	for _, s := range all {
		if t, ok := s.Tenancy(); ok && t.Machine == name {
			w.api.AddNode(kubetest.Node{Name: name, ProviderID: "metal3://metal3/" + strings.TrimPrefix(s.Node.Name, "metal3~") + "/" + name, Ready: "True"})
		}
	}
}

// TestPreflight_whatCannotBeAskedIsRefused before anything is touched, unless the user allows it.
func TestPreflight_whatCannotBeAskedIsRefused(t *testing.T) {
	t.Parallel()

	for name, c := range rollouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inWard(t, 3, 7, func(w *ward) {
				want := rolled(c.strategy, c.surge)

				res := w.run(want).Update(w.t.Context(), w.record)
				w.says(res.Err, master, "nothing says how to ask", "workload_api", "allow_disruption")
				w.untouched()

				want.AllowDisruption = true

				if res = w.run(want).Update(w.t.Context(), w.record); res.Err != nil || len(remade(res.Record)) != 3 {
					w.t.Errorf("%v: %v", res.Err, remade(res.Record))
				}
			})
		})
	}
}

// TestPreflight_anAPIThatDoesNotAnswer stops a rollout, too.
func TestPreflight_anAPIThatDoesNotAnswer(t *testing.T) {
	t.Parallel()

	inWard(t, 3, 5, func(w *ward) {
		want := rolled(cluster.Rebuild, 0)
		silent := func() *cluster.Run {
			run := w.verb(want)
			run.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route to host") }

			return run
		}

		res := silent().Update(w.t.Context(), w.record)
		w.says(res.Err, "cannot be asked", "no route to host", "allow_disruption")
		w.untouched()

		want.AllowDisruption = true

		if res = silent().Update(w.t.Context(), w.record); res.Err != nil || len(remade(res.Record)) != 3 || !warned(res, "could not be asked") {
			w.t.Errorf("%v: %v, %+v", res.Err, remade(res.Record), res.Warnings)
		}
	})
}

// TestPreflight_nodesThatNobodyKnows: Nodes that do not say whose they are tell nothing.
func TestPreflight_nodesThatNobodyKnows(t *testing.T) {
	t.Parallel()

	bubble(t, 5, func(r *rig) {
		w := &ward{rig: r, api: kubetest.New(r.t, kubetest.InMemory()), boots: map[string]int{}, quick: true}
		w.record = r.run(crew(3)).Create(r.t.Context()).Record

		defer w.later.Wait()

		w.api.AddNode(kubetest.Node{Name: "somebody", Ready: "True"})

		want := rolled(cluster.Rebuild, 0)
		res := r.run(want).Update(r.t.Context(), w.record)
		w.says(res.Err, "nothing says how to ask")

		reach := func() *cluster.Run {
			run := r.run(want)
			run.Access, run.Dial = cluster.Access{Kubeconfig: w.api.Kubeconfig()}, w.api.Dial

			return run
		}
		res = reach().Update(r.t.Context(), w.record)
		w.says(res.Err, "has no Node that says whose it is")

		want.AllowDisruption = true

		if res = reach().Update(r.t.Context(), w.record); res.Err != nil || len(remade(res.Record)) != 3 || !warned(res, "could not be asked") {
			r.t.Errorf("%v: %v, %+v", res.Err, remade(res.Record), res.Warnings)
		}
	})
}

// TestPreflight_oneMachineHasNoOthers: nobody is asked, and its rollout is the plan's to price.
func TestPreflight_oneMachineHasNoOthers(t *testing.T) {
	t.Parallel()

	inWard(t, 1, 4, func(w *ward) {
		want := rolled(cluster.Rebuild, 0)
		want.Pools[0].Replicas = 1

		if res := w.run(want).Update(w.t.Context(), w.record); res.Err != nil || len(remade(res.Record)) != 1 {
			w.t.Errorf("%v: %v", res.Err, remade(res.Record))
		}

		// One that comes beside it has to be seen at work before it goes.
		want.Pools[0].Image = crew(1).Pools[0].Image
		want.Pools[0].Rollout = cluster.Rollout{Strategy: cluster.Replace, MaxSurge: cluster.Share{Number: 1}}

		res := w.run(want).Update(w.t.Context(), w.record)
		w.says(res.Err, "nothing says how to ask")
	})
}
