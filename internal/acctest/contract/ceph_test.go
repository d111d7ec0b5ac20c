// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// TestAccContract_cephLocal brings up a real Ceph on this machine, and makes the changes that
// the configuration's first line names.
func TestAccContract_cephLocal(t *testing.T) {
	t.Parallel()

	dir := acctest.CephDir(t)

	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}

	w := newWorkspace(t, "ceph-local")
	vars := func(more ...string) []string {
		return append([]string{"-var=dir=" + dir, "-var=host=" + host}, more...)
	}

	w.applies("", vars()...)

	fsid := w.output("fsid")
	if len(fsid) != 36 || fsid != w.ceph(dir, "fsid") {
		t.Errorf("the state has the fsid %q, the cluster %q", fsid, w.ceph(dir, "fsid"))
	}

	if health := w.output("health"); !strings.HasPrefix(health, "HEALTH_") {
		t.Errorf("the health is %q", health)
	}

	w.applies("", vars()...)
	w.applies("", vars("-var=osds=4")...)

	if again := w.output("fsid"); again != fsid || again != w.ceph(dir, "fsid") {
		t.Errorf("the fsid was %s and is %s", fsid, again)
	}

	if ids := strings.Fields(w.ceph(dir, "osd", "ls")); len(ids) != 4 {
		t.Errorf("the OSDs are %v", ids)
	}

	if pools := strings.Fields(w.ceph(dir, "osd", "pool", "ls")); !strings.Contains(strings.Join(pools, " "), "rbd") {
		t.Errorf("the pools are %v", pools)
	}

	w.run(append([]string{"destroy", "-auto-approve"}, vars("-var=osds=4")...)...)
	w.left()

	if left := acctest.CephDaemons(dir); len(left) != 0 {
		t.Errorf("these run on: %v", left)
	}

	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("these files are left: %v %v", left, err)
	}
}

// output is one output, a string.
func (w *workspace) output(name string) string {
	w.t.Helper()

	var value string
	if err := json.Unmarshal([]byte(w.run("output", "-json", name)), &value); err != nil {
		w.t.Fatal(err)
	}

	return value
}

// ceph asks the cluster below a folder itself.
func (w *workspace) ceph(dir string, args ...string) string {
	w.t.Helper()

	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()

	at := filepath.Join(dir, "ceph")

	out, err := exec.CommandContext(ctx, "ceph", append([]string{
		"--conf", filepath.Join(at, "ceph.conf"), "--keyring", filepath.Join(at, "ceph.client.admin.keyring"), "--connect-timeout", "20",
	}, args...)...).Output()
	if err != nil {
		w.t.Fatalf("ceph %v: %v", args, err)
	}

	return strings.TrimSpace(string(out))
}
