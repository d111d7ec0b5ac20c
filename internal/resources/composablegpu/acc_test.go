// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const this = theGPU + ".this"

func TestMain(m *testing.M) { acctest.Main(m) }

// hcl is a configuration of devices on the lab's machine 0, with more attributes.
func hcl(size int, more string) string {
	return fmt.Sprintf(`
provider "metal3" {
  fabric = { type = "fti_fm" }
}

resource "metal3_composable_gpu" "this" {
  model = "A100"
  size  = %d
  hosts = [{ machine_id = %q, name = "node-0", node = { host = "node-0.lab", user = "root" } }]
%s
}
`, size, machine.ID(0), more)
}

// step applies a configuration; the test framework wants an empty plan after it.
func step(config string, action plancheck.ResourceActionType, devices int) resource.TestStep {
	s := resource.TestStep{Config: config}
	s.ConfigPlanChecks.PreApply = []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, action)}
	s.ConfigStateChecks = []statecheck.StateCheck{
		statecheck.ExpectKnownValue(this, tfjsonpath.New("devices"), knownvalue.ListSizeExact(devices)),
		statecheck.ExpectKnownValue(this, tfjsonpath.New("state"), knownvalue.StringExact("Running")),
	}

	return s
}

// TestAccGPU_life is a whole life with Terraform: create, grow, shrink, settings, import in
// both forms and by a block, destroy.
func TestAccGPU_life(t *testing.T) {
	t.Parallel()

	l := acctest.NewAcc(t)
	verify := resource.TestStep{
		ResourceName: this, ImportState: true, ImportStateVerify: true, ImportStateId: machine.ID(0) + "/gpu/A100",
		ImportStateVerifyIdentifierAttribute: "endpoint",
		// What only the user knows, and what the fabric does not remember.
		ImportStateVerifyIgnore: []string{"id", "hosts", "devices", "force_detach"},
	}
	byDevice := verify
	byDevice.ImportStateId = ""
	byDevice.ImportStateIdFunc = func(s *terraform.State) (string, error) {
		return machine.ID(0) + "/" + s.RootModule().Resources[this].Primary.Attributes["devices.0.fabric_device_id"], nil
	}

	l.Acc(t,
		step(hcl(2, ""), plancheck.ResourceActionCreate, 2),
		step(hcl(4, ""), plancheck.ResourceActionUpdate, 4),
		step(hcl(1, ""), plancheck.ResourceActionUpdate, 1),
		step(hcl(1, "force_detach = true"), plancheck.ResourceActionUpdate, 1),
		verify, byDevice,
		resource.TestStep{
			ResourceName: this, ImportState: true, ImportStateKind: resource.ImportBlockWithID, ImportStateId: machine.ID(0) + "/gpu/A100", GenerateConfig: true,
		},
		step(hcl(0, ""), plancheck.ResourceActionUpdate, 0),
	)

	if all, err := l.Fabric.On("node-0"); err != nil || len(all) != 0 {
		t.Errorf("left on the fabric: %v, %v", all, err)
	}
}

// TestAccGPU_driftIsMended has somebody detach a device by hand.
func TestAccGPU_driftIsMended(t *testing.T) {
	t.Parallel()

	l := acctest.NewAcc(t)
	mend := step(hcl(2, ""), plancheck.ResourceActionUpdate, 2)
	mend.PreConfig = func() {
		all, err := l.Fabric.On("node-0")
		if err != nil || len(all) != 2 {
			t.Fatalf("on the machine: %v, %v", all, err)
		}

		if err := l.Fabric.Change(func(tx store.Tx, now time.Time) error { return hardware.DetachForeign(tx, now, all[0].ID, 0) }); err != nil {
			t.Fatal(err)
		}
	}

	l.Acc(t, step(hcl(2, ""), plancheck.ResourceActionCreate, 2), mend)
}

// TestAccGPU_failedCreate is tainted and replaced; or kept, and goes on in place.
func TestAccGPU_failedCreate(t *testing.T) {
	t.Parallel()

	refuse := labfabric.Refusing("PATCH /**", 400, 1)
	refuse.Skip = 1

	t.Run("tainted", func(t *testing.T) {
		t.Parallel()

		l := acctest.NewAcc(t)
		l.Fabric.Inject(refuse)

		l.Acc(t,
			resource.TestStep{Config: hcl(2, `on_partial = "keep"`), ExpectError: regexp.MustCompile(`(?s)step "attach" failed.*terraform\s+untaint`)},
			step(hcl(2, `on_partial = "keep"`), plancheck.ResourceActionDestroyBeforeCreate, 2),
		)
	})

	t.Run("kept", func(t *testing.T) {
		t.Parallel()

		l := acctest.NewAcc(t)
		l.Fabric.Inject(refuse)

		config := hcl(2, "on_partial = \"keep\"\non_create_failure = \"keep\"")

		l.Acc(t,
			resource.TestStep{Config: config, ExpectNonEmptyPlan: true},
			step(config, plancheck.ResourceActionUpdate, 2),
		)
	})

	t.Run("rolled back", func(t *testing.T) {
		t.Parallel()

		l := acctest.NewAcc(t)
		l.Fabric.Inject(refuse)

		l.Acc(t,
			resource.TestStep{Config: hcl(2, ""), ExpectError: regexp.MustCompile(`nothing\s+is\s+in\s+the\s+state`)},
			step(hcl(2, ""), plancheck.ResourceActionCreate, 2),
		)
	})
}

// TestAccGPU_replacement changes the model.
func TestAccGPU_replacement(t *testing.T) {
	t.Parallel()

	other := strings.ReplaceAll(hcl(1, ""), "A100", "L40S")

	acctest.NewAcc(t).Acc(t, step(hcl(2, ""), plancheck.ResourceActionCreate, 2), step(other, plancheck.ResourceActionDestroyBeforeCreate, 1))
}

// TestAccGPU_secrets looks for secrets in Terraform's and the provider's logs, also when
// logging in fails, and in what is said.
func TestAccGPU_secrets(t *testing.T) {
	l := acctest.NewAcc(t)
	log := filepath.Join(t.TempDir(), "log")

	t.Setenv("TF_LOG", "TRACE")
	t.Setenv("TF_ACC_LOG_PATH", log)
	t.Setenv("TF_LOG_PATH", log)
	t.Setenv("TF_VAR_password", "Fabr1c&+%secret")
	t.Setenv("TF_VAR_login", "H0st&+%secret")

	config := strings.ReplaceAll(hcl(1, ""), `type = "fti_fm" }`, `type = "fti_fm", auth = { username = "u", password = var.password, client_secret = var.password } }`)
	config = strings.ReplaceAll(config, `user = "root" }`, `user = "root", password = var.login }`)
	config += `
variable "password" { sensitive = true }
variable "login" { sensitive = true }
`

	l.Acc(t, step(config, plancheck.ResourceActionCreate, 1))

	doc, err := os.ReadFile(log)
	if err != nil {
		t.Fatalf("no log was written: %v", err)
	}

	if !strings.Contains(string(doc), "request to the fabric manager") {
		t.Error("the log says nothing of requests")
	}

	for _, line := range strings.Split(string(doc), "\n") {
		for _, hidden := range []string{"Fabr1c&+%secret", "H0st&+%secret", "Fabr1c%26%2B%25secret"} {
			if strings.Contains(line, hidden) {
				t.Fatalf("%q is in the log: %.300s", hidden, line)
			}
		}
	}
}
