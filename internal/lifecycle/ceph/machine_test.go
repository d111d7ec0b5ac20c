// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

const (
	fsid = "11111111-2222-4333-8444-555555555555"
	old  = "ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable)"
	next = "ceph version 18.2.7 (6b0e988052ec84cf2d4a54ff9bbbc5e720b621ad) reef (stable)"
)

// scene is a cluster of three hosts that is as wanted: each test changes what it is about.
type scene struct {
	w ceph.Wanted
	s ceph.Seen
}

func settled(t *testing.T) *scene {
	t.Helper()

	sc := &scene{w: wantedThree(), s: ceph.Seen{Hosts: map[string]ceph.HostSeen{}, Calm: 2}}
	sc.s.Identity = &ceph.Identity{Name: "prod", FSID: fsid, MonSecret: "m", AdminKey: "k", LastMon: 3, Established: true}
	sc.s.Cluster = &api.Snapshot{
		Status: api.Status{FSID: fsid, Health: api.Health{Status: "HEALTH_OK"}, NumPGs: 1, PGs: []api.PGState{{State: "active+clean", Count: 1}}},
		Mgr:    api.Mgr{Active: "a", Available: true, Standbys: []string{"b"}},
		OSDMap: api.OSDMap{Pools: []api.Pool{{Name: ".mgr", Size: 3}}, RequireRelease: "pacific"},
		Versions: api.Versions{
			"mon": {old: 3}, "mgr": {old: 2}, "osd": {old: 3},
		},
	}

	for i, name := range []string{"h1", "h2", "h3"} {
		id := string(rune('a' + i))
		addr := api.Addrs{{Type: "v2", Host: fmt.Sprintf("10.0.0.%d", i+1), Port: 3300}, {Type: "v1", Host: fmt.Sprintf("10.0.0.%d", i+1), Port: 6789}}
		sc.s.Cluster.Quorum.Mons = append(sc.s.Cluster.Quorum.Mons, api.Mon{Name: id, Rank: i, Addrs: addr})
		sc.s.Cluster.Quorum.Names = append(sc.s.Cluster.Quorum.Names, id)

		uuid := fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", i)
		sc.s.Cluster.OSDMap.OSDs = append(sc.s.Cluster.OSDMap.OSDs, api.OSD{ID: i, UUID: uuid, Up: true, In: true, Host: name})

		f := ceph.Facts{Hostname: name, Root: true, CephUser: true, Version: old}
		f.Daemons = []ceph.DaemonFacts{made("mon", id), made("osd", fmt.Sprint(i))}
		f.Slots = []ceph.Slot{{Key: "k", Path: "/dev/sdb", UUID: uuid, ID: i, Made: true, Backend: "raw", Device: "/dev/sdb", Serial: "S" + name}}
		f.Disks = []ceph.Disk{{Name: "sdb", Path: "/dev/sdb", Type: "disk", Size: 1 << 40, Serial: "S" + name, Label: &ceph.Label{FSID: fsid, UUID: uuid, ID: i, Role: "main"}}}

		if i < 2 {
			f.Daemons = append(f.Daemons, made("mgr", id))
		}

		sc.s.Hosts[name] = ceph.HostSeen{Facts: f}
	}

	sc.choose()
	sc.written(t)

	return sc
}

func wantedThree() ceph.Wanted {
	w := ceph.Wanted{
		Name: "prod", Dir: "/var/lib/ceph", Supervision: ceph.SupervisionDaemon,
		Mon:     ceph.MonSpec{Count: 3, Hosts: []string{"h1", "h2", "h3"}, Failover: 10 * time.Minute},
		Mgr:     ceph.MgrSpec{Count: 2, Hosts: []string{"h1", "h2", "h3"}},
		Network: ceph.NetworkSpec{Public: []string{"10.0.0.0/24"}, Msgr2: 3300, Msgr1: 6789},
		Storage: ceph.StorageSpec{Backend: ceph.BackendRaw, OSDsPerDevice: 1},
		Ready:   ceph.ReadySpec{OSDs: "all", Health: "ok_or_warn"},
	}

	for i := range 3 {
		name := fmt.Sprintf("h%d", i+1)
		w.Hosts = append(w.Hosts, ceph.HostSpec{Name: name, Address: fmt.Sprintf("10.0.0.%d", i+1), Roles: []string{"mon", "mgr", "osd"}})
		w.Storage.Devices = append(w.Storage.Devices, ceph.DeviceSpec{Host: name, Path: "/dev/sdb"})
	}

	return w
}

