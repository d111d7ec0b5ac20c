// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// unmade adds to h1 the record of an OSD that was never made, on a device that nothing names.
func (sc *scene) unmade(id int) {
	sc.host("h1", func(h *ceph.HostSeen) {
		h.Slots = append(slices.Clone(h.Slots), ceph.Slot{Key: "z", Path: "/dev/sdz", UUID: uuidOf(9), ID: id, Backend: "raw", Device: "/dev/sdz"})
	})
	sc.choose()
}

// sharedDisk has h2 see the disk of osd.2, whose host h3 does not answer.
func (sc *scene) sharedDisk() {
	sc.record()
	sc.w.Storage.Devices = nil
	sc.w.Storage.Selectors = []ceph.Selector{{All: true}}

	disk := sc.s.Hosts["h3"].Disks[0]
	disk.Name, disk.Path = "sdq", "/dev/sdq"

	sc.silent("h3")
	sc.host("h2", func(h *ceph.HostSeen) { h.Disks = append(slices.Clone(h.Disks), disk) })
	sc.choose()
}

// TestNext_osds: OSDs that nobody should make, and what follows once all OSDs are new.
func TestNext_osds(t *testing.T) {
	t.Parallel()

	upgraded := func(sc *scene) {
		sc.s.Cluster.Versions = api.Versions{"mon": {next: 3}, "mgr": {next: 2}, "osd": {next: 2}}
		for name := range sc.s.Hosts {
			sc.host(name, func(h *ceph.HostSeen) { h.Version = next })
		}
	}

	for name, c := range map[string]machineCase{
		"a record that was never made and is not configured": {func(sc *scene) { sc.unmade(-1) }, "remove OSDs", ""},
		"and has a number": {func(sc *scene) {
			sc.unmade(9)
			sc.s.Cluster.OSDMap.OSDs = append(sc.s.Cluster.OSDMap.OSDs, api.OSD{ID: 9, UUID: uuidOf(9), New: true})
		}, "remove OSDs", ""},
		"and has run": {func(sc *scene) {
			sc.unmade(9)
			sc.s.Cluster.OSDMap.OSDs = append(sc.s.Cluster.OSDMap.OSDs, api.OSD{ID: 9, UUID: uuidOf(9)})
		}, "fail", "nothing is done with it"},
		"a record that was never made and is configured": {func(sc *scene) {
			sc.w.Storage.Devices = append(sc.w.Storage.Devices, ceph.DeviceSpec{Host: "h1", Path: "/dev/sdz"})
			sc.unmade(-1)
		}, "make OSDs", ""},
		"a disk that another host uses":  {(*scene).sharedDisk, "fail", "several hosts see one disk"},
		"a disk that came from a host":   {func(sc *scene) { sc.sharedDisk(); sc.s.Cluster.OSDMap.OSDs[2].Up = false }, "make OSDs", ""},
		"all OSDs have a newer release":  {upgraded, "set settings", "require-osd-release reef"},
		"all but one that is down do so": {func(sc *scene) { upgraded(sc); sc.record(); sc.silent("h3"); sc.s.Cluster.OSDMap.OSDs[2].Up = false }, "fail", "never removed"},
	} {
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

// ends has a run end once something was done.
func (st *stage) ends(t *testing.T, begin string) context.Context {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)

	before := st.before
	st.before = func(c context.Context, what string) error {
		if strings.HasPrefix(what, begin) {
			defer cancel()
		}

		if before != nil {
			return before(c, what)
		}

		return nil
	}

	return ctx
}

// TestUpdate_neverMade: the record goes, with its number where that never ran, and no device is touched.
func TestUpdate_neverMade(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change    func(*scene)
		purged    bool
		forgotten bool
		stopped   bool
	}{
		"it has no number": {func(*scene) {}, false, true, false},
		"it has one": {func(sc *scene) {
			sc.s.Cluster.OSDMap.OSDs = append(sc.s.Cluster.OSDMap.OSDs, api.OSD{ID: 9, UUID: uuidOf(9), New: true, Host: "h1"})
		}, true, true, true},
		"it has one that is another's": {func(sc *scene) {
			sc.s.Cluster.OSDMap.OSDs = append(sc.s.Cluster.OSDMap.OSDs, api.OSD{ID: 9, UUID: uuidOf(8), Up: true, In: true, Host: "h9"})
			sc.host("h1", func(h *ceph.HostSeen) { h.Slots[1].ID = 9 })
		}, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sc := settled(t)
			sc.unmade(-1)
			c.change(sc)

			st := staged(t, sc)
			st.run().Update(st.ends(t, "forget"), known())

			if st.did(`ask {"force":true,"id":9,"prefix":"osd purge"`) != c.purged || st.did("forget /dev/sdz on h1") != c.forgotten || st.did("stop osd.9") != c.stopped ||
				st.did("slot") || st.did("wipe") {
				t.Errorf("done: %q", st.done)
			}
		})
	}
}

