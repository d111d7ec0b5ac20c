// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remediation_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

func TestMain(m *testing.M) { acctest.Main(m) }

const typeName = "metal3_remediation"

// Map is an object of a configuration.
type Map = acctest.Map

func config(more Map) Map {
	c := Map{"cluster_id": "metal3/edge", "machine": "edge-w-0"}
	for name, v := range more {
		c[name] = v
	}

	return c
}

func powers(l acctest.Lab) int {
	return len(slices.DeleteFunc(l.Sent(), func(s string) bool { return !strings.Contains(s, "/states/power") }))
}

// TestRemediation_life: it heals once, and again when a trigger changes.
func TestRemediation_life(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := acctest.NewLab(t, lab.Options{})
		cluster := l.Edge(t, 3)
		core := l.Core(t, typeName)
		core.Replaces = true

		if o := core.Apply(t.Context(), config(Map{"triggers": Map{"ticket": "1"}})); o.Errors != "" || powers(l) != 2 {
			t.Fatalf("%s; it sent %v", o.Errors, l.Sent())
		}

		for path, want := range map[string]any{
			"id": "metal3/edge/edge-w-0", "result": "restarted", "attempts": int64(1), "remediation_count": int64(1), "node_name": nil,
			"host_name": cluster.Get("machines.edge-w-0.host_name"), "host_id": cluster.Get("machines.edge-w-0.host_id"), "strategy": "reboot", "timeout": "10m",
		} {
			if got := core.Get(path); got != want {
				t.Errorf("%s is %v, want %v", path, got, want)
			}
		}

		l.Mark()

		if o := core.Plan(t.Context(), config(Map{"triggers": Map{"ticket": "1"}})); o.Action != "" || o.Errors+o.Warnings != "" {
			t.Errorf("the plan after it: %q %v %s%s", o.Action, o.Changed, o.Errors, o.Warnings)
		}

		if o := core.Apply(t.Context(), config(Map{"triggers": Map{"ticket": "1"}, "timeout": "5m"})); o.Action != "update" || o.Errors != "" || len(l.Sent()) > 0 {
			t.Errorf("another timeout: %q %s; it sent %v", o.Action, o.Errors, l.Sent())
		}

		// The cluster's own plan shows nothing of it but the count.
		if o := cluster.Plan(t.Context(), acctest.EdgeConfig()); o.Action != "" || cluster.Get("machines.edge-w-0.remediation_count") != int64(1) {
			t.Errorf("the cluster's plan: %q %v", o.Action, o.Changed)
		}

		if o := core.Plan(t.Context(), config(Map{"triggers": Map{"ticket": "2"}})); o.Action != "replace" || o.Errors != "" {
			t.Errorf("another trigger: %q %s", o.Action, o.Errors)
		}

		l.Mark()

		if o := core.Apply(t.Context(), nil); o.Errors != "" || core.Exists() || len(l.Sent()) > 0 {
			t.Errorf("the end: %s; it sent %v", o.Errors, l.Sent())
		}

		if o := core.Apply(t.Context(), config(nil)); o.Errors != "" || core.Get("remediation_count") != int64(2) {
			t.Errorf("another one: %s, %v", o.Errors, core.Get("remediation_count"))
		}
	})
}

// TestOCL09_remediationAppliedAgain: an apply that fails with the machine off is gone on with by the
// next one, and counts once.
func TestOCL09_remediationAppliedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := acctest.NewLab(t, lab.Options{})
		l.Edge(t, 3)

		core := l.Core(t, typeName)

		l.Ironic.Inject(ironic.Trouble{Match: "PUT /v1/nodes/*/states/power", Skip: 1, Status: http.StatusBadRequest, Text: "no power today"})

		o := core.Apply(t.Context(), config(nil))
		if core.Exists() || !strings.Contains(o.Errors, "left while powering on") || !strings.Contains(o.Errors, "apply again") {
			t.Errorf("in the state: %t; it says %s", core.Exists(), o.Errors)
		}

		if o = core.Apply(t.Context(), config(nil)); o.Errors != "" || core.Get("remediation_count") != int64(1) || core.Get("attempts") != int64(1) {
			t.Errorf("%s; %v", o.Errors, core.State())
		}

		name, _ := core.Get("host_name").(string)
		if m := l.Machine(t, name); m.Power != machine.On {
			t.Errorf("%s is %v", name, m.Power)
		}
	})
}

// TestRemediation_ofAMachineThatHasLeft stays as it is, and a warning says what to do.
func TestRemediation_ofAMachineThatHasLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := acctest.NewLab(t, lab.Options{})
		cluster := l.Edge(t, 3)
		core := l.Core(t, typeName)

		if o := core.Apply(t.Context(), config(nil)); o.Errors != "" {
			t.Fatal(o.Errors)
		}

		if o := cluster.Apply(t.Context(), nil); o.Errors != "" {
			t.Fatal(o.Errors)
		}

		o := core.Plan(t.Context(), config(nil))
		if o.Action != "" || o.Errors != "" || !strings.Contains(o.Warnings, "is not there any more") {
			t.Errorf("%q: %s%s", o.Action, o.Errors, o.Warnings)
		}
	})
}

// TestAccRemediation heals with Terraform.
func TestAccRemediation(t *testing.T) {
	t.Parallel()

	l := acctest.NewAcc(t)
	l.Edge(t, 3)

	block := func(ticket string) string {
		return acctest.ProviderBlock + `
resource "metal3_remediation" "w0" {
  cluster_id = "metal3/edge"
  machine    = "edge-w-0"
  triggers   = { ticket = "` + ticket + `" }
}
`
	}

	const at = "metal3_remediation.w0"

	count := func(n int64) []statecheck.StateCheck {
		return []statecheck.StateCheck{
			statecheck.ExpectKnownValue(at, tfjsonpath.New("remediation_count"), knownvalue.Int64Exact(n)),
			statecheck.ExpectKnownValue(at, tfjsonpath.New("result"), knownvalue.StringExact("restarted")),
		}
	}

	l.Acc(t,
		resource.TestStep{Config: block("1"), ConfigStateChecks: count(1)},
		resource.TestStep{
			Config: block("2"), ConfigStateChecks: count(2),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(at, plancheck.ResourceActionReplace)}},
		},
	)
}