func made(kind, id string) ceph.DaemonFacts {
	return ceph.DaemonFacts{Daemon: ceph.Daemon{Type: kind, ID: id}, Made: true, Running: true}
}

func (sc *scene) facts() map[string]ceph.Facts {
	all := map[string]ceph.Facts{}

	for name, h := range sc.s.Hosts {
		if h.Err == nil {
			all[name] = h.Facts
		}
	}

	return all
}

func (sc *scene) choose() { sc.s.Choice = ceph.Choose(sc.w, fsid, sc.facts()) }

// written has every host hold the files that it should.
func (sc *scene) written(t *testing.T) {
	t.Helper()

	for name, h := range sc.s.Hosts {
		if h.Err != nil {
			continue
		}

		h.Identity = sc.s.Identity
		h.ConfSum, h.AdminSum = ceph.FileSums(&sc.w, &sc.s, name)
		sc.s.Hosts[name] = h
	}
}

func (sc *scene) host(name string, change func(*ceph.HostSeen)) {
	h := sc.s.Hosts[name]
	h.Daemons = slices.Clone(h.Daemons)
	change(&h)
	sc.s.Hosts[name] = h
}

func (sc *scene) daemon(host, kind, id string, change func(*ceph.DaemonFacts)) {
	sc.host(host, func(h *ceph.HostSeen) {
		for i := range h.Daemons {
			if h.Daemons[i].Type == kind && h.Daemons[i].ID == id {
				change(&h.Daemons[i])
			}
		}
	})
}

func stopped(d *ceph.DaemonFacts) { d.Running = false }

func (sc *scene) silent(host string) {
	sc.host(host, func(h *ceph.HostSeen) { h.Facts, h.Err = ceph.Facts{}, ceph.ErrUnreachable })
}

// record is what an earlier look knew.
func (sc *scene) record() {
	sc.s.Record = ceph.Record{FSID: fsid, Mons: map[string]ceph.MonRecord{}, OSDs: map[int]ceph.OSDRecord{}}

	for i, name := range []string{"h1", "h2", "h3"} {
		id := string(rune('a' + i))
		sc.s.Record.Mons[id] = ceph.MonRecord{Host: name}
		sc.s.Record.OSDs[i] = ceph.OSDRecord{Host: name, UUID: sc.s.Cluster.OSDMap.OSDs[i].UUID}
	}
}

func (sc *scene) out(ids ...string) {
	sc.s.Cluster.Quorum.Names = slices.DeleteFunc(slices.Clone(sc.s.Cluster.Quorum.Names), func(n string) bool { return slices.Contains(ids, n) })
	sc.s.OutFor = map[string]int{}

	for _, id := range ids {
		sc.s.OutFor[id] = 60
	}
}

// TestNext goes through the table: what is seen, and what follows.
func TestNext(t *testing.T) {
	t.Parallel()

	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sc := settled(t)
			c.change(sc)

			step, sight := ceph.Next(&sc.w, &sc.s)
			if got := step.Do.String(); got != c.do || !strings.Contains(step.Why, c.why) {
				t.Fatalf("%s: %s (%s), not %s (… %s …)", sight, got, step.Why, c.do, c.why)
			}
		})
	}
}

type machineCase struct {
	change  func(*scene)
	do, why string
}

