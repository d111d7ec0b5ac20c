// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

// TestRollout_cutShortLeavesNoCordon dies at each change of a rebuild: a Node that was drained for it takes
// Pods again after the next apply, which its plan knows, and a person's cordon stays.
func TestRollout_cutShortLeavesNoCordon(t *testing.T) {
	t.Parallel()

	done := false // at least once the machine was made anew, and its Node was forgotten

	for n := range 9 {
		inWard(t, 1, 3, func(w *ward) {
			want := renewed()
			want.Wait.Level = cluster.LevelRegistered
			want.Pools[1].Rollout.Strategy = cluster.Rebuild

			w.cordons("edge-w-1")
			w.dies(n, n%2 == 0, func(ctx context.Context, run *cluster.Run) cluster.Result {
				run.Wanted = want

				return run.Update(ctx, w.record)
			})

			seen := w.verb(want).Refresh(w.t.Context(), w.record)
			if seen.Record.Machines[sick].UpToDate && w.api.Cordoned(sick) {
				done = true

				if !slices.ContainsFunc(seen.Record.Drift, func(d string) bool { return strings.Contains(d, sick+": it takes no Pods since a drain") }) {
					w.t.Errorf("change %d: drift: %v", n, seen.Record.Drift)
				}
			}

			res := w.verb(want).Update(w.t.Context(), seen.Record)
			if res.Err != nil || w.api.Cordoned(sick) || w.api.Cordoned(master) || !w.api.Cordoned("edge-w-1") {
				w.t.Errorf("change %d: %v; cordoned: %s %t, %s %t, edge-w-1 %t", n, res.Err, sick, w.api.Cordoned(sick), master, w.api.Cordoned(master), w.api.Cordoned("edge-w-1"))
			}
		})
	}

	if !done {
		t.Error("no apply ended between the deployment and the end of its cordon")
	}
}

// cordons is a person who takes a Node out of use.
func (w *ward) cordons(node string) {
	w.t.Helper()

	api, err := kube.New(kube.Config{Kubeconfig: w.api.Kubeconfig(), Dial: w.api.Dial})
	if err == nil {
		err = api.Cordon(w.t.Context(), node, true)
	}

	if err != nil {
		w.t.Fatal(err)
	}
}
