// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

const fsid = "11111111-2222-4333-8444-555555555555"

func TestOCEPH07_statusOfOtherReleases(t *testing.T) {
	t.Parallel()

	healthy := ceph.Health{Status: "HEALTH_OK", Checks: map[string]ceph.Check{}}

	for name, c := range map[string]struct {
		out  string
		want ceph.Status
	}{
		"14, with a map in the map": {
			`{"fsid":"` + fsid + `","health":{"checks":{},"status":"HEALTH_OK"},"quorum":[0],"quorum_names":["a"],
			"monmap":{"epoch":1,"mons":[{"rank":0,"name":"a"},{"rank":1,"name":"b"}]},
			"osdmap":{"osdmap":{"epoch":9,"num_osds":3,"num_up_osds":2,"num_in_osds":3,"full":false}},
			"pgmap":{"pgs_by_state":[{"state_name":"active+clean","count":8}],"num_pgs":8,"bytes_used":1,"bytes_avail":2,"bytes_total":3},
			"mgrmap":{"epoch":4,"available":true,"active_name":"x","standbys":[{"gid":1,"name":"y"}]}}`,
			ceph.Status{
				FSID: fsid, Health: healthy, Quorum: []string{"a"}, Mons: 2, OSDs: 3, OSDsUp: 2, OSDsIn: 3, MgrAvailable: true,
				Standbys: 1, PGs: []ceph.PGState{{State: "active+clean", Count: 8}}, NumPGs: 8, Capacity: ceph.Capacity{Total: 3, Used: 1, Available: 2},
			},
		},
		"a fresh cluster": {
			`{"fsid":"` + fsid + `","health":{"status":"HEALTH_WARN","checks":{"MON_DISK_LOW":{"severity":"HEALTH_WARN",
			"summary":{"message":"mon a is low","count":1},"muted":true}},"mutes":[{"code":"MON_DISK_LOW"}]},"quorum_names":["a"],
			"monmap":{"epoch":1,"num_mons":1},"osdmap":{"epoch":1,"num_osds":0,"num_up_osds":0,"num_in_osds":0},
			"pgmap":{"pgs_by_state":[],"num_pgs":0,"num_pools":0,"bytes_used":0,"bytes_avail":0,"bytes_total":0},
			"mgrmap":{"available":false,"num_standbys":0,"modules":[],"services":{}}}`,
			ceph.Status{
				FSID: fsid, Mons: 1, Quorum: []string{"a"}, PGs: []ceph.PGState{},
				Health: ceph.Health{Status: "HEALTH_WARN", Checks: map[string]ceph.Check{
					"MON_DISK_LOW": {Severity: "HEALTH_WARN", Message: "mon a is low", Muted: true},
				}},
			},
		},
		"an election, and nulls": {
			`{"fsid":"` + fsid + `","health":{"status":"HEALTH_OK","checks":null,"mutes":null},"quorum":[],"monmap":null,
			"osdmap":null,"pgmap":{"pgs_by_state":null},"mgrmap":{}}`,
			ceph.Status{FSID: fsid, Health: healthy, Quorum: []string{}, PGs: []ceph.PGState{}},
		},
		"other types": {
			`{"fsid":"` + fsid + `","health":{"status":"HEALTH_OK","checks":[]},"quorum_names":"a","monmap":[],
			"osdmap":{"num_osds":"3","num_up_osds":3.0,"num_in_osds":null},"pgmap":{"pgs_by_state":[{"state_name":"x","count":"7"},5],
			"num_pgs":true,"bytes_total":"12884901888"},"mgrmap":{"available":"true","num_standbys":"1","standbys":7}}`,
			ceph.Status{
				FSID: fsid, Health: healthy, Quorum: []string{}, OSDs: 3, OSDsUp: 3, MgrAvailable: true, Standbys: 1,
				PGs: []ceph.PGState{{State: "x", Count: 7}}, NumPGs: 1, Capacity: ceph.Capacity{Total: 12884901888},
			},
		},
		"the fsid alone": {`{"fsid":"` + fsid + `"}`, ceph.Status{
			FSID: fsid, Health: ceph.Health{Checks: map[string]ceph.Check{}}, Quorum: []string{}, PGs: []ceph.PGState{},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := always(c.out).Status(t.Context())
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Fatalf("%v\n%s", err, diff)
			}
		})
	}
}

func TestOCEPH07_aMapWithoutManager(t *testing.T) {
	t.Parallel()

	m, err := always(`{"epoch":1,"active_gid":0,"active_name":"","active_addrs":{"addrvec":[]},
		"active_addr":"(unrecognized address family 0)/0","active_change":"0.000000","available":false,"standbys":[],
		"modules":["iostat"],"available_modules":[],"services":{},"always_on_modules":{}}`).Mgr(t.Context())
	if err != nil || m.Active != "" || m.Available || len(m.Standbys)+len(m.Known)+len(m.AlwaysOn) != 0 {
		t.Fatalf("%+v, %v", m, err)
	}
}

func TestOCEPH07_oddKeysOfTheQuorum(t *testing.T) {
	t.Parallel()

	q, err := always(`{"election_epoch":3,"quorum":[0],"quorum_leader_name":"a","monmap":{"epoch":"7","fsid":"` + fsid + `",
		"min_mon_release":16,"disallowed_leaders: ":"","removed_ranks: ":"","mons":[{"rank":0,"name":"a","crush_location":"{}"}, 5]}}`).
		Quorum(t.Context())

	want := ceph.Quorum{FSID: fsid, Leader: "a", Names: []string{}, Epoch: 7, MinRelease: 16, Mons: []ceph.Mon{{Name: "a"}}}
	if diff := cmp.Diff(want, q); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
}

func TestOCEPH07_flagsOfOtherReleases(t *testing.T) {
	t.Parallel()

	m, err := cluster(map[string]says{
		"osd dump": {out: `{"epoch":"5","flags":"noout,sortbitwise","full_ratio":"0.95","osds":[{"osd":"2","up":true,"in":"1"},{"osd":0},
			{"osd":"x","up":1},{"up":1},null,"y",{"osd":-1}],"pools":[{"pool":1},{"pool_name":"x"},7],"crush_node_flags":[]}`},
		"osd tree": {out: `{"nodes":[{"id":-1,"name":"default","type":"root","children":[-1,-2,"x",null]},{"id":-2,"name":"h1","type":"host",
			"children":["2"]},{"id":2,"crush_weight":"0.5","device_class":null}, 7]}`},
	}).OSDMap(t.Context())

	want := ceph.OSDMap{
		Epoch: 5, Full: 0.95, Flags: []string{"noout", "sortbitwise"}, Pools: []ceph.Pool{}, Hosts: map[string]int{"h1": 1},
		OSDs:   []ceph.OSD{{ID: 2, Up: true, In: true, Weight: 0.5, Host: "h1", Place: map[string]string{"root": "default"}}, {}},
		Strays: []int{0},
	}
	if diff := cmp.Diff(want, m); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
}
