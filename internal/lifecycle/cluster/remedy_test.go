// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"

	lab "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

// TestOCL09_remediationInterrupted dies at each change of a remediation, with the change done and
// without, and goes on: one attempt, one remediation, and the host is on in the end. Who goes on is
// the person again, or the cluster's apply, which may not even reach the cluster's API.
func TestOCL09_remediationInterrupted(t *testing.T) {
	t.Parallel()

	next := map[string]func(w *ward) cluster.Result{
		"the person":          func(w *ward) cluster.Result { return w.heal(sick, cluster.Remediation{}) },
		"the cluster's apply": func(w *ward) cluster.Result { return w.verb(watched(1)).Update(w.t.Context(), w.record) },
		"an apply without API": func(w *ward) cluster.Result {
			w.api.Remove("nodes", "", sick) // nobody is there to take the fence away

			r := w.verb(crew(1))
			r.Access = cluster.Access{}

			return r.Update(w.t.Context(), w.record)
		},
	}

	for who, again := range next {
		for _, after := range []bool{false, true} {
			for n := 1; n < 7; n++ {
				t.Run(fmt.Sprintf("%s, change %d, done: %t", who, n, after), func(t *testing.T) {
					t.Parallel()
					acctest.OneIn(t, 4)

					inWard(t, 1, 3, func(w *ward) {
						if !w.dies(n, after, func(ctx context.Context, run *cluster.Run) cluster.Result {
							return run.Remediate(ctx, sick, cluster.Remediation{Strategy: cluster.RemedyReboot})
						}) {
							w.t.Fatal("it was over before")
						}

						res := again(w)
						if res.Err != nil {
							w.t.Fatal(res.Err)
						}

						count := 1
						if n == 6 && after && res.Remedy != nil {
							count = 2 // it was over, only nobody was told: the person asks for another one
						}

						w.well(sick, count)

						if r := res.Remedy; r != nil && (r.Attempts != 1 || r.Count != count || r.Outcome != cluster.OutcomeHealthy || r.Resumed == "" && (n < 6 || !after)) {
							w.t.Errorf("%+v", r)
						}
					})
				})
			}
		}
	}
}

// TestOCL09_powerOnRefused: a lock that somebody holds is waited for.
func TestOCL09_powerOnRefused(t *testing.T) {
	t.Parallel()

	inWard(t, 1, 3, func(w *ward) {
		w.service.Inject(lab.Trouble{Match: "PUT /v1/nodes/*/states/power", Skip: 1, Times: 2, Locked: true})

		res := w.heal(sick, cluster.Remediation{Strategy: cluster.RemedyReboot})
		if res.Err != nil || res.Remedy.Outcome != cluster.OutcomeHealthy || res.Remedy.Attempts != 1 {
			w.t.Fatalf("%v, %+v", res.Err, res.Remedy)
		}

		w.well(sick, 1)
	})
}

// TestRemediate_fences: the machine is off before its Node is fenced, the fence holds until nothing is
// left there, and it is gone before the Node is waited for.
func TestRemediate_fences(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		how    cluster.Remediation
		events string
	}{
		"reboot":        {cluster.Remediation{Strategy: cluster.RemedyReboot}, "off edge-w-0, node edge-w-0, pod gone, on edge-w-0, node edge-w-0"},
		"never":         {cluster.Remediation{Strategy: cluster.RemedyReboot, Fence: cluster.FenceNever}, "off edge-w-0, on edge-w-0"},
		"power cycle":   {cluster.Remediation{Strategy: cluster.RemedyPowerCycle}, "off edge-w-0, on edge-w-0"},
		"second reboot": {cluster.Remediation{Strategy: cluster.RemedyReboot, Fence: cluster.FenceNever, RetryLimit: 1, Timeout: time.Minute}, "off edge-w-0, on edge-w-0, off edge-w-0, on edge-w-0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inWard(t, 1, 3, func(w *ward) {
				if c.how.RetryLimit > 0 {
					w.cured = 2
				}

				w.api.AddPod(kubetest.Pod{Name: "db-0", Node: sick})
				w.api.OnRequest(kubetest.Fault{Method: http.MethodGet, Path: "/api/v1/pods", Times: 1, Do: func(*http.Request) {
					w.later.Go(func() {
						time.Sleep(20 * time.Second)
						w.note("pod gone")
						w.api.RemovePod("default", "db-0")
					})
				}})

				res := w.heal(sick, c.how)
				if res.Err != nil || res.Remedy.Outcome != cluster.OutcomeHealthy || res.Remedy.Attempts != c.how.RetryLimit+1 || res.Remedy.Node != sick {
					w.t.Fatalf("%v, %+v", res.Err, res.Remedy)
				}

				if got := strings.Join(w.noted(), ", "); got != c.events {
					w.t.Errorf("got %s, want %s", got, c.events)
				}

				w.well(sick, 1)
			})
		})
	}
}

