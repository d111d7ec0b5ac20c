// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

func TestSnapshot_ofARealCluster(t *testing.T) {
	t.Parallel()

	b := &batchScript{script: script{says: recordings(t)}}

	fast, err := ceph.New(b).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	if b.batches != 1 || len(b.sent) != 7 {
		t.Errorf("%d batches, %v", b.batches, b.sent)
	}

	slow, err := cluster(recordings(t)).Snapshot(t.Context())
	if diff := cmp.Diff(fast, slow); err != nil || diff != "" {
		t.Fatalf("one by one: %v\n%s", err, diff)
	}

	if s := fast.Status; s.FSID != fsid || s.Mons != 3 || len(s.Quorum) != 3 || s.OSDsUp != 3 || !s.MgrAvailable ||
		len(ceph.PGsHealthy(s.PGs)) == 0 || s.Capacity.Total != 12884901888 {
		t.Errorf("status: %+v", s)
	}

	if q := fast.Quorum; q.Leader != "a" || q.MinRelease != 16 || len(q.Mons) != 3 ||
		q.Mons[1].Addrs.String() != "[v2:192.0.2.11:21310,v1:192.0.2.11:21311]" {
		t.Errorf("quorum: %+v", q)
	}

	if v := fast.Versions; len(v["osd"]) != 1 || v["mgr"] == nil {
		t.Errorf("versions: %+v", v)
	}

	wantMgr := ceph.Mgr{
		Active: "x", Available: true, Standbys: []string{"y"}, Modules: []string{"iostat", "nfs"},
		AlwaysOn: []string{
			"balancer", "crash", "devicehealth", "orchestrator", "pg_autoscaler", "progress", "rbd_support", "status", "telemetry", "volumes",
		},
		Known:    []string{"balancer", "crash", "devicehealth", "orchestrator", "restful"},
		Broken:   map[string]string{"restful": "PyO3 modules may only be initialized once per interpreter process"},
		Services: map[string]string{"dashboard": "http://192.0.2.11:8080/"},
	}
	if diff := cmp.Diff(wantMgr, fast.Mgr); diff != "" {
		t.Error(diff)
	}

	wantConfig := []ceph.Option{
		{Section: "global", Name: "mon_max_pg_per_osd", Value: "300", Level: "advanced"},
		{Section: "osd", Mask: "host:h1", Name: "osd_max_backfills", Value: "3", Level: "advanced"},
	}
	if diff := cmp.Diff(wantConfig, fast.Config); diff != "" {
		t.Error(diff)
	}

	checkMap(t, fast.OSDMap)
}

