// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

// TestRepair_whatMayBeTouched: machines that are ill are healed by the cluster's apply, where so few
// are that it is not the eyes, and where no data would be lost.
func TestRepair_whatMayBeTouched(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		ill     []string
		limit   string
		masters int
		healed  []string
		says    string
	}{
		"one of two, of 50%":           {ill: []string{sick}, limit: "50%", masters: 1, healed: []string{sick}},
		"two of two, of 50%":           {ill: []string{sick, "edge-w-1"}, limit: "50%", masters: 1, says: "2 of the 2 machines"},
		"two of two, of 2":             {ill: []string{sick, "edge-w-1"}, limit: "2", masters: 1, healed: []string{sick, "edge-w-1"}},
		"the only control plane":       {ill: []string{master}, limit: "100%", masters: 1, says: "control plane has 1 machine"},
		"one of three of the control":  {ill: []string{master}, limit: "0", masters: 3, healed: []string{master}},
		"two of three of the control":  {ill: []string{master, "edge-cp-1"}, limit: "100%", masters: 3, says: "one at a time"},
		"nobody":                       {limit: "0", masters: 1},
		"one that was ill for a while": {limit: "0", masters: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inWard(t, c.masters, c.masters+2, func(w *ward) {
				if strings.Contains(name, "for a while") {
					w.api.SetReady(sick, "False")
					w.later.Go(func() {
						time.Sleep(6*time.Minute + 10*time.Second)
						w.api.SetReady(sick, "True")
					})
				}

				for _, one := range c.ill {
					w.api.SetReady(one, "Unknown")
				}

				time.Sleep(6 * time.Minute)

				want := watched(c.masters)
				want.Remediation.MaxUnhealthy, _ = cluster.ParseShare(c.limit)

				res := w.verb(want).Update(w.t.Context(), w.record)
				if res.Err != nil || c.says != "" && !warned(res, c.says) {
					w.t.Errorf("%v, %+v", res.Err, res.Warnings)
				}

				var off []string

				for _, event := range w.noted() {
					if one, ok := strings.CutPrefix(event, "off "); ok {
						off = append(off, one)
					}
				}

				if !slices.Equal(off, c.healed) {
					w.t.Errorf("switched off: %v, want %v", off, c.healed)
				}

				for _, one := range c.healed {
					w.well(one, 1)
				}
			})
		})
	}
}

// TestRepair_leavesMaintenanceAlone: somebody works on the host of a remediation that was cut short.
func TestRepair_leavesMaintenanceAlone(t *testing.T) {
	t.Parallel()

	inWard(t, 1, 3, func(w *ward) {
		w.dies(2, true, func(ctx context.Context, run *cluster.Run) cluster.Result {
			return run.Remediate(ctx, sick, cluster.Remediation{Strategy: cluster.RemedyReboot})
		})

		res := w.verb(watched(1)).Refresh(w.t.Context(), w.record)
		if !slices.ContainsFunc(res.Record.Drift, func(d string) bool { return strings.Contains(d, "its remediation was cut short") }) {
			w.t.Errorf("drift: %v", res.Record.Drift)
		}

		if err := w.another().Maintain(w.t.Context(), w.record.Machines[sick].HostID, "new fan"); err != nil {
			w.t.Fatal(err)
		}

		before := len(w.noted())

		if res = w.verb(watched(1)).Refresh(w.t.Context(), w.record); len(res.Record.Drift) > 0 || res.Record.Machines[sick].Healthy {
			w.t.Errorf("what no apply touches is drift: %v", res.Record.Drift)
		}

		res = w.verb(watched(1)).Update(w.t.Context(), w.record)
		if len(w.noted()) > before || !warned(res, "in maintenance now: new fan") {
			w.t.Errorf("%v, %v, %+v", res.Err, w.noted()[before:], res.Warnings)
		}
	})
}