func cases() map[string]machineCase {
	all := map[string]machineCase{
		"all is as wanted":                {func(*scene) {}, "rest", ""},
		"nothing is there":                {func(sc *scene) { sc.s.Identity, sc.s.Cluster = nil, nil }, "make identity", ""},
		"a host lost its configuration":   {func(sc *scene) { sc.host("h2", func(h *ceph.HostSeen) { h.ConfSum = "" }) }, "write files", "h2"},
		"the groups are healthy for once": {func(sc *scene) { sc.s.Calm = 1 }, "wait", "first look"},
		"an option is missing":            {func(sc *scene) { sc.w.Config = map[string]map[string]string{"osd": {"osd max backfills": "2"}} }, "set config", ""},
		"a module is off":                 {func(sc *scene) { sc.w.Mgr.Modules = map[string]ceph.ModuleSpec{"prometheus": {Enabled: true}} }, "set modules", ""},
		"a ratio differs":                 {func(sc *scene) { sc.w.Storage.NearFull = 0.8 }, "set settings", "ratios"},
		"health is in error":              {func(sc *scene) { sc.s.Cluster.Status.Health.Status = "HEALTH_ERR" }, "wait", "HEALTH_ERR"},
		"a group is not healthy":          {func(sc *scene) { sc.s.Cluster.Status.PGs[0].State = "active+undersized" }, "wait", "undersized"},
		"a manager does not run":          {func(sc *scene) { sc.daemon("h2", "mgr", "b", stopped) }, "make mgrs", "mgr.b on h2"},
		"there are too many managers":     {func(sc *scene) { sc.w.Mgr.Count = 1 }, "remove mgr", "mgr.b on h2"},
		"there are too few managers":      {func(sc *scene) { sc.w.Mgr.Count = 3 }, "make mgrs", "mgr.c on h3"},
		"a silent host's manager keeps its letter": {func(sc *scene) {
			sc.s.Record.Mgrs = map[string]ceph.MgrRecord{"a": {Host: "h1"}, "b": {Host: "h2"}}
			sc.s.Cluster.Mgr.Active, sc.s.Cluster.Mgr.Standbys = "b", nil
			sc.silent("h1")
		}, "make mgrs", "mgr.c on h3"},
		"no manager is active":             {func(sc *scene) { sc.s.Cluster.Mgr.Available = false }, "wait", "active"},
		"no manager is active for long":    {func(sc *scene) { sc.s.Cluster.Mgr.Available, sc.s.Waited = false, 301 }, "fail", "no manager became active"},
		"an OSD does not run":              {func(sc *scene) { sc.daemon("h3", "osd", "2", stopped) }, "make OSDs", ""},
		"an OSD is coming":                 {func(sc *scene) { sc.s.Cluster.OSDMap.OSDs[1].Up = false }, "wait", "osd.1"},
		"an OSD was taken out by hand":     {func(sc *scene) { sc.s.Cluster.OSDMap.OSDs[1].In = false }, "set settings", "osd.1 in"},
		"an OSD was purged by hand":        {func(sc *scene) { sc.s.Cluster.OSDMap.OSDs[2].UUID = "another"; sc.daemon("h3", "osd", "2", stopped) }, "fail", "purged"},
		"O-CEPH-11: a device is not named": {func(sc *scene) { sc.w.Storage.Devices = sc.w.Storage.Devices[:2]; sc.choose() }, "rest", ""},
		"O-CEPH-11: and removal is allowed": {func(sc *scene) {
			sc.w.Storage.Devices, sc.w.Storage.Removal.Allow = sc.w.Storage.Devices[:2], true
			sc.choose()
		}, "remove OSDs", ""},
		"a silent host's OSD is not removed":  {func(sc *scene) { sc.w.Storage.Removal.Allow = true; sc.record(); sc.silent("h3"); sc.choose() }, "rest", ""},
		"a host's OSD is down and it is away": {func(sc *scene) { sc.record(); sc.silent("h3"); sc.s.Cluster.OSDMap.OSDs[2].Up = false; sc.choose() }, "fail", "never removed"},
	}

	for name, c := range optionCases() {
		all[name] = c
	}

	for name, c := range monCases() {
		all[name] = c
	}

	for name, c := range upgradeCases() {
		all[name] = c
	}

	return all
}