func checkMap(t *testing.T, m ceph.OSDMap) {
	t.Helper()

	place := map[string]string{"root": "default", "rack": "r1"}
	weight := 0.0038909912109375

	want := ceph.OSDMap{
		Epoch: 55, Full: 0.95, BackfillFull: 0.9, NearFull: 0.85, RequireRelease: "pacific", MinCompat: "luminous",
		Flags: []string{"pglog_hardlimit", "purged_snapdirs", "recovery_deletes", "sortbitwise"},
		OSDs: []ceph.OSD{
			{ID: 0, UUID: "ec91e423-5143-4e77-8f1e-5b805f64f9b7", Up: true, In: true, Weight: 0.5, Host: "h1", Class: "ssd", Place: place},
			{ID: 1, UUID: "957f1205-629d-4bd7-a732-8bcb8e5d3632", Up: true, In: true, Weight: weight, Host: "h1", Class: "hdd", Place: place},
			{ID: 2, UUID: "12ac2054-6266-4fce-a374-9097cfde8bd7", Up: true, In: true, Weight: weight, Host: "h1", Class: "hdd", Place: place},
			{ID: 3, UUID: "11111111-2222-4333-8444-000000000003", New: true, Class: "ssd"},
		},
		Pools: []ceph.Pool{
			{
				ID: 2, Name: "p2", Size: 2, MinSize: 1, PGNum: 32, PGAutoscaleMode: "on", Applications: []string{"rbd"},
				QuotaBytes: 1000000000, QuotaObjects: 10, Compression: "aggressive", Flags: []string{"hashpspool"},
			},
			{
				ID: 5, Name: "ec", Size: 3, MinSize: 2, PGNum: 8, PGAutoscaleMode: "on", CrushRule: 1, ErasureProfile: "prof",
				Flags: []string{"hashpspool", "ec_overwrites"},
			},
		},
		Hosts: map[string]int{"h1": 3}, NoOutHosts: []string{"h1"}, Strays: []int{3},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
}

func TestSnapshot_notAllAnswers(t *testing.T) {
	t.Parallel()

	short := ceph.New(&batchScript{script: script{says: recordings(t)}, short: true})
	if _, err := short.Snapshot(t.Context()); !errors.Is(err, ceph.ErrAnswer) {
		t.Errorf("%v, want ErrAnswer", err)
	}

	for _, prefix := range []string{"status", "quorum_status", "mgr dump", "osd dump", "osd tree", "config dump", "versions"} {
		broken := recordings(t)
		broken[prefix] = says{out: "?"}

		if _, err := cluster(broken).Snapshot(t.Context()); !errors.Is(err, ceph.ErrAnswer) {
			t.Errorf("%s: %v, want ErrAnswer", prefix, err)
		}

		broken[prefix] = says{code: -13}

		for _, c := range []ceph.Commander{&script{says: broken}, &batchScript{script: script{says: broken}}} {
			if _, err := ceph.New(c).Snapshot(t.Context()); !errors.Is(err, ceph.ErrPermission) {
				t.Errorf("%s: %v, want ErrPermission", prefix, err)
			}
		}
	}
}

func TestCluster_readsRecordedAnswers(t *testing.T) {
	t.Parallel()

	c := cluster(recordings(t))
	ctx := t.Context()

	users, err := c.AuthList(ctx)
	if err != nil || len(users) != 3 || users[0].Key != "" || users[0].Caps["osd"] != "allow *" {
		t.Errorf("users: %d, %v", len(users), err)
	}

	use, err := c.PoolStats(ctx)
	if err != nil || use["device_health_metrics"].Available == 0 || len(use) != 8 {
		t.Errorf("pools: %+v, %v", use, err)
	}

	properties, err := c.PoolGet(ctx, "p1")
	if err != nil || properties["size"] != "2" || properties["hashpspool"] != "true" || properties["compression_mode"] != "aggressive" {
		t.Errorf("properties: %v, %v", properties, err)
	}
}

func TestCluster_readsRules(t *testing.T) {
	t.Parallel()

	got, err := cluster(recordings(t)).CrushRules(t.Context())
	want := []ceph.Rule{
		{ID: 0, Name: "replicated_rule", Root: "default", Domain: "osd"},
		{ID: 1, Name: "ec", Erasure: true, Root: "default", Domain: "osd"},
		{ID: 2, Name: "r1", Root: "default", Domain: "osd", Class: "ssd"},
		{ID: 3, Name: "r2", Root: "default", Domain: "osd"},
	}

	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
}

func TestCluster_readsFileSystems(t *testing.T) {
	t.Parallel()

	c := cluster(recordings(t))

	list, err := c.FSList(t.Context())
	if diff := cmp.Diff([]ceph.FS{{Name: "fs1", Meta: "meta", Data: []string{"data", "data2"}}}, list); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}

	got, err := c.FSStatus(t.Context())
	want := ceph.MDSMap{Standbys: []string{"m3"}, FileSystems: map[string]ceph.FSRanks{"fs1": {
		ID: 1, MaxMDS: 1, Active: []string{"m1"}, Replay: []string{"m2"}, Other: map[string]string{}, StandbyReplay: true, Joinable: true,
	}}}

	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestMetadata_ofEachKind(t *testing.T) {
	t.Parallel()

	c := cluster(recordings(t))

	for kind, name := range map[string]string{"mon": "a", "osd": "0", "mds": "m1"} {
		all, err := c.Metadata(t.Context(), kind)
		if m := all[name]; err != nil || m.Version.Patch != 15 || m.Hostname != "h1" || m.Addrs == "" {
			t.Errorf("%s: %+v, %v", kind, all, err)
		}
	}

	osds, err := c.Metadata(t.Context(), "osd")
	if never, ok := osds["3"]; err != nil || !ok || never.Version.Major != 0 || osds["0"].Devices != "vda" {
		t.Errorf("%+v, %v", osds, err)
	}
}

func TestPoolGet_propertiesOneByOne(t *testing.T) {
	t.Parallel()

	got, err := always("\n{\"pool\":\"p\",\"pool_id\":1,\"size\":3}{\"pool\":\"p\",\"pool_id\":1,\"min_size\":2}\n\n"+
		`{"pool":"p","pool_id":1,"hashpspool":"true"}`).PoolGet(t.Context(), "p")
	want := map[string]string{"pool": "p", "pool_id": "1", "size": "3", "min_size": "2", "hashpspool": "true"}

	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}

	if _, err := always("").PoolGet(t.Context(), "p"); !errors.Is(err, ceph.ErrAnswer) {
		t.Errorf("%v, want ErrAnswer", err)
	}
}
