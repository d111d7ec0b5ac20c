// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	labironic "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

const (
	this     = "metal3_baremetal_host.this"
	password = "S3cret&+%"
)

// hcl is a configuration of the lab's machine 0 with more attributes.
func hcl(more string) string {
	return acctest.ProviderBlock + fmt.Sprintf(`
resource "metal3_baremetal_host" "this" {
  name = "node-0"
  bmc  = { address = %q, username = "admin", password_wo = "password", password_wo_version = 1 }
%s
}
`, address(0), more)
}

const accImage = `
  image     = { url = "` + image + `", checksum = "` + sums + `", checksum_type = "auto" }
  user_data = "#cloud-config\n{}\n"
`

// step applies a configuration; the test framework wants an empty plan after it.
func step(config string, action plancheck.ResourceActionType, values Map) resource.TestStep {
	s := resource.TestStep{Config: config}
	s.ConfigPlanChecks.PreApply = []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, action)}

	for name, want := range values {
		var check knownvalue.Check

		switch v := want.(type) {
		case nil:
			check = knownvalue.Null()
		case bool:
			check = knownvalue.Bool(v)
		default:
			check = knownvalue.StringExact(fmt.Sprint(v))
		}

		at := tfjsonpath.New(strings.Split(name, ".")[0])
		for _, key := range strings.Split(name, ".")[1:] {
			at = at.AtMapKey(key)
		}

		s.ConfigStateChecks = append(s.ConfigStateChecks, statecheck.ExpectKnownValue(this, at, check))
	}

	return s
}

func TestAccHost_life(t *testing.T) {
	t.Parallel()

	l := acctest.NewAcc(t)

	l.Acc(t,
		step(hcl(accImage), plancheck.ResourceActionCreate, Map{"provisioning_state": "provisioned", "powered_on": true, "bmc.password_wo": nil, "applied.image.url": image}),
		step(hcl(accImage+`labels = { a = "b" }`+"\ndescription = \"x\"\nonline = false"), plancheck.ResourceActionUpdate, Map{"powered_on": false, "description": "x"}),
		step(hcl(strings.ReplaceAll(accImage, image, image2)), plancheck.ResourceActionUpdate, Map{"powered_on": true, "applied.image.url": image2}),
		step(hcl(""), plancheck.ResourceActionUpdate, Map{"provisioning_state": "available", "applied": nil}),
	)

	if v := (world{Lab: l}).verbs(); len(v) == 0 || v[len(v)-1] != "power off" {
		t.Errorf("a life ends with %v", v)
	}
}

// TestAccHost_import imports by every form of an id, by command and by block, with the
// configuration that Terraform generates.
func TestAccHost_import(t *testing.T) {
	t.Parallel()

	l := acctest.NewAcc(t)
	config := hcl(accImage)
	ids := []string{"metal3~node-0", "metal3/node-0", "node-0", "mac:52:54:00:5a:00:00"}
	steps := []resource.TestStep{step(config, plancheck.ResourceActionCreate, nil)}

	for _, id := range ids {
		steps = append(steps, resource.TestStep{
			ResourceName: this, ImportState: true, ImportStateId: id, ImportStateVerify: true,
			// What only the user knows.
			ImportStateVerifyIgnore: []string{"bmc.password_wo_version", "user_data", "timeouts"},
		})
	}

	steps = append(steps, resource.TestStep{
		ResourceName: this, ImportState: true, ImportStateKind: resource.ImportBlockWithID, ImportStateIdFunc: uuidOf, GenerateConfig: true,
	})

	l.Acc(t, steps...)
}

func uuidOf(s *terraform.State) (string, error) {
	r, ok := s.RootModule().Resources[this]
	if !ok {
		return "", fmt.Errorf("%s is not in the state", this)
	}

	return r.Primary.ID, nil
}

// TestAccHost_unknownValues makes a host of values that come out of another resource.
func TestAccHost_unknownValues(t *testing.T) {
	t.Parallel()

	config := acctest.ProviderBlock + fmt.Sprintf(`
resource "terraform_data" "all" {
  input = { address = %q, mac = "52-54-00-5A-00-00", image = %q, sums = %q, data = "#cloud-config\n{}\n", version = 1 }
}

resource "metal3_baremetal_host" "this" {
  name             = "node-0"
  boot_mac_address = terraform_data.all.output.mac
  bmc = {
    address  = terraform_data.all.output.address
    username = "admin", password_wo = "password", password_wo_version = terraform_data.all.output.version
  }
  image     = { url = terraform_data.all.output.image, checksum = terraform_data.all.output.sums }
  user_data = terraform_data.all.output.data
  labels    = { (terraform_data.all.id != "" ? "a" : "b") = terraform_data.all.output.image }
}
`, address(0), image, sums)

	acctest.NewAcc(t).Acc(t, step(config, plancheck.ResourceActionCreate, Map{"provisioning_state": "provisioned", "boot_mac_address": "52-54-00-5A-00-00"}))
}