// TestRemediate_whatCannotBeFenced is switched on all the same.
func TestRemediate_whatCannotBeFenced(t *testing.T) {
	t.Parallel()

	inWard(t, 1, 3, func(w *ward) {
		w.api.AddPod(kubetest.Pod{Name: "db-0", Node: sick})

		res := w.heal(sick, cluster.Remediation{Strategy: cluster.RemedyReboot})
		if res.Err != nil || res.Remedy.Outcome != cluster.OutcomeHealthy || !warned(res, "was not fenced") {
			w.t.Errorf("%v, %+v, %v", res.Err, res.Remedy, res.Warnings)
		}

		w.well(sick, 1)
	})
}

// TestRemediate_withoutANode: nothing is fenced, and the Node that the boot brings is waited for.
func TestRemediate_withoutANode(t *testing.T) {
	t.Parallel()

	inWard(t, 1, 3, func(w *ward) {
		w.api.Remove("nodes", "", sick)

		res := w.heal(sick, cluster.Remediation{Strategy: cluster.RemedyReboot})
		if res.Err != nil || res.Remedy.Outcome != cluster.OutcomeHealthy || !slices.Equal(w.noted(), []string{"off " + sick, "on " + sick}) {
			w.t.Errorf("%v, %+v, %v", res.Err, res.Remedy, w.noted())
		}

		w.well(sick, 1)
	})
}

// TestRemediate_waitsForTheBoot: a Node that nobody has called ill yet is not one that is well again.
func TestRemediate_waitsForTheBoot(t *testing.T) {
	t.Parallel()

	inWard(t, 1, 3, func(w *ward) {
		w.quick = true
		w.api.AddNode(kubetest.Node{Name: sick, ProviderID: w.record.Machines[sick].ProviderID, BootID: "first", Ready: "True"})

		start := time.Now()

		res := w.heal(sick, cluster.Remediation{Strategy: cluster.RemedyPowerCycle})
		if res.Err != nil || res.Remedy.Outcome != cluster.OutcomeHealthy || time.Since(start) < bootTime {
			w.t.Errorf("after %s: %v, %+v", time.Since(start), res.Err, res.Remedy)
		}

		w.well(sick, 1)
	})
}

// TestRemediate_theOnlyControlPlane: its own API cannot fence it.
func TestRemediate_theOnlyControlPlane(t *testing.T) {
	t.Parallel()

	inWard(t, 1, 3, func(w *ward) {
		res := w.heal(master, cluster.Remediation{Strategy: cluster.RemedyReboot})
		if res.Err != nil || res.Remedy.Outcome != cluster.OutcomeHealthy || slices.Contains(w.noted(), "node "+master) {
			w.t.Errorf("%v, %+v, %v", res.Err, res.Remedy, w.noted())
		}

		w.well(master, 1)
	})
}

