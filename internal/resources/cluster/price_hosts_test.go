// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"
)

// TestCluster_planLooksForHosts: a plan says where the hosts of the moment do not suffice for machines that
// are made anew, and what the apply does then.
func TestCluster_planLooksForHosts(t *testing.T) {
	t.Parallel()

	const (
		stops   = "The rollout of pool w of cluster edge would stop"
		without = "Pool w of cluster edge is rolled out without machines beside it"
		none    = "Cluster edge has no hosts for the machines that it makes anew"
		few     = "needs 2 more machines, and has hosts for 1 of them"
	)

	inLab(t, 4, func(w world) {
		w.apply(lived(2)) // three hosts of four

		rolled := func(surge, unavailable string, parts ...Map) Map {
			return workersOf(append(parts, Map{
				"image":   image(Map{"url": otherImage}),
				"rollout": Map{"strategy": "replace", "max_surge": surge, "max_unavailable": unavailable},
			})...)
		}
		more, small := Map{"replicas": 3}, Map{"min_hardware": Map{"cpus": 999}}

		for name, c := range map[string]struct {
			config Map
			says   string
			words  string
		}{
			"a host is free":                                   {rolled("1", "0"), "", ""},
			"their own hosts are":                              {rolled("0", "1"), "", ""},
			"the free host is for one more":                    {rolled("1", "0", more), stops, "add a host, or let one be unavailable"},
			"the free host is for one more, and one may go":    {rolled("1", "1", more), without, "At most 1 at a time"},
			"their own hosts will not do, nor does another":    {rolled("0", "1", small), none, "edge-w-0"},
			"they stay on hosts that will not do":              {rolled("0", "1", small, Map{"node_reuse": "required"}), "", ""},
			"no host will do beside them":                      {rolled("1", "0", small), stops, "999"},
			"there is none for who comes, which is said alone": {rolled("1", "0", Map{"replicas": 4}), few, ""},
			"they are only claimed":                            {merged(rolled("0", "1", small), Map{"wait": Map{"level": "claimed"}}), "", ""},
		} {
			o := w.Plan(w.ctx, c.config)
			text := strings.Join(strings.Fields(o.Warnings), " ")

			if o.Errors != "" || c.says != "" && !strings.Contains(text, c.says) || !strings.Contains(text, c.words) {
				t.Errorf("%s: %s, warnings %q", name, o.Errors, o.Warnings)
			}

			for _, other := range []string{stops, without, none, few} {
				if other != c.says && strings.Contains(text, other) {
					t.Errorf("%s: it says %q", name, o.Warnings)
				}
			}
		}
	})
}
