// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestCluster_unknownIsNoPrice plans with values that another resource gives later: what may be made
// anew is told as that, and neither claimed nor counted.
func TestCluster_unknownIsNoPrice(t *testing.T) {
	t.Parallel()

	const (
		claim = "will be overwritten"
		data  = "user_data_template"
	)

	later := providertest.Unknown{}
	most := func(config Map, n int) Map { return merged(config, Map{"max_deprovision_per_apply": n}) }
	byHand := Map{"rollout": Map{"strategy": "on_delete"}}

	inLab(t, 5, func(w world) {
		w.apply(lived(4))

		for name, c := range map[string]struct {
			config        Map
			warns, denies string // what a warning says, and what none does
			open          bool   // whether the hosts of the workers are
		}{
			"user data of workers": {
				workersOf(Map{"replicas": 4, data: later}),
				`Disks of edge-w-0, edge-w-1, edge-w-2, edge-w-3 of cluster edge may be overwritten, as workers["w"].user_data_template is not known yet`, claim, true,
			},
			"with fewer machines than may go": {most(workersOf(Map{"replicas": 4, data: later}), 2), "is refused in that case: the apply would take down 4 machines", claim, true},
			"with as many as may go":          {most(workersOf(Map{"replicas": 4, data: later}), 4), "may be overwritten", "is refused", true},
			"a checksum and metadata": {
				workersOf(Map{"replicas": 4, "image": image(Map{"checksum": later}), "meta_data": Map{"a": later}}), `as workers["w"].image, workers["w"].meta_data are not known yet`, claim, true,
			},
			"another image beside it":    {workersOf(Map{"replicas": 4, data: later, "image": image(Map{"url": otherImage})}), "Disks of edge-w-0, edge-w-1, edge-w-2, edge-w-3 of cluster edge will be overwritten", "may be", true},
			"a machine less":             {workersOf(Map{"replicas": 3, data: later}), "Disks of edge-w-0, edge-w-1, edge-w-2 of cluster edge may be", claim, true},
			"a pool made anew by hand":   {workersOf(byHand, Map{"replicas": 4, data: later}), "", "overwritten", false},
			"user data of one machine":   {workersOf(Map{"replicas": 4, "machine_overrides": Map{"edge-w-1": Map{"user_data": later}}}), "Disks of edge-w-1 of cluster edge may be", "edge-w-0", false},
			"labels of one machine":      {workersOf(Map{"replicas": 4, "machine_overrides": Map{"edge-w-1": Map{"labels": Map{"a": later}}}}), "", "overwritten", false},
			"a class of hosts":           {workersOf(Map{"replicas": 4, "resource_class": later}), "", "overwritten", false},
			"user data of control plane": {merged(controlOf(Map{data: later}), Map{"workers": lived(4)["workers"]}), "Disks of edge-cp-0 of cluster edge may be overwritten, as control_plane.user_data_template is not known yet", "edge-w-0", false},
		} {
			o := w.Plan(w.ctx, c.config)

			if o.Errors != "" || !strings.Contains(o.Warnings, c.warns) || c.denies != "" && strings.Contains(o.Warnings, c.denies) {
				t.Errorf("%s: %s\nwarnings %q", name, o.Errors, o.Warnings)
			}

			if _, open := acctest.Get(o.Planned, "machines.edge-w-0.host_id").(providertest.Unknown); open != c.open {
				t.Errorf("%s: a worker's host is open: %v", name, open)
			}
		}

		unasked := func(url any) Map {
			return merged(controlOf(Map{"image": image(Map{"url": url}), "rollout": Map{"max_surge": "1"}}), Map{"workers": lived(4)["workers"]})
		}

		if o := w.Plan(w.ctx, unasked(later)); o.Errors != "" || !strings.Contains(o.Warnings, "is refused in that case: the control plane is not made anew (edge-cp-0)") {
			t.Errorf("a control plane that nobody can ask: %s\n%s", o.Errors, o.Warnings)
		}

		w.Mark()

		same := workersOf(Map{"replicas": 4})
		if o := w.ApplyUnknown(w.ctx, most(workersOf(Map{"replicas": 4, data: later}), 1), most(same, 1)); o.Errors != "" || len(w.Sent()) != 0 {
			t.Errorf("a value that turns out to be the one that was: %s%v", o.Errors, w.Sent())
		}
	})
}