// TestUpdate_purgesByUUID: a number that is another OSD's by the time of the purge is left alone.
func TestUpdate_purgesByUUID(t *testing.T) {
	t.Parallel()

	sc := settled(t)
	sc.unmade(9)
	sc.s.Cluster.OSDMap.OSDs = append(sc.s.Cluster.OSDMap.OSDs, api.OSD{ID: 9, UUID: uuidOf(9), New: true, Host: "h1"})

	st := staged(t, sc)
	st.before = func(_ context.Context, what string) error {
		if strings.HasPrefix(what, "stop osd.9") {
			st.mu.Lock()
			st.answers["osd dump"] = strings.ReplaceAll(st.answers["osd dump"], uuidOf(9), uuidOf(8))
			st.mu.Unlock()
		}

		return nil
	}

	res := st.run().Update(t.Context(), known())
	if res.Err == nil || !strings.Contains(res.Err.Error(), "nothing of it was touched") || st.did(`ask {"force":true`) || st.did("forget") {
		t.Errorf("%v, done: %q", res.Err, st.done)
	}
}

// TestUpdate_adoptsNoOneElses: a device that turns out to hold an OSD that is up is not started twice.
func TestUpdate_adoptsNoOneElses(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*stage)
		done   []string
	}{
		"it was found when it was taken": {func(st *stage) {
			st.w.Storage.Devices = append(st.w.Storage.Devices, ceph.DeviceSpec{Host: "h1", Path: "/dev/sdq"})
			st.host("h1", func(h *ceph.HostSeen) {
				h.Disks = append(slices.Clone(h.Disks), ceph.Disk{Name: "sdq", Path: "/dev/sdq", Type: "disk", Size: 1 << 40, Serial: "Q"})
			})
			st.w.Hosts[0].Host.(*actor).slot = &ceph.Slot{Key: "q", Path: "/dev/sdq", UUID: uuidOf(1), ID: 1, Made: true, Device: "/dev/sdq"}
		}, []string{"slot /dev/sdq on h1", "forget /dev/sdq on h1"}},
		"its record is there, and another host runs it": {func(st *stage) {
			st.daemon("h1", "osd", "0", stopped)
			st.answers["osd tree"] = strings.ReplaceAll(st.answers["osd tree"], `"name":"h1"`, `"name":"h7"`)
			st.answers["osd metadata"] = `[{"id":0,"hostname":"h7"}]`
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			st := staged(t, settled(t))
			c.change(st)

			res := st.run().Update(t.Context(), known())
			if res.Err == nil || !strings.Contains(res.Err.Error(), "several hosts see one disk") || st.did("start") || st.did("make osd") || st.did(`ask {"ids"`) {
				t.Errorf("%v, done: %q", res.Err, st.done)
			}

			for _, d := range c.done {
				if !st.did(d) {
					t.Errorf("not %q, done: %q", d, st.done)
				}
			}
		})
	}
}

