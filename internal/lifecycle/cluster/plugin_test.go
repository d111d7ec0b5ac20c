// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

// TestHooks_mayMakeNodesReady: a command that installs the network plug-in comes before the wait for what
// it brings about, and after the Node has come.
func TestHooks_mayMakeNodesReady(t *testing.T) {
	t.Parallel()
	inWard(t, 1, 6, func(w *ward) {
		want := crew(1)
		want.Wait.Level = cluster.LevelNodes
		want.Pools[1].Replicas = 3
		want.Pools[1].PostProvision = []cluster.Hook{{Command: "plug"}}

		run := hears(w.verb(want), func(text string) {
			if strings.HasSuffix(text, "waiting for the Node of machine edge-w-2") && w.api.Labels("edge-w-2") == nil {
				w.api.AddNode(kubetest.Node{Name: "edge-w-2", Ready: "False"})
			}
		})

		var ran []string

		run.Hook = func(_ context.Context, m cluster.Machine, h cluster.Hook) error {
			if w.api.Labels(m.Name) == nil {
				w.t.Errorf("there is no Node %s", m.Name)
			}

			ran = append(ran, m.Name+" "+h.Command)
			w.api.SetReady(m.Name, "True")

			return nil
		}

		res := run.Update(w.t.Context(), w.record)
		if res.Err != nil || !res.Record.Ready || len(ran) != 1 || ran[0] != "edge-w-2 plug" {
			w.t.Errorf("ready %t, hooks %v: %v", res.Record.Ready, ran, res.Err)
		}
	})
}
