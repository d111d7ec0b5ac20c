// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephfilesystem_test

import (
	"fmt"
	"os"
	"os/exec"
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
)

const this = "metal3_ceph_filesystem.this"

func TestMain(m *testing.M) { acctest.Main(m) }

// cluster is a real cluster of this machine, made by the resource next door, as users do.
func cluster(dir, host string) string {
	return fmt.Sprintf(`
resource "metal3_ceph_cluster" "one" {
  name  = "one"
  hosts = { %q = { address = "127.0.0.1", connection = { type = "local" }, roles = ["mon", "mgr", "osd"] } }
  mon     = { count = 1 }
  mgr     = { count = 1 }
  network = { public = ["127.0.0.0/8"], ports = { msgr2 = 25400, msgr1 = 25401 } }
  storage = { backend = "file", allow_file_osds = true, devices = [for i in range(2) : { host = %[1]q, path = "%[2]s/osd${i}.img" }] }
  pool_defaults = { failure_domain = "osd" }
  data_dir      = "%[2]s/c"
  cleanup       = { confirmation = "yes-really-destroy-data", wipe_devices = "quick" }
  config        = { mon = { mon_data_avail_warn = "2", mon_data_avail_crit = "1" } }
}
`, host, dir)
}

func fileSystem(attributes string) string {
	return "resource \"metal3_ceph_filesystem\" \"this\" {\n  cluster_id = metal3_ceph_cluster.one.id\n  name = \"cephfs\"\n" + attributes + "\n}\n"
}

// TestAccCephFilesystem_life is a whole life on a real cluster: made and served, changed,
// imported, filled, refused, destroyed with its MDS.
func TestAccCephFilesystem_life(t *testing.T) {
	t.Parallel()
	acctest.OnlyAcc(t)

	if _, err := exec.LookPath("ceph-mds"); err != nil {
		acctest.Missing(t, "there is no ceph-mds")
	}

	dir := acctest.CephDir(t)

	host, err := os.ReadFile("/proc/sys/kernel/hostname")
	if err != nil {
		t.Fatal(err)
	}

	name := strings.TrimSpace(string(host))
	base := cluster(dir, name)
	mds := "cephfs-" + strings.ReplaceAll(name, ".", "-")

	run := func(program string, args ...string) string {
		args = append([]string{"-c", filepath.Join(dir, "c/ceph.conf"), "-k", filepath.Join(dir, "c/ceph.client.admin.keyring")}, args...)

		out, err := exec.Command(program, args...).CombinedOutput() //nolint:noctx // a test
		if err != nil {
			t.Fatalf("%s %v: %v: %s", program, args, err, out)
		}

		return string(out)
	}

	step := func(attributes string, action plancheck.ResourceActionType, checks ...statecheck.StateCheck) resource.TestStep {
		s := resource.TestStep{Config: base + fileSystem(attributes), ConfigStateChecks: checks}
		s.ConfigPlanChecks.PreApply = []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, action)}

		return s
	}

	served := statecheck.ExpectKnownValue(this, tfjsonpath.New("mds_daemons").AtMapKey(mds), knownvalue.ObjectExact(map[string]knownvalue.Check{
		"host": knownvalue.StringExact(name), "state": knownvalue.StringExact("active"),
	}))

	const two = `
  metadata_pool = { size = 2, failure_domain = "osd" }
  data_pools    = [{}, { name = "bulk", size = 2 }]
  mds           = { active = 1, hosts = { here = { connection = { type = "local" } } } }
`

	full := resource.TestStep{Config: base + fileSystem(""), ExpectError: regexp.MustCompile(`(?s)could not be changed.*are in\s+bulk`)}
	full.PreConfig = func() { run("rados", "-p", "bulk", "put", "o", "/etc/hostname"); waitObjects(t, run) }

	emptied := step("", plancheck.ResourceActionUpdate, served)
	emptied.PreConfig = func() { run("rados", "-p", "bulk", "rm", "o"); waitEmpty(t, run) }

	left := resource.TestStep{Config: base}
	left.Check = func(*terraform.State) error {
		if all := run("ceph", "fs", "ls") + run("ceph", "osd", "pool", "ls") + run("ceph", "auth", "ls") + run("ceph", "config", "dump"); strings.Contains(all, "cephfs") || strings.Contains(all, "bulk") {
			return fmt.Errorf("left behind: %s", all)
		}

		if entries, err := os.ReadDir(filepath.Join(dir, "c/mds")); err == nil && len(entries) > 0 {
			return fmt.Errorf("the MDS left %v", entries)
		}

		return nil
	}

	acctest.Acc(t, acctest.Plain(),
		resource.TestStep{Config: base + fileSystem("mds = { active = 2 }"), ExpectError: regexp.MustCompile(`2 active MDS are wanted`)},
		step("", plancheck.ResourceActionCreate, served),
		resource.TestStep{ResourceName: this, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"mds_daemons"}},
		resource.TestStep{ResourceName: this, ImportState: true, ImportStateKind: resource.ImportBlockWithID},
		step(two, plancheck.ResourceActionUpdate, served),
		full, emptied,
		step("deletion_protection = true", plancheck.ResourceActionUpdate),
		resource.TestStep{Config: base, ExpectError: regexp.MustCompile("is protected")},
		step("", plancheck.ResourceActionUpdate),
		left,
	)
}

func objects(run func(string, ...string) string) string {
	_, bulk, _ := strings.Cut(run("ceph", "df", "-f", "json"), `"name":"bulk"`)
	_, bulk, _ = strings.Cut(bulk, `"objects":`)
	bulk, _, _ = strings.Cut(bulk, ",")

	return bulk
}

// waitObjects waits until the cluster tells that there is something in the pool: it is some seconds late.
func waitObjects(t *testing.T, run func(string, ...string) string) {
	t.Helper()

	for range 200 {
		if objects(run) == "1" {
			return
		}
	}

	t.Error("the cluster never tells that there is an object")
}

func waitEmpty(t *testing.T, run func(string, ...string) string) {
	t.Helper()

	for range 200 {
		if objects(run) == "0" {
			return
		}
	}

	t.Error("the cluster never tells that there is no object")
}
