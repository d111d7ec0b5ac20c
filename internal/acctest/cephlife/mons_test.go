// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephlife_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// mons sets how many monitors there are, on the first hosts.
func (m *many) mons(n int) {
	m.wanted.Mon.Count = n
}

// TestLife_monitorsComeAndGo goes from one monitor to five and back.
func TestLife_monitorsComeAndGo(t *testing.T) {
	t.Parallel()

	m := newMany(t, 5)
	m.wanted.Storage.Devices = m.wanted.Storage.Devices[:1]
	m.wanted.PoolDefaults = ceph.PoolDefaults{FailureDomain: "osd", Size: 1, MinSize: 1}
	m.wanted.Config["global"]["mon_allow_pool_size_one"] = "true"
	m.wanted.Mgr.Count = 1
	m.mons(1)

	rec := must(t, m.run(t).Create(t.Context()))
	fsid := rec.FSID

	for _, n := range []int{3, 5, 3, 1} {
		m.mons(n)

		start := time.Now()
		rec = must(t, m.run(t).Update(t.Context(), rec))
		t.Logf("%d monitors after %s: %s", n, time.Since(start).Round(time.Millisecond), rec.MonHost)

		if len(rec.Mons) != n || strings.Count(rec.MonHost, "v2:") != n || rec.FSID != fsid {
			t.Fatalf("%d monitors wanted: %+v", n, rec.Mons)
		}

		for id, mon := range rec.Mons {
			if !mon.InQuorum || mon.Host == "" {
				t.Fatalf("mon.%s: %+v", id, mon)
			}
		}
	}

	// Nothing is left of those that went, on any host.
	for i := range 5 {
		left := strings.Fields(m.hosts.Run(m.hosts.Host(i+1).Name, "ls /var/lib/ceph/mon; pgrep -a ceph-mon | wc -l"))
		if want := []string{"0"}; i > 0 && !slices.Equal(left, want) {
			t.Fatalf("h%d has %v", i+1, left)
		}
	}
}

// TestLife_monitorFails loses the host of a monitor for good: another takes its place.
func TestLife_monitorFails(t *testing.T) {
	t.Parallel()

	m := newMany(t, 4)
	m.wanted.Mon.Failover = 15 * time.Second
	m.wanted.Storage.Devices = m.wanted.Storage.Devices[:2]
	m.wanted.PoolDefaults = ceph.PoolDefaults{Size: 2, MinSize: 1}

	rec := must(t, m.run(t).Create(t.Context()))

	m.hosts.Off("h3")

	// The next plan tells it.
	var seen ceph.Record

	for range 40 {
		seen = must(t, m.run(t).Refresh(t.Context(), rec))
		if slices.ContainsFunc(seen.Drift, func(s string) bool { return strings.Contains(s, "mon.c on h3 is out of quorum") }) {
			break
		}

		time.Sleep(time.Second)
	}

	if seen.Ready || seen.Mons["c"].InQuorum || seen.Mons["c"].OutSince.IsZero() {
		t.Fatalf("nothing was told: %+v", seen)
	}

	// The next apply mends it.
	after := must(t, m.run(t).Update(t.Context(), seen))
	if _, there := after.Mons["c"]; there || after.Mons["d"].Host != "h4" || !after.Mons["d"].InQuorum || len(after.Mons) != 3 {
		t.Fatalf("after the failover: %+v", after.Mons)
	}

	// The host comes back with its old store: it is taken away, and the letter is not used again.
	m.hosts.On("h3")

	back := must(t, m.run(t).Update(t.Context(), after))
	if len(back.Mons) != 3 || back.Mons["d"].Host != "h4" || back.LastMon != 4 {
		t.Fatalf("after the return: %+v", back.Mons)
	}

	if left := m.hosts.Run("h3", "ls /var/lib/ceph/mon"); strings.TrimSpace(left) != "" {
		t.Fatalf("h3 keeps %s", left)
	}
}
