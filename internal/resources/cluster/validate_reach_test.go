// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestCluster_whatHasNoEffect are configurations that say something which nobody looks at: a plan tells.
func TestCluster_whatHasNoEffect(t *testing.T) {
	t.Parallel()

	reached := func(level any, parts ...Map) Map {
		return edge(append([]Map{{"workload_api": Map{"kubeconfig_path": "/k"}, "wait": Map{"level": level}}}, parts...)...)
	}
	labelled := workers(Map{"node_labels": Map{"a": "b"}, "node_taints": []any{Map{"key": "a", "effect": "NoSchedule"}}})
	settled := func(level any) Map { return reached(level, Map{"wait": Map{"level": level, "settle": "10s"}}) }

	for name, c := range map[string]struct {
		config Map
		want   []string // in the warnings; nil: there are none
	}{
		"labels of Nodes that nobody looks at": {reached("api", labelled), []string{`workers["w"].node_labels`, `workers["w"].node_taints`, `wait.level = "api"`}},
		"labels of Nodes that are looked at":   {reached("registered", labelled), nil},
		"labels, and a level that is open":     {reached(providertest.Unknown{}, labelled), nil},
		"prefixes of labels":                   {reached("provisioned", Map{"label_sync_prefixes": []any{"example.com"}}), []string{"label_sync_prefixes"}},
		"a drain that nobody can do":           {reached("api", workers(Map{"rollout": Map{"drain": "required"}})), []string{`workers["w"].rollout.drain`}},
		"Nodes that are ready for a while":     {settled("nodes"), nil},
		"Nodes that need not be ready":         {settled("registered"), []string{`wait.settle of cluster edge has no effect`}},
		"Nodes that need not be, without a level": {
			edge(Map{"wait": Map{"settle": "10s"}}), []string{`wait.settle of cluster edge has no effect`},
		},
		"how long, and a level that is open": {settled(providertest.Unknown{}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := acctest.NewCore(t, theCluster, Map{}).Plan(t.Context(), c.config)
			if o.Errors != "" || (o.Warnings == "") != (len(c.want) == 0) {
				t.Errorf("%s%s", o.Errors, o.Warnings)
			}

			for _, text := range c.want {
				if !strings.Contains(o.Warnings, text) {
					t.Errorf("no %q in %s", text, o.Warnings)
				}
			}
		})
	}
}
