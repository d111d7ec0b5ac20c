// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// cluster is the cluster of a configuration.
func cluster(path any) Map {
	return Map{"workload": Map{"kubeconfig_path": path, "resource_type": "dra"}}
}

// TestOTF05_workloadUnknownAtPlan: a kubeconfig comes from a cluster that is made in the same apply, and
// so do its machines.
func TestOTF05_workloadUnknownAtPlan(t *testing.T) {
	t.Parallel()

	host := func(name any) Map { return Map{"hosts": []any{Map{"machine_id": m0, "node_name": name}}} }
	full := gpus(0, host("n"), Map{"workload": Map{"kubeconfig": "k", "context": "c", "resource_type": "dra", "operator_namespace": "gpu"}})

	for name, planned := range map[string]Map{
		"all of it":      gpus(0, full, Map{"workload": providertest.Unknown{}}),
		"the kubeconfig": gpus(0, full, Map{"workload": Map{"kubeconfig": providertest.Unknown{}, "context": "c", "resource_type": "dra", "operator_namespace": "gpu"}}),
		"the mode":       gpus(0, full, Map{"workload": Map{"kubeconfig": "k", "context": "c", "resource_type": providertest.Unknown{}, "operator_namespace": "gpu"}}),
		"a node's name":  gpus(0, full, host(providertest.Unknown{})),
		"the machines":   gpus(0, full, Map{"hosts": providertest.Unknown{}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				if o := w.ApplyUnknown(w.ctx, planned, full); o.Errors != "" || w.Get("state") != "Running" {
					t.Fatalf("create: %s", o.Errors)
				}
			})
		})
	}
}

// TestGPU_workloadThatCannotBeAsked: a kubeconfig that is not there stops what takes GPUs away and what
// attaches them, and neither a plan nor a destroy that may do without.
func TestGPU_workloadThatCannotBeAsked(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(1, node()))

		lost := cluster(filepath.Join(t.TempDir(), "nowhere"))

		reads := w.farm.attached
		w.apply(gpus(1, node(), lost)) // a mere setting

		if o := w.Apply(w.ctx, gpus(2, node(), lost)); !strings.Contains(o.Errors, "nowhere") || w.farm.attached != reads {
			t.Errorf("one more: %d attached: %s", w.farm.attached, o.Errors)
		}

		if o := w.Apply(w.ctx, gpus(1, node(), lost, Map{"refresh_node": true})); o.Errors != "" || len(w.devices()) != 1 {
			t.Errorf("settings: %s", o.Errors)
		}

		if o := w.Plan(w.ctx, gpus(1, node(), lost, Map{"refresh_node": true})); o.Errors != "" || o.Action != "" || !strings.Contains(o.Warnings, "kept as they were") {
			t.Errorf("a refresh: %q: %s; warnings %s", o.Action, o.Errors, o.Warnings)
		}

		if o := w.Apply(w.ctx, nil); !strings.Contains(o.Errors, "correct workload") || w.farm.detached != 0 {
			t.Errorf("destroy: %d detached: %s", w.farm.detached, o.Errors)
		}

		w.apply(gpus(1, node(), lost, Map{"force_detach": true}))

		if o := w.Apply(w.ctx, nil); o.Errors != "" || w.Exists() || !strings.Contains(o.Warnings, "over its connection alone") {
			t.Errorf("forced: %s; warnings %s", o.Errors, o.Warnings)
		}
	})
}

// TestGPU_kubeconfigIsNeverTold: what is wrong with a kubeconfig is said without its words.
func TestGPU_kubeconfigIsNeverTold(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		secret := "apiVersion: v1\nkind: Config\nusers: [{name: a, user: {token: t0ps3cret}}]\nclusters: {"
		config := gpus(1, Map{"workload": Map{"kubeconfig": secret, "resource_type": "dra"}})

		o := w.Apply(w.ctx, config)
		if !strings.Contains(o.Errors, "kubeconfig") || strings.Contains(o.Errors+o.Warnings, "t0ps3cret") || w.farm.attached != 0 {
			t.Errorf("%d attached: %s", w.farm.attached, o.Errors)
		}
	})
}
