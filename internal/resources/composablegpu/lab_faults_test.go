// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

// TestLab_killedRun loses the state of an apply, as kill -9 does between the order and the
// answer to Terraform: the journal knows, and the next apply goes on.
func TestLab_killedRun(t *testing.T) {
	t.Parallel()

	inLab(t, "fti_fm", lab.Options{}, func(w labWorld) {
		if o := w.Apply(w.ctx, labGPUs(2)); o.Errors != "" {
			t.Fatal(o.Errors)
		}

		w.Forget()

		o := w.Apply(w.ctx, labGPUs(2))
		if o.Errors != "" || w.devices() != 2 || w.orders() != 2 || !strings.Contains(o.Warnings, "earlier run") {
			t.Errorf("%d in the state, %d orders: %s / %s", w.devices(), w.orders(), o.Errors, o.Warnings)
		}

		// What a state has is in no journal: other devices of the kind stop the apply.
		w.Plan(w.ctx, labGPUs(2))
		w.Forget()

		if o := w.Apply(w.ctx, labGPUs(2)); !strings.Contains(o.Errors, "that this resource does not know") || w.orders() != 2 {
			t.Errorf("%d orders: %s", w.orders(), o.Errors)
		}

		// An import is the way that the error names.
		if o := w.Import(w.ctx, strings.TrimSpace(quoted(w.Apply(w.ctx, labGPUs(2)).Errors))); o.Errors != "" || w.devices() != 2 {
			t.Errorf("import: %s", o.Errors)
		}
	})
}

// quoted is the first text in quotes that has a slash inside.
func quoted(s string) string {
	for _, part := range strings.Split(s, `"`) {
		if strings.Contains(part, "/") && !strings.ContainsAny(part, ":\n") {
			return part
		}
	}

	return ""
}

// TestOGPU02_criticalOnArrival has a device that arrives unfit.
func TestOGPU02_criticalOnArrival(t *testing.T) {
	t.Parallel()

	for policy, c := range map[string]struct {
		left  int
		fails bool
	}{"detach": {0, true}, "keep": {1, false}} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()

			inLab(t, "fti_fm", lab.Options{}, func(w labWorld) {
				if err := w.Fabric.Edit(func(d *hardware.Device) { d.OpStatus = "2" }); err != nil {
					t.Fatal(err)
				}

				o := w.Apply(w.ctx, labGPUs(1, Map{"on_unhealthy": policy}))
				if (o.Errors != "") != c.fails || len(w.left("node-0")) != c.left || w.devices() != c.left || !o.Says("critical") {
					t.Errorf("left %v, state %v: %s / %s", w.left("node-0"), w.State(), o.Errors, o.Warnings)
				}

				if c.fails {
					return
				}

				if p := w.Plan(w.ctx, labGPUs(1, Map{"on_unhealthy": policy})); p.Action != "" {
					t.Errorf("the plan after it is %q, changes %v", p.Action, p.Changed)
				}
			})
		})
	}
}

// TestLab_thirdParty attaches in the same seconds: nothing is taken that may not be ours.
func TestLab_thirdParty(t *testing.T) {
	t.Parallel()

	inLab(t, "fti_fm", lab.Options{}, func(w labWorld) {
		f := ordering(labfabric.ThirdParty("", "node-0", "A100"))
		f.DropAfter = true
		w.Fabric.Inject(f)

		o := w.Apply(w.ctx, labGPUs(1))
		if !strings.Contains(o.Errors, "Several devices came at once") || w.Exists() || len(w.left("node-0")) != 2 {
			t.Errorf("left %v, state %v: %s", w.left("node-0"), w.State(), o.Errors)
		}
	})
}
