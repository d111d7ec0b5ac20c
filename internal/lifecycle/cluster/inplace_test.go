// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

// TestUpdate_cleaningMode changes how hosts clean while their machines run, and nothing else of them: the
// host's own setting comes back when nothing is said any more, and when its machine leaves.
func TestUpdate_cleaningMode(t *testing.T) {
	t.Parallel()

	inWard(t, 1, 3, func(w *ward) {
		cleans := func(machine string) bool {
			have := w.host(machine).Node.AutomatedClean

			return have == nil || *have
		}

		want := crew(1)
		apply := func(mode string, replicas int) {
			w.t.Helper()

			want.Pools[1].CleaningMode, want.Pools[1].Replicas = mode, replicas
			before := w.record

			res := w.verb(want).Update(w.t.Context(), w.record)
			if res.Err != nil || !res.Record.Ready {
				w.t.Fatalf("%q: %+v", mode, res)
			}

			for name, now := range res.Record.Machines {
				if was := before.Machines[name]; now.Provisioned != was.Provisioned || now.HostID != was.HostID || !now.UpToDate {
					w.t.Errorf("%q: %s was %+v and is %+v", mode, name, was, now)
				}
			}

			w.record.Machines = res.Record.Machines
		}

		apply("disabled", 2)

		if cleans(sick) || cleans("edge-w-1") || !cleans(master) {
			w.t.Error("it was not set on the hosts of the pool")
		}

		left := w.record
		w.service.ResetCounts()
		apply("disabled", 2)

		if w.changes() > 0 {
			w.t.Errorf("a second apply sent %v", w.service.Counts())
		}

		w.patch(sick, "/automated_clean", true)

		if res := w.verb(want).Refresh(w.t.Context(), w.record); len(res.Record.Drift) != 1 || !strings.Contains(res.Record.Drift[0], "edge-w-0 does not clean") {
			w.t.Errorf("drift: %v", res.Record.Drift)
		}

		apply("disabled", 2)

		if cleans(sick) {
			w.t.Error("drift was not mended")
		}

		apply("disabled", 1)

		w.record.Machines = left.Machines // to find the host

		if !cleans("edge-w-1") {
			w.t.Error("the host of a machine that has left has no longer its own setting")
		}

		w.record.Machines = map[string]cluster.Machine{master: left.Machines[master], sick: left.Machines[sick]}
		apply("", 1)

		if !cleans(sick) {
			w.t.Error("nothing is said any more, and the host has not its own setting")
		}
	})
}