// TestRemediate_refusals: nothing is touched.
func TestRemediate_refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		machine, strategy string
		before            func(w *ward)
		by                func(w *cluster.Wanted)
		says              []string
	}{
		"no such machine": {machine: "edge-w-9", says: []string{`no machine "edge-w-9"`, "edge-cp-0, edge-w-0, edge-w-1"}},
		"no such cluster": {machine: sick, by: func(w *cluster.Wanted) { w.Name = "core" }, says: []string{"no cluster metal3/core"}},
		"another owner":   {machine: sick, by: func(w *cluster.Wanted) { w.OwnerID = "team-b" }, says: []string{`owner_id is "team-b"`, "nothing was touched"}},
		"maintenance": {
			machine: sick, says: []string{"in maintenance", "new fan", "nothing was touched"},
			before: func(w *ward) {
				if err := w.another().Maintain(w.t.Context(), w.record.Machines[sick].HostID, "new fan"); err != nil {
					w.t.Fatal(err)
				}
			},
		},
		"the only control plane rebuilt":  {machine: master, strategy: cluster.RemedyRebuild, says: []string{"not allowed", "would be lost"}},
		"the only control plane replaced": {machine: master, strategy: cluster.RemedyReplace, says: []string{"not allowed", "would be lost"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inWard(t, 1, 3, func(w *ward) {
				if c.before != nil {
					c.before(w)
					w.service.ResetCounts()
				}

				want := byHand()
				if c.by != nil {
					c.by(&want)
				}

				res := w.verb(want).Remediate(w.t.Context(), c.machine, cluster.Remediation{Strategy: c.strategy})
				w.says(res.Err, c.says...)
				w.untouched()

				if res.Remedy != nil {
					w.t.Errorf("it says that it began: %+v", res.Remedy)
				}
			})
		})
	}
}

// TestRemediate_controlPlaneOneAtATime: a member that is well is not taken down beside one that is not.
func TestRemediate_controlPlaneOneAtATime(t *testing.T) {
	t.Parallel()

	inWard(t, 3, 5, func(w *ward) {
		w.api.SetReady("edge-cp-1", "Unknown")

		res := w.heal(master, cluster.Remediation{Strategy: cluster.RemedyReboot})
		w.says(res.Err, "edge-cp-1", "heal that one first")
		w.untouched()

		if res = w.heal("edge-cp-1", cluster.Remediation{Strategy: cluster.RemedyReboot}); res.Err != nil || res.Remedy.Outcome != cluster.OutcomeHealthy {
			w.t.Errorf("%v, %+v", res.Err, res.Remedy)
		}

		w.dies(2, true, func(ctx context.Context, run *cluster.Run) cluster.Result {
			return run.Remediate(ctx, "edge-cp-1", cluster.Remediation{Strategy: cluster.RemedyReboot})
		})
		w.api.SetReady("edge-cp-1", "True")

		res = w.heal(master, cluster.Remediation{Strategy: cluster.RemedyReboot})
		w.says(res.Err, "edge-cp-1 is under remediation", "one at a time")
	})
}

// TestRemediate_whenNothingHelps: what follows the last attempt.
func TestRemediate_whenNothingHelps(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		then    string
		outcome cluster.Outcome
		phase   string
		says    string
	}{
		"fail":    {then: cluster.AfterFail, says: "2 attempts did not help"},
		"nothing": {then: cluster.AfterNone, outcome: cluster.OutcomeGivenUp},
		"replace": {then: cluster.AfterReplace, outcome: cluster.OutcomeNoted, phase: "replace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inWard(t, 1, 4, func(w *ward) {
				w.cured = 9

				res := w.heal(sick, cluster.Remediation{Strategy: cluster.RemedyReboot, RetryLimit: 1, Timeout: time.Minute, OnFailure: c.then})
				if c.says != "" {
					w.says(res.Err, c.says, "not healthy", "Ready is")
				} else if res.Err != nil {
					w.t.Fatal(res.Err)
				}

				if r := res.Remedy; r.Outcome != c.outcome || r.Attempts != 2 || r.Phase != c.phase || r.Count != 1 {
					w.t.Errorf("%+v", r)
				}

				if got := w.host(sick).Node.PowerState; got != ironic.PowerOn {
					w.t.Errorf("it is left %s", got)
				}
			})
		})
	}
}

func warned(res cluster.Result, text string) bool {
	return slices.ContainsFunc(res.Warnings, func(w cluster.Warning) bool { return strings.Contains(w.Summary+w.Detail, text) })
}