// TestAccHost_OBMH18_secretsAreNowhere looks for the password in all that Terraform and the
// provider wrote at the highest level of logging: log, state and plan.
func TestAccHost_OBMH18_secretsAreNowhere(t *testing.T) {
	l := acctest.NewAcc(t)
	log := filepath.Join(t.TempDir(), "log")

	t.Setenv("TF_LOG", "TRACE")
	t.Setenv("TF_ACC_LOG_PATH", log)
	t.Setenv("TF_LOG_PATH", log)

	t.Setenv("TF_VAR_password", password)
	t.Setenv("TF_VAR_data", "hidden data")

	// Terraform shows lines of the configuration with an error: the values are elsewhere.
	secret := `
variable "password" { sensitive = true }
variable "data" { sensitive = true }
` + hcl("user_data_wo_version = 1\nuser_data_wo = var.data")
	secret = strings.ReplaceAll(secret, `"password"`+", password_wo_version", "var.password, password_wo_version")

	l.Acc(t, resource.TestStep{
		Config: secret, ExpectError: regexp.MustCompile("RegistrationError"),
	})

	doc, err := os.ReadFile(log)
	if err != nil {
		t.Fatalf("no log was written: %v", err)
	}

	if !strings.Contains(string(doc), "request to Ironic") {
		t.Error("the log says nothing of requests")
	}

	for _, line := range strings.Split(string(doc), "\n") {
		for _, hidden := range []string{password, "S3cret%26%2B%25", "UzNjcmV0JislJQ==", "hidden data"} {
			if strings.Contains(line, hidden) {
				t.Fatalf("%q is in the log: %.300s", hidden, line)
			}
		}
	}
}

// TestAccHost_failedCreateIsReplaced fails a create: the next apply replaces.
func TestAccHost_failedCreateIsReplaced(t *testing.T) {
	t.Parallel()

	l := acctest.NewAcc(t)
	for range 2 {
		if err := l.Ironic.FailNext("", "active", labironic.Failure{LastError: "image checksum mismatch"}); err != nil {
			t.Fatal(err)
		}
	}

	l.Acc(t,
		resource.TestStep{Config: hcl(accImage), ExpectError: regexp.MustCompile(`(?s)did not become\s+provisioned.*checksum\s+mismatch.*terraform\s+untaint`)},
		step(hcl(accImage), plancheck.ResourceActionDestroyBeforeCreate, Map{"provisioning_state": "provisioned"}),
	)
}

// TestAccHost_keptFailureResumes keeps a failed create: the next apply goes on in place.
func TestAccHost_keptFailureResumes(t *testing.T) {
	t.Parallel()

	l := acctest.NewAcc(t)
	for range 2 {
		if err := l.Ironic.FailNext("", "active", labironic.Failure{LastError: "image checksum mismatch"}); err != nil {
			t.Fatal(err)
		}
	}

	config := hcl(accImage + "\non_create_failure = \"keep\"")

	l.Acc(t,
		resource.TestStep{Config: config, ExpectNonEmptyPlan: true},
		step(config, plancheck.ResourceActionUpdate, Map{"provisioning_state": "provisioned"}),
	)
}

// TestAccHost_OBMH22_goneIsPlannedAnew has Ironic forget a host that was never deployed, and
// then one that was.
func TestAccHost_OBMH22_goneIsPlannedAnew(t *testing.T) {
	t.Parallel()

	l := acctest.NewAcc(t)
	forget := func() {
		if err := l.Ironic.Forget("metal3~node-0"); err != nil {
			t.Fatal(err)
		}
	}

	create := step(hcl(""), plancheck.ResourceActionCreate, Map{"provisioning_state": "available"})
	create.PreConfig = forget

	adopt := step(hcl(accImage), plancheck.ResourceActionUpdate, Map{"provisioning_state": "provisioned", "operational_status": "OK"})
	adopt.PreConfig = forget

	l.Acc(t,
		step(hcl(""), plancheck.ResourceActionCreate, nil), create,
		step(hcl(accImage), plancheck.ResourceActionUpdate, nil), adopt,
	)
}
