// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

// TestQuorum_isNotRolledAway asks which rollouts would end a cluster's etcd.
func TestQuorum_isNotRolledAway(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change  func(w *cluster.Wanted)
		refused bool
	}{
		"the only member": {func(*cluster.Wanted) {}, true},
		"one of two":      {func(w *cluster.Wanted) { w.Pools[0].Replicas = 2 }, true},
		"one of three":    {func(w *cluster.Wanted) { w.Pools[0].Replicas = 3 }, false},
		"beside another":  {func(w *cluster.Wanted) { w.Pools[0].Rollout.MaxSurge.Number = 1 }, false},
		"in place": {func(w *cluster.Wanted) {
			w.Pools[0].Rollout = cluster.Rollout{Strategy: cluster.Rebuild, MaxSurge: cluster.Share{Number: 1}}
		}, true},
		"no etcd of ours":          {func(w *cluster.Wanted) { w.Bootstrap = nil }, false},
		"etcd elsewhere":           {func(w *cluster.Wanted) { w.ExternalEtcd = true }, false},
		"a cluster that may go":    {func(w *cluster.Wanted) { w.AllowDisruption = true }, false},
		"a cluster of workers":     {func(w *cluster.Wanted) { w.Pools = w.Pools[1:] }, false},
		"the only member, rebuilt": {func(w *cluster.Wanted) { w.Pools[0].Rollout.Strategy = cluster.Rebuild }, true},
	} {
		w := wanted()
		w.Bootstrap = &cluster.Bootstrap{}
		c.change(&w)

		if err := w.CheckQuorum([]string{"edge-cp-0"}); (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}

		if err := w.CheckQuorum(nil); err != nil {
			t.Errorf("%s, and nobody goes: %v", name, err)
		}
	}
}

// TestQuorum_isAskedAtApply updates a cluster to what its plan could not know: another template of
// the only machine that has its etcd.
func TestQuorum_isAskedAtApply(t *testing.T) {
	t.Parallel()

	bubble(t, 3, func(r *rig) {
		made := r.run(wanted()).Create(r.t.Context())
		if made.Err != nil {
			r.t.Fatal(made.Err)
		}

		r.service.ResetCounts()

		w := wanted()
		w.Bootstrap = &cluster.Bootstrap{} // whose settings are part of what machines are made from

		res := r.run(w).Update(r.t.Context(), made.Record)
		if res.Err == nil || !strings.Contains(res.Err.Error(), "would not survive its rollout (edge-cp-0)") || r.changes() != 0 {
			r.t.Errorf("%v, %d changes", res.Err, r.changes())
		}
	})
}
