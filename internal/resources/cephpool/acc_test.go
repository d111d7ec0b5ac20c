// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

const this = "metal3_ceph_pool.this"

func TestMain(m *testing.M) { acctest.Main(m) }

// step applies a pool of these attributes; the test framework wants an empty plan after it.
func step(id, attributes string, action plancheck.ResourceActionType, wants map[string]knownvalue.Check) resource.TestStep {
	s := resource.TestStep{Config: config(id, attributes)}
	s.ConfigPlanChecks.PreApply = []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, action)}

	for name, want := range wants {
		s.ConfigStateChecks = append(s.ConfigStateChecks, statecheck.ExpectKnownValue(this, tfjsonpath.New(name), want))
	}

	return s
}

func config(id, attributes string) string {
	return fmt.Sprintf("resource \"metal3_ceph_pool\" \"this\" {\n  cluster_id = %q\n%s\n}\n", id, attributes)
}

// TestAccCephPool_life is a whole life on a real cluster: created, changed, renamed, imported,
// drifted, filled, refused, destroyed.
func TestAccCephPool_life(t *testing.T) {
	t.Parallel()
	acctest.OnlyAcc(t)

	one := acctest.CephOne(t, 3)
	id := one.ID(t)

	ceph := func(args ...string) string { return one.CLI(t, args...) }

	rados := func(args ...string) {
		out, err := exec.Command("rados", append([]string{"-c", one.Conf, "-k", one.Keyring}, args...)...).CombinedOutput() //nolint:noctx // a test
		if err != nil {
			t.Fatalf("rados %v: %v: %s", args, err, out)
		}
	}

	is := knownvalue.StringExact
	number := knownvalue.Int64Exact

	const changed = `
  name = "p2"
  size = 3
  pg_autoscale_mode = "off"
  pg_num = 16
  failure_domain = "osd"
  device_class = "hdd"
  application = "web"
  quota = { max_objects = 100 }
  compression_mode = "passive"
  parameters = { target_size_ratio = "0.2", recovery_priority = "3" }
`

	drift := step(id, changed, plancheck.ResourceActionUpdate, map[string]knownvalue.Check{"size": number(3)})
	drift.PreConfig = func() {
		ceph("osd", "pool", "set", "p2", "size", "2")
		ceph("osd", "pool", "set", "p2", "recovery_priority", "5")
		ceph("osd", "pool", "set-quota", "p2", "max_objects", "7")
	}

	full := resource.TestStep{Config: config(id, changed), Destroy: true, ExpectError: regexp.MustCompile(`(?s)holds data.*allow_delete_with_data`)}
	full.PreConfig = func() {
		rados("-p", "p2", "put", "o", one.Conf)
		// What a pool holds is known some seconds later.
		for range 100 {
			if strings.Contains(ceph("df", "-f", "json"), `"objects":1,`) {
				break
			}
		}
	}

	gone := step(id, changed+"deletion_protection = true", plancheck.ResourceActionCreate, nil)
	gone.PreConfig = func() {
		ceph("config", "set", "mon", "mon_allow_pool_delete", "true")
		ceph("osd", "pool", "rm", "p2", "p2", "--yes-i-really-really-mean-it")
		ceph("config", "rm", "mon", "mon_allow_pool_delete")
	}

	acctest.Acc(t, acctest.Plain(),
		step(id, "name = \"p1\"\nsize = 2\napplication = \"rbd\"", plancheck.ResourceActionCreate, map[string]knownvalue.Check{
			"id": is(id + "#p1"), "fsid": is(one.FSID), "size": number(2), "min_size": number(1), "type": is("replicated"), "application": is("rbd"),
		}),
		resource.TestStep{ResourceName: this, ImportState: true, ImportStateKind: resource.ImportBlockWithID, ImportStateId: id + "#p1", GenerateConfig: true},
		resource.TestStep{ResourceName: this, ImportState: true, ImportStateKind: resource.ImportBlockWithID, ImportStateId: id + "#p1"},
		step(id, changed, plancheck.ResourceActionUpdate, map[string]knownvalue.Check{
			"id": is(id + "#p2"), "size": number(3), "pgs": number(16), "crush_rule": is("p2"), "application": is("web"),
		}),
		resource.TestStep{
			ResourceName: this, ImportState: true, ImportStateVerify: true, ImportStateId: id + "#p2",
			ImportStateVerifyIgnore: []string{"parameters", "used_bytes", "objects"},
		},
		drift,
		step(id, strings.ReplaceAll(changed, `failure_domain = "osd"`, `failure_domain = "host"`), plancheck.ResourceActionUpdate,
			map[string]knownvalue.Check{"crush_rule": is("p2_host_hdd")}),
		step(id, strings.ReplaceAll(changed, `failure_domain = "osd"`, `failure_domain = "osd"`), plancheck.ResourceActionUpdate,
			map[string]knownvalue.Check{"crush_rule": is("p2")}),
		full,
		gone,
		resource.TestStep{Config: config(id, changed+"deletion_protection = true"), Destroy: true, ExpectError: regexp.MustCompile(`is protected`)},
		step(id, "name = \"p2\"\nsize = 1\nallow_size_one = true", plancheck.ResourceActionUpdate, map[string]knownvalue.Check{"size": number(1)}),
		step(id, "name = \"p2\"\ntype = \"erasure\"\nerasure = { k = 2, m = 1 }\nfailure_domain = \"osd\"", plancheck.ResourceActionDestroyBeforeCreate,
			map[string]knownvalue.Check{"size": number(3), "crush_rule": is("p2")}),
		resource.TestStep{
			ResourceName: this, ImportState: true, ImportStateVerify: true, ImportStateId: strings.TrimPrefix(id, one.FSID+"@") + "#p2",
			ImportStateVerifyIgnore: []string{"used_bytes", "objects"},
		},
	)

	if left := ceph("osd", "pool", "ls") + ceph("osd", "crush", "rule", "ls") + ceph("osd", "erasure-code-profile", "ls") + ceph("config", "dump"); strings.Contains(left, "p2") || strings.Contains(left, "mon_allow") {
		t.Errorf("left behind: %s", left)
	}
}
