// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkill_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// this is the address of the cluster.
const this = "metal3_ceph_cluster.this"

// slow are modules of the manager that nobody needs here: without them it is up in seconds.
const slow = "alerts,cephadm,dashboard,influx,insights,iostat,localpool,mirroring,nfs,osd_perf_query,osd_support," +
	"prometheus,restful,selftest,snap_schedule,stats,telegraf,test_orchestrator,zabbix"

// cluster is a cluster on this machine that Terraform makes.
type cluster struct {
	workspace

	base string // all of it is below
	port int
	fsid string // once it is known
}

func newCluster(t *testing.T) *cluster {
	t.Helper()

	if os.Geteuid() != 0 {
		acctest.Missing(t, "root, for Ceph's daemons")
	}

	base := acctest.CephDir(t)

	return &cluster{workspace: workspace{tfrun.New(t, "provider \"metal3\" {}\n")}, base: base, port: freePorts(t)}
}

// freePorts are two free ports, one after the other.
func freePorts(t *testing.T) int {
	t.Helper()

	free := func(port int) bool {
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)) //nolint:noctx // at once
		if err != nil {
			return false
		}

		return l.Close() == nil
	}

	for port := 27300; port < 27400; port += 2 {
		if free(port) && free(port+1) {
			return port
		}
	}

	t.Fatal("no free ports")

	return 0
}

// config wants a cluster of so many OSDs, with more attributes.
func (c *cluster) config(osds int, more string) {
	c.T.Helper()

	name, err := os.Hostname()
	if err != nil {
		c.T.Fatal(err)
	}

	c.Write("main.tf", fmt.Sprintf(`resource "metal3_ceph_cluster" "this" {
  name     = "kill"
  data_dir = "%[1]s/ceph"
  hosts    = { %[2]q = { address = "127.0.0.1", connection = { type = "local" } } }
  mon      = { count = 1 }
  mgr      = { count = 1 }
  network  = { public = ["127.0.0.0/8"], ports = { msgr2 = %[3]d, msgr1 = %[4]d } }
  config   = { mgr = { mgr_disabled_modules = %[5]q } }

  storage = {
    backend         = "file"
    allow_file_osds = true
    devices         = [for i in range(%[6]d) : { host = %[2]q, path = "%[1]s/osd${i}.img" }]
    removal         = { allow = true, wipe = true }
  }

  pool_defaults = { failure_domain = "osd", size = 2, min_size = 1 }
  supervision   = "daemon"
%[7]s
}
`, c.base, name, c.port, c.port+1, slow, osds, more))
}

// confirmed has a destroy leave nothing.
const confirmed = `  cleanup       = { confirmation = "yes-really-destroy-data", wipe_devices = "quick" }`

// at is a path in the folder of the cluster.
func (c *cluster) at(parts ...string) string {
	return filepath.Join(append([]string{c.base, "ceph"}, parts...)...)
}

func (c *cluster) has(parts ...string) bool {
	_, err := os.Lstat(c.at(parts...))

	return err == nil
}

// number is how many files there are of a pattern.
func (c *cluster) number(pattern ...string) int {
	c.T.Helper()

	files, err := filepath.Glob(c.at(pattern...))
	if err != nil {
		c.T.Fatal(err)
	}

	return len(files)
}

// identity is the fsid that identity.json has; empty: there is none.
func (c *cluster) identity() string {
	c.T.Helper()

	content, err := os.ReadFile(c.at("identity.json"))
	if err != nil {
		return ""
	}

	var id struct {
		FSID string `json:"fsid"`
	}
	if err := json.Unmarshal(content, &id); err != nil {
		c.T.Errorf("identity.json: %v: %s", err, content)
	}

	return id.FSID
}

// daemons are the daemons that have come to run, as their pid files name them: "mon.a": 4711.
// One that starts is the child of who started it, and ends with that.
func (c *cluster) daemons() map[string]int {
	all := map[string]int{}
	running := acctest.CephDaemons(c.base)

	files, _ := filepath.Glob(c.at("run", "*.pid"))
	for _, file := range files {
		content, _ := os.ReadFile(file) // it may be gone by now

		pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
		_, runs := running[pid]
		_, starts := running[parent(pid)]

		if err == nil && runs && !starts {
			all[strings.TrimSuffix(filepath.Base(file), ".pid")] = pid
		}
	}

	return all
}

