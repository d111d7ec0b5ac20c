// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// emptied has all hosts answer and show nothing of the cluster but their disks.
func (sc *scene) emptied(change func(*ceph.Facts)) {
	for name, h := range sc.s.Hosts {
		f := ceph.Facts{Hostname: h.Hostname, Root: true, CephUser: true, Version: old}
		for _, d := range h.Disks {
			d.Label = nil
			f.Disks = append(f.Disks, d)
		}

		change(&f)
		sc.s.Hosts[name] = ceph.HostSeen{Facts: f}
	}
}

// TestGone: hosts that show nothing of a cluster are proof of its end only where they are its hosts.
func TestGone(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*ceph.Facts)
		odd    string // empty: it is gone
	}{
		"hosts that were wiped": {func(*ceph.Facts) {}, ""},
		"another machine": {func(f *ceph.Facts) {
			if f.Hostname == "h1" {
				f.Hostname = "laptop"
			}
		}, `h1 calls itself "laptop"`},
		"a name in other letters": {func(f *ceph.Facts) { f.Hostname = strings.ToUpper(f.Hostname) }, ""},
		"the folder is not mounted": {func(f *ceph.Facts) {
			f.Disks[0].Label = &ceph.Label{FSID: strings.ToUpper(fsid), UUID: uuidOf(0), Role: "main"}
		}, "the disk /dev/sdb of h1 carries a label of this cluster: is data_dir, /var/lib/ceph, mounted?"},
		"and the label is encrypted":       {func(f *ceph.Facts) { f.Disks[0].Signature = "crypto_LUKS" }, "the disk /dev/sdb of h2, which is that of osd.1, holds crypto_LUKS"},
		"a disk that another cluster took": {func(f *ceph.Facts) { f.Disks[0].Label = &ceph.Label{FSID: "other", Role: "main"} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sc := settled(t)
			sc.emptied(c.change)

			st := staged(t, sc)
			st.answers = nil
			how := ceph.CleanupSpec{Confirmation: ceph.Confirmation, Wipe: ceph.WipeQuick, AllowWithData: true}
			read, destroy := st.run().Refresh(t.Context(), known()), st.run().Delete(t.Context(), known(), how)

			if c.odd == "" {
				if !read.Gone || read.Err != nil || !destroy.Gone || destroy.Err != nil {
					t.Fatalf("it is gone: %+v, %+v", read, destroy)
				}

				return
			}

			if read.Gone || read.Err != nil || !read.Known || read.Record.FSID != fsid || read.Record.Ready || len(read.Warnings) == 0 || !strings.Contains(read.Warnings[0].Detail, c.odd) {
				t.Errorf("refresh: %+v", read)
			}

			if destroy.Gone || !destroy.Known || destroy.Err == nil || !strings.Contains(destroy.Err.Error(), c.odd) {
				t.Errorf("destroy: %+v", destroy)
			}

			if apply := st.run().Update(t.Context(), known()); apply.Err == nil || !strings.Contains(apply.Err.Error(), c.odd) {
				t.Errorf("apply: %v", apply.Err)
			}

			if len(st.done) > 0 {
				t.Errorf("done: %q", st.done)
			}
		})
	}
}

// silence has no daemon of a scene run, and no monitor answer.
func (st *stage) silence() {
	for name := range st.s.Hosts {
		st.host(name, func(h *ceph.HostSeen) {
			for i := range h.Daemons {
				h.Daemons[i].Running = false
			}
		})
	}

	st.answers = nil
}

// TestDelete_nobodyAnswers: whether a cluster holds data is not known where no monitor answers.
func TestDelete_nobodyAnswers(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		how     ceph.CleanupSpec
		change  func(*scene)
		refused bool
	}{
		"it is to be destroyed": {ceph.CleanupSpec{Confirmation: ceph.Confirmation, Wipe: ceph.WipeQuick}, func(*scene) {}, true},
		"with what it holds":    {ceph.CleanupSpec{Confirmation: ceph.Confirmation, Wipe: ceph.WipeQuick, AllowWithData: true}, func(*scene) {}, false},
		"its data is to stay":   {ceph.CleanupSpec{}, func(*scene) {}, false},
		"no OSD was ever made": {ceph.CleanupSpec{Confirmation: ceph.Confirmation}, func(sc *scene) {
			for name := range sc.s.Hosts {
				sc.host(name, func(h *ceph.HostSeen) { h.Slots = slices.Clone(h.Slots); h.Slots[0].Made = false })
			}
		}, false},
		"an earlier destroy found no data": {ceph.CleanupSpec{Confirmation: ceph.Confirmation}, func(sc *scene) { sc.ends("h1", "h2", "h3") }, false},
		"an earlier apply took that back":  {ceph.CleanupSpec{Confirmation: ceph.Confirmation}, func(sc *scene) { sc.ends("h3") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sc := settled(t)
			c.change(sc)

			st := staged(t, sc)
			st.silence()

			res := st.run().Delete(t.Context(), known(), c.how)

			if refused := res.Err != nil; refused != c.refused || res.Gone == refused {
				t.Fatalf("%+v", res)
			}

			if c.refused && (len(st.done) > 0 || !strings.Contains(res.Err.Error(), "not known, and nothing was stopped")) {
				t.Errorf("%v, done: %q", res.Err, st.done)
			}
		})
	}
}

func (sc *scene) ends(hosts ...string) {
	for _, name := range hosts {
		sc.host(name, func(h *ceph.HostSeen) {
			id := *h.Identity
			id.Ending = true
			h.Identity = &id
		})
	}
}

// TestDelete_cutOff: what proves that the cluster is ours, and that it held no data, goes last.
func TestDelete_cutOff(t *testing.T) {
	t.Parallel()

	sc := settled(t)
	st := staged(t, sc)

	st.before = func(_ context.Context, what string) error {
		if what == "wipe quick /dev/sdb on h2" {
			return errors.New("cut")
		}

		return nil
	}

	res := st.run().Delete(t.Context(), known(), ceph.CleanupSpec{Confirmation: ceph.Confirmation, Wipe: ceph.WipeQuick})
	if res.Err == nil || res.Gone || st.did("erase") || !st.did("wipe quick /dev/sdb on h1") {
		t.Fatalf("%+v, done: %q", res, st.done)
	}

	for _, name := range []string{"h1", "h2", "h3"} {
		noted, stopped := slices.Index(st.done, "write 1 on "+name), slices.IndexFunc(st.done, func(s string) bool { return strings.HasPrefix(s, "stop") })
		if noted < 0 || stopped < noted {
			t.Errorf("%s: not noted before the first stop: %q", name, st.done)
		}
	}
}
