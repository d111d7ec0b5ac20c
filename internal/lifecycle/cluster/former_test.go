// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

// TestUpdate_poolThatIsGone takes a whole pool out: its machines leave as the pool said.
func TestUpdate_poolThatIsGone(t *testing.T) {
	t.Parallel()

	for name, drain := range map[string]string{"drained": cluster.DrainRequired, "not drained": cluster.DrainNever} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inWard(t, 1, 3, func(w *ward) {
				for machine, m := range w.record.Machines {
					m.Node = machine
					w.record.Machines[machine] = m

					// As if it had been off before its machine came: what keeps it on is the pool alone.
					w.patch(machine, "/instance_info/metal3/power_was", string(ironic.PowerOff))
				}

				w.api.AddPod(kubetest.Pod{Namespace: "default", Name: "web", Node: sick})

				want := crew(1)
				want.Wait.Level = cluster.LevelRegistered
				gone := want.Pools[1]
				gone.PreDeprovision, gone.KeepPower, gone.Rollout.Drain = []cluster.Hook{{Command: "bye"}}, true, drain
				want.Pools, want.Former = want.Pools[:1], []cluster.Pool{gone}

				var (
					mu    sync.Mutex
					hooks []string
				)

				run := w.verb(want)
				run.Hook = func(_ context.Context, m cluster.Machine, hook cluster.Hook) error {
					mu.Lock()
					defer mu.Unlock()

					hooks = append(hooks, m.Name+" "+hook.Command)

					return nil
				}

				res := run.Update(w.t.Context(), w.record)
				if res.Err != nil || !res.Record.Ready || len(res.Record.Machines) != 1 {
					w.t.Fatalf("%+v", res)
				}

				if slices.Sort(hooks); !slices.Equal(hooks, []string{sick + " bye", "edge-w-1 bye"}) {
					w.t.Errorf("hooks: %v", hooks)
				}

				if evicted := len(w.api.Evictions()) > 0; evicted != (drain == cluster.DrainRequired) {
					w.t.Errorf("evictions: %v", w.api.Evictions())
				}

				for _, machine := range []string{sick, "edge-w-1"} {
					if n := w.host(machine).Node; n.InstanceUUID != "" || n.PowerState != ironic.PowerOn {
						w.t.Errorf("the host of %s is %s, with claim %q", machine, n.PowerState, n.InstanceUUID)
					}
				}
			})
		})
	}
}

// patch changes one value of the host of a machine, past its cluster.
func (w *ward) patch(machine, path string, value any) {
	w.t.Helper()

	if _, err := w.another().Patch(w.t.Context(), w.record.Machines[machine].HostID, []ironic.Patch{{Op: "add", Path: path, Value: value}}); err != nil {
		w.t.Fatal(err)
	}
}
