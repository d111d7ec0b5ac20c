// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
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
			"nor in place of them":                             {rolled("1", "1", small), stops, "no host would be left for them: 1 host is missing"},
			"nor in place of them, but they keep theirs":       {rolled("1", "1", small, Map{"node_reuse": "required"}), without, "999"},
			"there is none for who comes, which is said alone": {rolled("1", "0", Map{"replicas": 4}), few, ""},
			"there is none for who comes, and others go on": {
				merged(rolled("0", "1", Map{"replicas": 4}, small), Map{"on_insufficient_hosts": "partial"}), none, "needs 2 more machines, and has hosts for 0 of them",
			},
			"they are only claimed": {merged(rolled("0", "1", small), Map{"wait": Map{"level": "claimed"}}), "", ""},
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

// TestCluster_planOfFailedMachines: a machine whose deployment failed is deployed again where it is. No plan
// takes that for a rollout, with machines beside it and hosts for those.
func TestCluster_planOfFailedMachines(t *testing.T) {
	t.Parallel()

	inLab(t, 4, func(w world) {
		config := func(parts ...Map) Map {
			m := workersOf(parts...)
			m["workers"].(Map)["x"] = pool(1, Map{"data_template": theTemplate, "ip_index_offset": 12})

			return merged(m, Map{"on_host_error": "fail"})
		}

		w.breaks(1)
		w.breaks(2)

		if w.Apply(w.ctx, config()); w.Get("machines.edge-w-1.state") != "error" {
			t.Fatalf("it did not fail: %v", w.Get("machines.edge-w-1"))
		}

		w.works(1)
		w.works(2)

		mended := config(Map{"image": image(Map{"url": otherImage}), "rollout": Map{"max_surge": "1", "max_unavailable": "0"}})

		if o := w.Plan(w.ctx, mended); o.Errors != "" || strings.Contains(o.Warnings, "would stop") {
			t.Errorf("%s: %s", o.Errors, o.Warnings)
		}

		w.apply(mended)
	})
}

// TestCluster_planOfAddressesThatMayGo: a machine that may be made anew keeps an address that its pool no
// longer has, as long as it turns out that it is not; the plan says what is refused otherwise.
func TestCluster_planOfAddressesThatMayGo(t *testing.T) {
	t.Parallel()

	less := pools(Map{"prov": prov(Map{"ranges": []any{Map{"start": "192.0.2.100", "end": "192.0.2.110"}}})})

	for _, surge := range []string{"0", "1"} {
		inLab(t, 4, func(w world) {
			config := func(data any, parts ...Map) Map {
				return merged(workersOf(Map{"user_data": data, "rollout": Map{"max_surge": surge}}), parts...)
			}

			w.apply(config("a"))

			if o := w.Plan(w.ctx, config(providertest.Unknown{}, less)); o.Errors != "" || !strings.Contains(o.Warnings, "The apply is refused in that case: machine edge-w-1") {
				t.Errorf("surge %s: %s: %s", surge, o.Errors, o.Warnings)
			}

			if o := w.ApplyUnknown(w.ctx, config(providertest.Unknown{}, less), config("a", less)); o.Errors != "" || w.Get("machines.edge-w-1.addresses.prov.address") != "192.0.2.111" {
				t.Errorf("surge %s: %s: %v", surge, o.Errors, w.Get("machines.edge-w-1"))
			}
		})
	}
}