// TestRepair_doesWhatAPersonNoted: to make a machine anew needs what the cluster makes it from.
func TestRepair_doesWhatAPersonNoted(t *testing.T) {
	t.Parallel()

	for strategy, drift := range map[string]string{cluster.RemedyReplace: "is to be replaced", cluster.RemedyRebuild: "is to be rebuilt"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()

			inWard(t, 1, 4, func(w *ward) {
				for i := range 2 { // asked for twice, it is done once
					res := w.heal(sick, cluster.Remediation{Strategy: strategy})
					if res.Err != nil || res.Remedy.Outcome != cluster.OutcomeNoted || res.Remedy.Count != 1 || !warned(res, "next apply of metal3_cluster metal3/edge") {
						w.t.Fatalf("%d: %v, %+v, %+v", i, res.Err, res.Remedy, res.Warnings)
					}
				}

				seen := w.verb(watched(1)).Refresh(w.t.Context(), w.record)
				if !slices.ContainsFunc(seen.Record.Drift, func(d string) bool { return strings.Contains(d, drift) }) {
					w.t.Errorf("drift: %v", seen.Record.Drift)
				}

				res := w.run(crew(1)).Update(w.t.Context(), w.record)
				if res.Err != nil || !res.Record.Ready {
					w.t.Fatalf("%+v", res)
				}

				old, m := w.host(sick), res.Record.Machines[sick]
				if remade := strategy == cluster.RemedyReplace; remade == (m.HostID == old.Node.UUID) || remade == (old.Journal.Unhealthy == nil) || remade && old.Node.PowerState != ironic.PowerOff {
					w.t.Errorf("it is on %s now; the old host is %s and says %v", m.HostName, old.Node.PowerState, old.Journal.Unhealthy)
				}

				if m.Remediations != 1 {
					w.t.Errorf("%d remediations", m.Remediations)
				}

				w.service.ResetCounts()

				if again := w.run(crew(1)).Update(w.t.Context(), res.Record); again.Err != nil || w.changes() > 0 || len(again.Record.Drift) > 0 {
					w.t.Errorf("a second apply: %v; it sent %v", again.Err, w.service.Counts())
				}
			})
		})
	}
}

// TestRepair_staysWithoutAnotherHost: a machine does not leave its host for nothing.
func TestRepair_staysWithoutAnotherHost(t *testing.T) {
	t.Parallel()

	inWard(t, 1, 3, func(w *ward) {
		w.heal(sick, cluster.Remediation{Strategy: cluster.RemedyReplace})

		res := w.run(crew(1)).Update(w.t.Context(), w.record)
		w.says(res.Err, "stays where it is", sick)

		if s := w.host(sick); s.Node.ProvisionState != ironic.Active || s.Journal.Unhealthy != nil || s.Node.PowerState != ironic.PowerOn {
			w.t.Errorf("%s, %s, %v", s.Node.ProvisionState, s.Node.PowerState, s.Journal.Unhealthy)
		}

		// The person wants something else then.
		if res = w.heal(sick, cluster.Remediation{Strategy: cluster.RemedyReboot}); res.Err != nil {
			w.t.Error(res.Err)
		}

		w.well(sick, 1)
	})
}

// TestRepair_rebuildInterrupted dies at each change of an apply that makes a machine anew.
func TestRepair_rebuildInterrupted(t *testing.T) {
	t.Parallel()

	for _, strategy := range []string{cluster.RemedyRebuild, cluster.RemedyReplace} {
		for n := range 14 {
			t.Run(fmt.Sprintf("%s, change %d", strategy, n), func(t *testing.T) {
				t.Parallel()
				acctest.OneIn(t, 4)

				inWard(t, 1, 4, func(w *ward) {
					w.heal(sick, cluster.Remediation{Strategy: strategy})
					w.killed(n, n%2 == 0, crew(1), func(ctx context.Context, run *cluster.Run) cluster.Result { return run.Update(ctx, w.record) })

					seen := w.run(crew(1)).Refresh(w.t.Context(), w.record)

					res := w.run(crew(1)).Update(w.t.Context(), seen.Record)
					if res.Err != nil || !res.Record.Ready || len(w.claims()) != 3 {
						w.t.Fatalf("%+v; claims: %v", res, w.claims())
					}

					if moved := res.Record.Machines[sick].HostID != w.record.Machines[sick].HostID; moved != (strategy == cluster.RemedyReplace) {
						w.t.Errorf("it is on %s", res.Record.Machines[sick].HostName)
					}

					w.service.ResetCounts()

					if again := w.run(crew(1)).Update(w.t.Context(), res.Record); again.Err != nil || w.changes() > 0 {
						w.t.Errorf("a third apply: %v; it sent %v", again.Err, w.service.Counts())
					}
				})
			})
		}
	}
}

// A machine that was drained for its new template takes pods again once it runs that.
func TestRollout_rebuiltMachinesTakePods(t *testing.T) {
	t.Parallel()
	inWard(t, 1, 3, func(w *ward) {
		want := watched(1)
		image := *want.Pools[1].Image
		image.URL = "http://images.lab/debian-12.raw"
		want.Pools[1].Image = &image
		want.Pools[1].Rollout.Strategy = cluster.Rebuild

		seen := w.verb(want).Refresh(w.t.Context(), w.record)

		res := w.verb(want).Update(w.t.Context(), seen.Record)
		if res.Err != nil || !res.Record.Ready {
			w.t.Fatalf("%v: %s", res.Err, res.Stands)
		}

		for name, m := range res.Record.Machines {
			spec, _ := w.api.Object("nodes", "", name)["spec"].(map[string]any)
			if spec["unschedulable"] == true || m.Pool == "w" && m.ImageURL != image.URL {
				w.t.Errorf("%s: %+v; %v", name, m, spec)
			}
		}
	})
}