func monCases() map[string]machineCase {
	first := func(sc *scene) {
		sc.s.Identity = &ceph.Identity{FSID: fsid, First: map[string]ceph.MonPlace{"a": {Host: "h1", Addr: "[v2:10.0.0.1:3300]"}, "b": {Host: "h2", Addr: "[v2:10.0.0.2:3300]"}}}
		sc.s.Cluster = nil

		for name, h := range sc.s.Hosts {
			h.Identity, h.ConfSum = sc.s.Identity, ""
			sc.s.Hosts[name] = h
		}
	}

	return map[string]machineCase{
		"the first monitors are not made":          {func(sc *scene) { first(sc); sc.s.Hosts["h2"] = ceph.HostSeen{}; sc.files() }, "make mons", "mon.b on h2"},
		"a monitor of the first map is on no host": {func(sc *scene) { first(sc); sc.w.Hosts = sc.w.Hosts[:1] }, "fail", "put h2 back"},
		"a monitor does not run":                   {func(sc *scene) { sc.daemon("h2", "mon", "b", stopped); sc.out("b") }, "start mons", "mon.b on h2"},
		"there is no quorum":                       {func(sc *scene) { sc.record(); sc.s.Cluster, sc.s.Why = nil, errors.New("no monitor answers") }, "wait", "no monitor answers"},
		"there is no quorum for long": {func(sc *scene) {
			sc.s.Cluster, sc.s.Waited = nil, 301
			sc.s.Record.Mons = map[string]ceph.MonRecord{"a": {Host: "h1"}}
		}, "fail", "exceeded max retry count"},
		"the majority is away":                    {func(sc *scene) { sc.record(); sc.s.Cluster = nil; sc.silent("h2"); sc.silent("h3") }, "fail", "never made anew"},
		"a monitor that runs is out":              {func(sc *scene) { sc.out("c") }, "wait", "mon.c"},
		"a monitor that runs is out for long":     {func(sc *scene) { sc.out("c"); sc.s.Waited = 301 }, "fail", "out of quorum since"},
		"one more is wanted":                      {func(sc *scene) { sc.w.Mon.Count, sc.w.Mon.AllowMultiple = 5, true }, "add mon", "mon.d on h1"},
		"one more is wanted and there is no host": {func(sc *scene) { sc.w.Mon.Count = 5 }, "fail", "no further host"},
		"a letter is never used again": {func(sc *scene) {
			sc.w.Mon.Count, sc.w.Mon.AllowMultiple, sc.s.Identity.LastMon = 5, true, 28
			sc.files()
		}, "add mon", "mon.ac"},
		"one is too many":      {func(sc *scene) { sc.w.Mon.Count = 1 }, "remove mon", "mon.b on h2"},
		"a host lost its role": {func(sc *scene) { sc.w.Mon.Count, sc.w.Mon.Hosts = 2, []string{"h1", "h3"} }, "remove mon", "mon.b on h2"},
		"a store that the map does not know": {func(sc *scene) {
			sc.host("h2", func(h *ceph.HostSeen) { h.Daemons = append(h.Daemons, made("mon", "x")) })
		}, "remove mon", "mon.x on h2"},
		"a host lost the store of its monitor": {func(sc *scene) { sc.record(); sc.unmake("h3", "mon", "c"); sc.out("c") }, "remove mon", "mon.c on h3"},
		"a stray goes before another comes": {func(sc *scene) {
			sc.w.Mon.Count, sc.w.Mon.AllowMultiple = 4, true
			sc.host("h3", func(h *ceph.HostSeen) { h.Daemons = append(h.Daemons, made("mon", "d")) })
		}, "remove mon", "mon.d on h3"},
		"one that is to go need not start": {func(sc *scene) {
			sc.w.Mon.Count, sc.w.Mon.Hosts = 2, []string{"h1", "h2"}
			sc.daemon("h3", "mon", "c", stopped)
			sc.out("c")
		}, "remove mon", "mon.c on h3"},
		"a failed one is waited for":                {func(sc *scene) { sc.fourth(); sc.out("c"); sc.silent("h3") }, "wait", "failover_timeout"},
		"a failed one is replaced":                  {func(sc *scene) { sc.fourth(); sc.out("c"); sc.silent("h3"); sc.s.OutFor["c"] = 601 }, "add mon", "mon.d on h4 in the place of mon.c"},
		"a failed one has no other host":            {func(sc *scene) { sc.record(); sc.out("c"); sc.silent("h3"); sc.s.OutFor["c"] = 601 }, "fail", "there is no other host"},
		"the monitors that answer are somebody's":   {func(sc *scene) { sc.s.Identity.Established = false; sc.s.Cluster.Status.FSID = "other"; sc.files() }, "fail", "another cluster"},
		"the first monitors are in quorum together": {func(sc *scene) { sc.s.Identity.Established = false; sc.files() }, "establish", ""},
	}
}

