// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

const accThis = "metal3_ceph_cluster.this"

func TestMain(m *testing.M) { acctest.Main(m) }

// accHCL is a cluster of OSDs on files of this machine, with an option of its OSDs and modules.
// Modules that nobody needs are left out, so that the manager is there in seconds.
func accHCL(dir, host string, osds int, backfills, modules string) string {
	return fmt.Sprintf(`
resource "metal3_ceph_cluster" "this" {
  name     = "acc"
  data_dir = "%[1]s/ceph"
  hosts    = { %[2]q = { address = "127.0.0.1", connection = { type = "local" }, crush_location = { rack = "r1" } } }
  mon      = { count = 1 }
  mgr      = { count = 1, modules = %[5]s }
  network  = { public = ["127.0.0.0/8"], ports = { msgr2 = 27400, msgr1 = 27401 } }

  config = {
    mgr = { mgr_disabled_modules = "alerts,cephadm,dashboard,influx,insights,localpool,mirroring,nfs,osd_perf_query,osd_support,prometheus,restful,selftest,snap_schedule,stats,telegraf,test_orchestrator,zabbix" }
    osd = { osd_max_backfills = %[4]q }
  }

  storage = {
    backend         = "file"
    allow_file_osds = true
    devices         = [for i in range(%[3]d) : { host = %[2]q, path = "%[1]s/osd${i}.img" }]
    removal         = { allow = true, wipe = true }
  }

  pool_defaults = { failure_domain = "osd", size = 2, min_size = 1 }
  cleanup       = { confirmation = "yes-really-destroy-data", wipe_devices = "quick" }
}
`, dir, host, osds, backfills, modules)
}

// accStep applies a configuration; the test framework wants an empty plan after it.
func accStep(config string, action plancheck.ResourceActionType, osds int) resource.TestStep {
	s := resource.TestStep{Config: config}
	s.ConfigPlanChecks.PreApply = []plancheck.PlanCheck{plancheck.ExpectResourceAction(accThis, action)}
	s.ConfigStateChecks = []statecheck.StateCheck{
		statecheck.ExpectKnownValue(accThis, tfjsonpath.New("osds"), knownvalue.MapSizeExact(osds)),
		statecheck.ExpectKnownValue(accThis, tfjsonpath.New("is_ready"), knownvalue.Bool(true)),
		statecheck.ExpectKnownValue(accThis, tfjsonpath.New("phase"), knownvalue.StringExact("Ready")),
		statecheck.ExpectKnownValue(accThis, tfjsonpath.New("drift"), knownvalue.ListSizeExact(0)),
	}

	return s
}

// TestAccCephCluster_life is a whole life with Terraform and real daemons: create, grow, change
// options and modules, import in all forms, mend, shrink, destroy.
func TestAccCephCluster_life(t *testing.T) {
	t.Parallel()
	acctest.OnlyAcc(t)

	if os.Geteuid() != 0 {
		acctest.Missing(t, "root, for Ceph's daemons")
	}

	dir := acctest.CephDir(t)

	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}

	ceph := func(args ...string) string {
		out, err := exec.Command("ceph", append([]string{"-c", dir + "/ceph/ceph.conf", "-k", dir + "/ceph/ceph.client.admin.keyring"}, args...)...).Output() //nolint:noctx // a test
		if err != nil {
			t.Fatalf("ceph %v: %v", args, err)
		}

		return strings.TrimSpace(string(out))
	}

	two := accHCL(dir, host, 2, "2", "{}")
	three := accHCL(dir, host, 3, "3", `{ iostat = true, balancer = { mode = "crush-compat" } }`)

	grown := accStep(three, plancheck.ResourceActionUpdate, 3)
	mended := accStep(three, plancheck.ResourceActionUpdate, 3)
	mended.PreConfig = func() {
		if got := ceph("config", "get", "osd.0", "osd_max_backfills") + ceph("mgr", "module", "ls") + ceph("balancer", "status"); !strings.HasPrefix(got, "3") ||
			!strings.Contains(got, "iostat") || !strings.Contains(got, "crush-compat") {
			t.Errorf("the options are %s", got)
		}

		for pid, line := range acctest.CephDaemons(dir) {
			if strings.HasPrefix(filepath.Base(line), "ceph-mon ") || strings.HasPrefix(line, "ceph-mon ") {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}

	byID := func(*terraform.State) (string, error) { return "local" + dir + "/ceph", nil }
	verify := resource.TestStep{
		ResourceName: accThis, ImportState: true, ImportStateVerify: true, ImportStateIdFunc: byID,
		// What only the user knows, and what moves by itself.
		ImportStateVerifyIgnore: []string{
			"cleanup", "config", "mgr.modules", "storage.removal", "owned_config", "conditions", "capacity", "health", "health_checks",
		},
	}

	full := resource.TestStep{Config: two, Destroy: true, ExpectError: regexp.MustCompile(`Pools\s+hold\s+data:\s+full`)}
	full.PreConfig = func() {
		ceph("osd", "pool", "create", "full", "8")
		putObject(t, dir, "full")
	}

	emptied := resource.TestStep{Config: two, PlanOnly: true}
	emptied.PreConfig = func() {
		ceph("config", "set", "mon", "mon_allow_pool_delete", "true")
		ceph("osd", "pool", "rm", "full", "full", "--yes-i-really-really-mean-it")
	}

	acctest.Acc(t, acctest.Plain(),
		accStep(two, plancheck.ResourceActionCreate, 2),
		verify,
		grown,
		resource.TestStep{ResourceName: accThis, ImportState: true, ImportStateKind: resource.ImportBlockWithID, ImportStateIdFunc: byID, GenerateConfig: true},
		mended,
		accStep(two, plancheck.ResourceActionUpdate, 2),
		full, emptied,
	)

	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || len(acctest.CephDaemons(dir)) > 0 {
		t.Errorf("left behind: %v, %v, %v", left, acctest.CephDaemons(dir), err)
	}
}

// putObject writes an object into a pool.
func putObject(t *testing.T, dir, pool string) {
	t.Helper()

	cmd := exec.Command("rados", "-c", dir+"/ceph/ceph.conf", "-k", dir+"/ceph/ceph.client.admin.keyring", "-p", pool, "put", "o", dir+"/ceph/ceph.conf") //nolint:noctx // a test
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("put an object: %v: %s", err, out)
	}
}