// TestUpdate_tellsWhoEnded: a daemon that its host says does not run, and that the cluster has not
// missed yet, is reported as gone before it is started: it must not pass for the one that comes.
func TestUpdate_tellsWhoEnded(t *testing.T) {
	t.Parallel()

	unmarked := func(d *ceph.DaemonFacts) { d.Made = false }

	for name, c := range map[string]struct {
		kind, id string
		change   func(*ceph.DaemonFacts)
		told     string
		want     bool
	}{
		"the active manager": {"mgr", "a", stopped, `ask {"prefix":"mgr fail","who":"a"}`, true},
		"a standby":          {"mgr", "b", stopped, `ask {"prefix":"mgr fail"`, false},
		"an OSD":             {"osd", "0", stopped, `ask {"ids":["0"],"prefix":"osd down"}`, true},
		"the active manager runs, and the mark in its folder is lost": {"mgr", "a", unmarked, `ask {"prefix":"mgr fail"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			st := staged(t, settled(t))
			for _, h := range []string{"h1", "h2"} {
				st.daemon(h, c.kind, c.id, c.change)
			}

			start := "start " + c.kind + "." + c.id
			st.run().Update(st.ends(t, start), known())

			told := slices.IndexFunc(st.done, func(s string) bool { return strings.HasPrefix(s, c.told) })
			started := slices.IndexFunc(st.done, func(s string) bool { return strings.HasPrefix(s, start) })

			if started < 0 || c.want != (told >= 0) || told > started {
				t.Errorf("told at %d, started at %d: %q", told, started, st.done)
			}
		})
	}
}

// TestApply_knowsItsOwn: what is of the cluster is never taken for what another one left, whether
// the state tells which it is, or one of its hosts.
func TestApply_knowsItsOwn(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		was    ceph.Record
		change func(*stage)
		says   string
	}{
		"a create learns it from a host": {ceph.Record{}, func(st *stage) {
			// Only h1 has the identity: before it is known, the OSDs of h2 look like those of another cluster.
			st.w.Mon, st.w.Mgr = ceph.MonSpec{Count: 1, Hosts: []string{"h1"}}, ceph.MgrSpec{Count: 1, Hosts: []string{"h1"}}
			st.look = func(host string, l ceph.Layout) (ceph.Facts, error) {
				f, err := st.shown(host)
				if host != "h1" {
					f.Identity = nil
				}

				if l.FSID != fsid {
					f.Daemons, f.Leftovers = nil, []ceph.Leftover{{Path: "/var/lib/ceph/osd/1", FSID: fsid, What: "OSD's folder"}}
				}

				return f, err
			}
		}, ""},
		"a state whose keys are lost, with hosts that lost the identity": {ceph.Record{FSID: fsid}, func(st *stage) {
			for name := range st.s.Hosts {
				st.host(name, func(h *ceph.HostSeen) { h.Identity, h.Slots = nil, nil })
			}
		}, "the state has the cluster with fsid " + fsid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			st := staged(t, settled(t))
			st.w.Takeover = ceph.Takeover{WipeForeignData: true, WipeForeignDevices: true}
			c.change(st)

			run, ctx := st.run(), st.ends(t, "ask")
			verb := func() ceph.Result { return run.Update(ctx, c.was) }

			if c.was.FSID == "" {
				verb = func() ceph.Result { return run.Create(ctx) }
			}

			res := verb()
			if st.did("discard") || st.did("slot") || c.says != "" && (res.Err == nil || !strings.Contains(res.Err.Error(), c.says) || len(st.done) > 0) {
				t.Errorf("%v, done: %q", res.Err, st.done)
			}
		})
	}
}

// TestChoose_ownLabels: with the leave to wipe what is of other clusters, what is ours is not.
func TestChoose_ownLabels(t *testing.T) {
	t.Parallel()

	sc := settled(t)
	sc.w.Takeover.WipeForeignDevices = true

	facts := sc.facts()
	for name, f := range facts {
		f.Slots = nil
		facts[name] = f
	}

	for label, foreign := range map[string]bool{fsid: false, strings.ToUpper(fsid): false, "99999999-2222-4333-8444-555555555555": true} {
		for _, f := range facts {
			f.Disks[0].Label.FSID = label
		}

		for host, specs := range ceph.Choose(sc.w, fsid, facts).New {
			if len(specs) != 1 || specs[0].Foreign != foreign {
				t.Errorf("a label of %s on %s: %+v", label, host, specs)
			}
		}
	}
}