// optionCases: stored is what Ceph 16 and 18 were seen to make of what is configured.
func optionCases() map[string]machineCase {
	all := map[string]machineCase{
		"an option of a module without a manager": {func(sc *scene) {
			sc.w.Config = map[string]map[string]string{"mgr": {"mgr/x/y": "1"}}
			sc.s.Cluster.Mgr.Available = false
		}, "wait", "active"},
		"an option of a module": {func(sc *scene) { sc.w.Config = map[string]map[string]string{"mgr": {"mgr/x/y": "1"}} }, "set config", ""},
		"a mask in another order": {func(sc *scene) {
			sc.w.Config = map[string]map[string]string{"osd/class:ssd/host:h1": {"osd_max_backfills": "2"}}
			sc.s.Cluster.Config = []api.Option{{Section: "osd", Mask: "host:h1/class:ssd", Name: "osd_max_backfills", Value: "2"}}
		}, "rest", ""},
	}

	for configured, stored := range map[string]string{
		"4G": "4294967296", "8GB": "8589934592", "1K": "1000", "1Gi": "1073741824", "1m": "60", "2h": "7200", "5": "5/5", "yes": "true", "07": "7", ".1": "0.100000",
	} {
		all["the store has "+stored+" for "+configured] = machineCase{func(sc *scene) {
			sc.w.Config = map[string]map[string]string{"osd": {"x": configured}}
			sc.s.Cluster.Config = []api.Option{{Section: "osd", Name: "x", Value: stored}}
		}, "rest", ""}
	}

	for configured, stored := range map[string]string{"4G": "4294967297", "1m": "61", "no": "true", "5": "5/1", "abc": "abd", "": "1"} {
		all["the store has "+stored+" and not "+configured] = machineCase{func(sc *scene) {
			sc.w.Config = map[string]map[string]string{"osd": {"x": configured}}
			sc.s.Cluster.Config = []api.Option{{Section: "osd", Name: "x", Value: stored}}
		}, "set config", ""}
	}

	return all
}

// unmake takes a daemon's folder from a host.
func (sc *scene) unmake(host, kind, id string) {
	sc.host(host, func(h *ceph.HostSeen) {
		h.Daemons = slices.DeleteFunc(h.Daemons, func(d ceph.DaemonFacts) bool { return d.Type == kind && d.ID == id })
	})
}

func upgradeCases() map[string]machineCase {
	meta := func(sc *scene, program string) {
		v, err := api.ParseVersion(old)
		if err != nil {
			panic(err)
		}

		sc.s.Meta = map[string]map[string]api.Meta{"mon": {"a": {Version: v}}, "osd": {"0": {Version: v}}}

		for name := range sc.s.Hosts {
			sc.host(name, func(h *ceph.HostSeen) { h.Version = program })
		}
	}

	return map[string]machineCase{
		"the hosts have a newer version":   {func(sc *scene) { meta(sc, next) }, "restart", "2 daemons"},
		"the hosts have an older version":  {func(sc *scene) { meta(sc, strings.ReplaceAll(old, "16.2.15", "16.2.9")) }, "fail", "downgrading is not supported"},
		"the hosts are three majors ahead": {func(sc *scene) { meta(sc, strings.ReplaceAll(old, "16.2.15", "19.2.0")) }, "fail", "at most two major versions"},
		"an upgrade of a cluster in error": {func(sc *scene) { meta(sc, next); sc.s.Cluster.Status.Health.Status = "HEALTH_ERR" }, "fail", "refusing to upgrade"},
		"an upgrade of a cluster that is not": {func(sc *scene) {
			meta(sc, next)
			sc.s.Cluster.Status.Health.Status = "HEALTH_ERR"
			sc.w.Upgrade.SkipChecks = true
		}, "restart", ""},
	}
}

// files has the hosts hold what follows from the changed identity.
func (sc *scene) files() {
	for name, h := range sc.s.Hosts {
		h.Identity = sc.s.Identity
		h.ConfSum, h.AdminSum = ceph.FileSums(&sc.w, &sc.s, name)
		sc.s.Hosts[name] = h
	}
}

// fourth adds a host that has nothing.
func (sc *scene) fourth() {
	sc.record()
	sc.w.Hosts = append(sc.w.Hosts, ceph.HostSpec{Name: "h4", Address: "10.0.0.4", Roles: []string{"mon"}})
	sc.w.Mon.Hosts = append(sc.w.Mon.Hosts, "h4")
	sc.s.Hosts["h4"] = ceph.HostSeen{Facts: ceph.Facts{Hostname: "h4", Root: true, CephUser: true, Version: old}}
	sc.files()
}
