// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package figures_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// cephConfig is a cluster of one monitor, one manager and OSDs on sparse files of 4 GiB, as
// scripts/lab/ceph-one.sh makes one.
const cephConfig = `
terraform {
  required_providers {
    metal3 = { source = "terraform-metal3/metal3" }
  }
}

variable "dir" { type = string }
variable "host" { type = string }
variable "osds" { type = number }

provider "metal3" {}

resource "metal3_ceph_cluster" "one" {
  name = "one"

  hosts = {
    (var.host) = {
      address    = "127.0.0.1"
      connection = { type = "local" }
      roles      = ["mon", "mgr", "osd"]
    }
  }

  mon     = { count = 1 }
  mgr     = { count = 1 }
  network = { public = ["127.0.0.0/8"], ports = { msgr2 = 23500, msgr1 = 23501 } }

  storage = {
    backend         = "file"
    allow_file_osds = true
    devices         = [for i in range(var.osds) : { host = var.host, path = "${var.dir}/osd${i}.img" }]
  }

  pool_defaults = { failure_domain = "osd" }
  data_dir      = "${var.dir}/ceph"
  cleanup       = { confirmation = "yes-really-destroy-data" }
}
`

// TestFigures_cephBringUp brings up a real Ceph of one monitor, one manager and three OSDs on
// this machine, in turns with the bare script.
func TestFigures_cephBringUp(t *testing.T) {
	needed(t)

	const osds = 3

	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}

	var (
		script, ours []time.Duration
		ratios       []float64
		refresh      []time.Duration
	)

	w := newWorkspace(t, cephConfig)

	for range rounds {
		bare := cephScript(t, osds)
		dir := acctest.CephDir(t)
		vars := []string{"-var=dir=" + dir, "-var=host=" + host, fmt.Sprintf("-var=osds=%d", osds)}

		up := w.run(t, append([]string{"apply", "-auto-approve"}, vars...)...)
		again := w.run(t, append([]string{"plan", "-detailed-exitcode"}, vars...)...)
		w.run(t, append([]string{"destroy", "-auto-approve"}, vars...)...)

		script, ours, refresh = append(script, bare), append(ours, up.elapsed), append(refresh, again.elapsed)
		ratios = append(ratios, up.elapsed.Seconds()/bare.Seconds())

		t.Logf("script %s, provider %s, refresh %s", bare, up.elapsed, again.elapsed)
	}

	figure(t, "a Ceph of 1 mon, 1 mgr, 3 OSDs on one host, times what the bare script needs", median(ratios), 1.25, "x",
		fmt.Sprintf("medians of %d runs in turns; provider %s s, script %s s; real daemons, 4 GiB files", rounds, list(ours), list(script)))
	figure(t, "a plan of that cluster without changes", seconds(median(refresh)), 5, "s", "Terraform's start included; "+list(refresh)+" s")
}

// cephScript is how long the bare script needs for such a cluster, which it takes down again.
func cephScript(t *testing.T, osds int) time.Duration {
	t.Helper()

	dir := filepath.Join(acctest.CephDir(t), "one")
	call := func(verb string) {
		run := exec.CommandContext(t.Context(), "../../../scripts/lab/ceph-one.sh", verb, dir)
		run.Env = append(os.Environ(), "PORT=23600", "OSDS="+strconv.Itoa(osds), "SIZE=4G")

		if said, err := run.CombinedOutput(); err != nil {
			t.Fatalf("ceph-one.sh %s: %v\n%s", verb, err, said)
		}
	}

	start := time.Now()

	call("up")

	took := time.Since(start)

	call("down")

	return took
}
