// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephlife_test

import (
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// many is a cluster on hosts of their own, over SSH.
type many struct {
	t      *testing.T
	hosts  *acctest.Hosts
	wanted ceph.Wanted
}

// fast are times that make failures pass in seconds. Nobody should run a cluster with them. The
// leases and elections of the monitors stay as they are by default: with shorter ones a busy disk
// has a monitor out of quorum that is well.
func fast() map[string]map[string]string {
	return map[string]map[string]string{"global": {
		"mon_mgr_beacon_grace": "10", "mgr_tick_period": "1", "osd_heartbeat_grace": "8", "osd_heartbeat_interval": "2",
	}}
}

func newMany(t *testing.T, n int) *many {
	t.Helper()

	m := &many{t: t, hosts: acctest.CephHosts(t, n)}
	m.wanted = ceph.Wanted{
		Name: "many", Dir: "/var/lib/ceph", Supervision: ceph.SupervisionDaemon,
		Mon:     ceph.MonSpec{Count: min(n, 3), Failover: 10 * time.Minute},
		Mgr:     ceph.MgrSpec{Count: min(n, 2)},
		Network: ceph.NetworkSpec{Public: []string{m.hosts.Network()}, Msgr2: 3300, Msgr1: 6789},
		Storage: ceph.StorageSpec{Backend: ceph.BackendFile, FileSize: 4 << 30, OSDsPerDevice: 1},
		Config:  fast(),
		Ready:   ceph.ReadySpec{OSDs: "all", Health: "ok_or_warn"},
	}

	pool := remote.NewPool()
	t.Cleanup(func() { _ = pool.Close() })

	for i := range n {
		h := m.hosts.Host(i + 1)

		h.Config.Timeout = 10 * time.Second // some tests wait for it

		host, err := pool.Host(h.Config)
		if err != nil {
			t.Fatal(err)
		}

		m.wanted.Hosts = append(m.wanted.Hosts, ceph.HostSpec{
			Name: h.Name, Address: h.Address, Roles: []string{ceph.RoleMon, ceph.RoleMgr, ceph.RoleOSD}, Host: onhost.New(host),
		})
		m.wanted.Mon.Hosts = append(m.wanted.Mon.Hosts, h.Name)
		m.wanted.Mgr.Hosts = append(m.wanted.Mgr.Hosts, h.Name)
		m.wanted.Storage.Devices = append(m.wanted.Storage.Devices, ceph.DeviceSpec{Host: h.Name, Path: "/var/tmp/osd0.img"})
	}

	return m
}

func (m *many) run(t *testing.T) *ceph.Run {
	t.Helper()

	return (&one{wanted: m.wanted}).run(t)
}

func TestLife_threeHosts(t *testing.T) {
	t.Parallel()

	m := newMany(t, 3)

	start := time.Now()
	rec := must(t, m.run(t).Create(t.Context()))
	t.Logf("created in %s: %s", time.Since(start), rec.FSID)

	start = time.Now()
	again := must(t, m.run(t).Refresh(t.Context(), rec))
	t.Logf("refreshed in %s", time.Since(start))

	if len(again.Drift) > 0 || !again.Ready || len(again.OSDs) != 3 || len(again.Mons) != 3 || len(again.Mgrs) != 2 {
		t.Fatalf("after the creation: %+v", again)
	}

	res := m.run(t).Delete(t.Context(), again, ceph.CleanupSpec{Confirmation: ceph.Confirmation, Wipe: ceph.WipeQuick})
	if res.Err != nil || !res.Gone {
		t.Fatalf("delete: %v", res.Err)
	}
}