// parent is the parent of a process; 0 where it has ended.
func parent(pid int) int {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))

	// pid (comm) state ppid …
	_, rest, _ := strings.Cut(string(content), ") ")
	if fields := strings.Fields(rest); len(fields) > 1 {
		n, _ := strconv.Atoi(fields[1])

		return n
	}

	return 0
}

// runs is how many daemons of a kind run.
func (c *cluster) runs(kind string) int {
	n := 0

	for name := range c.daemons() {
		if strings.HasPrefix(name, kind+".") {
			n++
		}
	}

	return n
}

// ceph runs the ceph command, and returns what it printed.
func (c *cluster) ceph(args ...string) string {
	c.T.Helper()

	ctx, cancel := context.WithTimeout(c.T.Context(), time.Minute)
	defer cancel()

	cmd := exec.CommandContext(ctx, "ceph", append([]string{"--conf", c.at("ceph.conf"), "--keyring", c.at("ceph.client.admin.keyring"), "--connect-timeout", "30"}, args...)...)

	out, err := cmd.Output()
	if err != nil {
		c.T.Fatalf("ceph %v: %v", args, err)
	}

	return strings.TrimSpace(string(out))
}

// same wants the cluster to be the one that it was.
func (c *cluster) same() {
	c.T.Helper()

	now := c.identity()
	if c.fsid == "" {
		c.fsid = now
	}

	if now != c.fsid {
		c.T.Fatalf("the fsid was %q and is %q", c.fsid, now)
	}

	if o := c.state(); o != nil && o.Attributes.FSID != c.fsid {
		c.T.Errorf("the fsid in the state is %q and not %q", o.Attributes.FSID, c.fsid)
	}
}

// whole wants the cluster with so many OSDs, with nothing twice and nothing left over, and an
// empty plan.
func (c *cluster) whole(osds int) {
	c.T.Helper()
	c.same()

	o := c.state()
	if o == nil || o.Status != "" || !o.Attributes.Ready || o.Attributes.Phase != "Ready" || len(o.Attributes.OSDs) != osds {
		c.T.Fatalf("the state has %+v", o)
	}

	var tree struct {
		Stray []any `json:"stray"`
	}
	if err := json.Unmarshal([]byte(c.ceph("osd", "tree", "-f", "json")), &tree); err != nil || len(tree.Stray) > 0 {
		c.T.Errorf("strays: %v, %v", tree.Stray, err)
	}

	keys := 0
	for line := range strings.Lines(c.ceph("auth", "ls")) {
		if strings.HasPrefix(line, "osd.") {
			keys++
		}
	}

	for what, n := range map[string]int{
		"ids": len(strings.Fields(c.ceph("osd", "ls"))), "keys": keys, "records": c.number("slots", "*", "slot.json"),
		"folders": c.number("osd", "*"), "running": c.runs("osd"),
	} {
		if n != osds {
			c.T.Errorf("%s of OSDs: %d, wanted are %d", what, n, osds)
		}
	}

	if files, err := filepath.Glob(filepath.Join(c.base, "*")); err != nil || len(files) != osds+1 {
		c.T.Errorf("beside the cluster and its files there are %q, %v", files, err)
	}

	if c.runs("mon") != 1 || c.runs("mgr") != 1 || len(acctest.CephDaemons(c.base)) != osds+2 {
		c.T.Errorf("running: %q", slices.Sorted(maps.Values(acctest.CephDaemons(c.base))))
	}

	if got := c.ceph("fsid"); got != c.fsid {
		c.T.Errorf("the cluster says that it is %s and not %s", got, c.fsid)
	}

	c.Empty()
}

// nothing wants nothing of the cluster to be left.
func (c *cluster) nothing() {
	c.T.Helper()

	if o := c.state(); o != nil {
		c.T.Errorf("the state has %+v", o)
	}

	if left := acctest.CephDaemons(c.base); len(left) > 0 {
		c.T.Errorf("running: %q", slices.Sorted(maps.Values(left)))
	}

	// Between the last file and its folder there is a moment, too: the folder may stay.
	err := filepath.WalkDir(c.base, func(path string, e fs.DirEntry, err error) error {
		if err == nil && (!e.IsDir() || filepath.Dir(path) != c.base && path != c.base) {
			c.T.Errorf("%s is left", path)
		}

		return err
	})
	if err != nil {
		c.T.Error(err)
	}
}
