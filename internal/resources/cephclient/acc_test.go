// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephclient_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

const (
	this = "metal3_ceph_client.this"
	caps = `{ mon = "profile rbd", osd = "profile rbd pool=vms" }`
)

func TestMain(m *testing.M) { acctest.Main(m) }

func config(id, caps, more string) string {
	return fmt.Sprintf("resource \"metal3_ceph_client\" \"this\" {\n  cluster_id = %q\n  entity = \"client.vms\"\n  caps = %s\n%s\n}\n", id, caps, more)
}

func step(config string, action plancheck.ResourceActionType, checks ...statecheck.StateCheck) resource.TestStep {
	s := resource.TestStep{Config: config, ConfigStateChecks: checks}
	s.ConfigPlanChecks.PreApply = []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, action)}

	return s
}

func is(address, name string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), want)
}

// TestAccCephClient_life is a whole life on a real cluster, with what reads from it: the
// ephemeral keyring, and the status.
func TestAccCephClient_life(t *testing.T) {
	t.Parallel()
	acctest.OnlyAcc(t)

	one := acctest.CephOne(t, 1)
	id := one.ID(t)

	factories := acctest.Plain()
	factories["echo"] = echoprovider.NewProviderServer()

	// The key that is really there, told by the cluster itself.
	there := func() string { return strings.TrimSpace(one.CLI(t, "auth", "get-key", "client.vms")) }

	var first string

	echo := config(id, caps, "") + fmt.Sprintf(`
ephemeral "metal3_ceph_keyring" "this" {
  cluster_id = %q
  entity     = metal3_ceph_client.this.entity
}

provider "echo" { data = ephemeral.metal3_ceph_keyring.this }
resource "echo" "keyring" {}

data "metal3_ceph_status" "this" { cluster_id = %[1]q }
`, id)
	data := tfjsonpath.New("data")

	drift := step(config(id, caps, ""), plancheck.ResourceActionUpdate)
	drift.PreConfig = func() {
		first = there()
		one.CLI(t, "auth", "caps", "client.vms", "mon", "allow r")
	}

	numbered := step(config(id, caps, "key_version = 1"), plancheck.ResourceActionUpdate, is(this, "key", knownvalue.Null()))
	numbered.Check = func(*terraform.State) error {
		if there() != first {
			return fmt.Errorf("the first number made another key")
		}

		return nil
	}

	rekeyed := step(config(id, caps, "key_version = 2"), plancheck.ResourceActionUpdate, is(this, "key", knownvalue.Null()))
	rekeyed.Check = func(*terraform.State) error {
		if now := there(); now == first || now == "" || !strings.Contains(one.CLI(t, "auth", "get", "client.vms"), "profile rbd pool=vms") {
			return fmt.Errorf("the key is as before, or the caps are not: %q", now)
		}

		return nil
	}

	stored := step(config(id, caps, "key_version = 2\nstore_key = true"), plancheck.ResourceActionUpdate, is(this, "key", knownvalue.StringRegexp(regexp.MustCompile(`^\S{40}$`))))
	stored.Check = func(s *terraform.State) error {
		if s.RootModule().Resources[this].Primary.Attributes["key"] != there() {
			return fmt.Errorf("the key in the state is another one")
		}

		return nil
	}

	gone := step(config(id, caps, ""), plancheck.ResourceActionCreate)
	gone.PreConfig = func() { one.CLI(t, "auth", "rm", "client.vms") }

	taken := resource.TestStep{Config: config(id, `{ mon = "allow *" }`, ""), ExpectError: regexp.MustCompile(`(?s)already\s+there.*allow r.*import`)}
	taken.PreConfig = func() { one.CLI(t, "auth", "get-or-create", "client.vms", "mon", "allow r") }

	acctest.Acc(t, factories,
		taken,
		resource.TestStep{Config: strings.ReplaceAll(config(id, caps, ""), "client.vms", "client.admin"), ExpectError: regexp.MustCompile("reserved")},
		step(config(id, `{ mon = "allow r" }`, ""), plancheck.ResourceActionCreate, is(this, "key", knownvalue.Null()), is(this, "id", knownvalue.StringExact(id+"#client.vms"))),
		step(config(id, caps, ""), plancheck.ResourceActionUpdate),
		resource.TestStep{
			Config: echo, ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue("echo.keyring", data.AtMapKey("key"), knownvalue.StringRegexp(regexp.MustCompile(`^\S{40}$`))),
				statecheck.ExpectKnownValue("echo.keyring", data.AtMapKey("keyring"), knownvalue.StringRegexp(regexp.MustCompile(`(?s)^\[client.vms\]\s+key = \S{40}`))),
				is("data.metal3_ceph_status.this", "fsid", knownvalue.StringExact(one.FSID)),
				is("data.metal3_ceph_status.this", "quorum", knownvalue.ListExact([]knownvalue.Check{knownvalue.StringExact("a")})),
				is("data.metal3_ceph_status.this", "mgr_active", knownvalue.StringExact("x")),
				is("data.metal3_ceph_status.this", "health", knownvalue.StringRegexp(regexp.MustCompile("^HEALTH_"))),
				is("data.metal3_ceph_status.this", "osds", knownvalue.ObjectExact(map[string]knownvalue.Check{
					"total": knownvalue.Int64Exact(1), "up": knownvalue.Int64Exact(1), "in": knownvalue.Int64Exact(1),
				})),
				statecheck.ExpectKnownValue("data.metal3_ceph_status.this", tfjsonpath.New("mons").AtMapKey("a").AtMapKey("in_quorum"), knownvalue.Bool(true)),
			},
		},
		drift, numbered, rekeyed, stored,
		resource.TestStep{ResourceName: this, ImportState: true, ImportStateVerify: true, ImportStateId: id + "#client.vms", ImportStateVerifyIgnore: []string{"key", "key_version", "store_key"}},
		gone,
		resource.TestStep{ResourceName: this, ImportState: true, ImportStateKind: resource.ImportBlockWithID, ImportStateId: id + "#client.vms"},
		resource.TestStep{ResourceName: this, ImportState: true, ImportStateId: id + "#vms", ExpectError: regexp.MustCompile("names no Ceph user")},
	)

	if left := one.CLI(t, "auth", "ls"); strings.Contains(left, "client.vms") {
		t.Errorf("left behind: %s", left)
	}
}
