// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephlife_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// one is a cluster on this machine.
type one struct {
	dir    string
	name   string
	wanted ceph.Wanted
}

// newOne prepares a cluster of n OSDs on files; nothing of it is there yet.
func newOne(t *testing.T, port, n int) *one {
	t.Helper()

	if testing.Short() {
		t.Skip("real daemons")
	}

	if os.Geteuid() != 0 {
		acctest.Missing(t, "root, for Ceph's daemons")
	}

	dir := acctest.CephDir(t)

	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}

	host, err := remote.New(remote.Config{Type: remote.Local})
	if err != nil {
		t.Fatal(err)
	}

	o := &one{dir: dir, name: name}
	o.wanted = ceph.Wanted{
		Name: "one", Dir: filepath.Join(dir, "ceph"), Supervision: ceph.SupervisionDaemon,
		Hosts: []ceph.HostSpec{{Name: name, Address: "127.0.0.1", Roles: []string{ceph.RoleMon, ceph.RoleMgr, ceph.RoleOSD}, Host: onhost.New(host)}},
		Mon:   ceph.MonSpec{Count: 1, Hosts: []string{name}, Failover: 10 * time.Minute},
		Mgr:   ceph.MgrSpec{Count: 1, Hosts: []string{name}},
		Network: ceph.NetworkSpec{
			Public: []string{"127.0.0.0/8"}, Msgr2: port, Msgr1: port + 1,
		},
		Storage:      ceph.StorageSpec{Backend: ceph.BackendFile, FileSize: 4 << 30, OSDsPerDevice: 1},
		PoolDefaults: ceph.PoolDefaults{FailureDomain: "osd"},
		Ready:        ceph.ReadySpec{OSDs: "all", Health: "ok_or_warn"},
	}
	o.osds(n)

	t.Cleanup(func() {
		how := o.cleanup()
		how.AllowWithData = true

		if res := o.run(t).Delete(context.WithoutCancel(t.Context()), ceph.Record{}, how); res.Err != nil {
			t.Error(res.Err)
		}
	})

	return o
}

func (o *one) osds(n int) {
	o.wanted.Storage.Devices = nil
	for i := range n {
		o.wanted.Storage.Devices = append(o.wanted.Storage.Devices, ceph.DeviceSpec{Host: o.name, Path: fmt.Sprintf("%s/osd%d.img", o.dir, i)})
	}
}

func (o *one) cleanup() ceph.CleanupSpec {
	return ceph.CleanupSpec{Confirmation: ceph.Confirmation, Wipe: ceph.WipeQuick}
}

func (o *one) run(t *testing.T) *ceph.Run {
	t.Helper()

	start := time.Now()

	return &ceph.Run{Wanted: o.wanted, Log: func(_ context.Context, text string) {
		t.Logf("%5.1f s  %s", time.Since(start).Seconds(), text)
	}}
}

func must(t *testing.T, res ceph.Result) ceph.Record {
	t.Helper()

	if res.Err != nil {
		t.Fatalf("%v\n%s", res.Err, res.Stands)
	}

	for _, w := range res.Warnings {
		t.Logf("warning: %s: %s", w.Summary, w.Detail)
	}

	return res.Record
}

func TestLife_oneHost(t *testing.T) {
	t.Parallel()

	o := newOne(t, 43300, 3)

	start := time.Now()
	rec := must(t, o.run(t).Create(t.Context()))
	t.Logf("created in %s: %s", time.Since(start), rec.FSID)

	start = time.Now()
	again := must(t, o.run(t).Refresh(t.Context(), rec))
	t.Logf("refreshed in %s", time.Since(start))

	if len(again.Drift) > 0 || !again.Ready || again.FSID != rec.FSID || len(again.OSDs) != 3 {
		t.Fatalf("after the creation: %+v", again)
	}

	start = time.Now()
	must(t, o.run(t).Update(t.Context(), again))
	t.Logf("an update of nothing took %s", time.Since(start))

	o.osds(4)

	more := must(t, o.run(t).Update(t.Context(), again))
	if len(more.OSDs) != 4 || more.FSID != rec.FSID {
		t.Fatalf("after the growth: %+v", more)
	}

	res := o.run(t).Delete(t.Context(), more, o.cleanup())
	if res.Err != nil || !res.Gone {
		t.Fatalf("delete: %+v", res)
	}

	left, err := os.ReadDir(o.dir)
	if err != nil || len(left) > 0 {
		t.Fatalf("left behind: %v %v", left, err)
	}
}
