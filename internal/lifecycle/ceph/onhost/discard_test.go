// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// abandoned is a folder with what another cluster left, and something of ours.
func abandoned(t *testing.T) ceph.Layout {
	t.Helper()

	l := folder(t)
	put(t, l.IdentityFile(), "{\n \"name\": \"test\",\n \"fsid\": \""+other+"\"\n}\n")
	put(t, l.Conf(), "[global]\n\tfsid = \""+other+"\"\n")
	put(t, l.Dir+"/mon/a/done", oursFSID+"\n")
	put(t, l.Dir+"/mon/a/store.db/x", "")
	put(t, l.Dir+"/mon/h1.example.com/store.db/x", "")
	put(t, l.Dir+"/mon/.making-c", other+"\n")
	put(t, l.Dir+"/mon/c/keyring", "")
	put(t, l.Dir+"/osd/3/ceph_fsid", other+"\n")
	put(t, l.Dir+"/mgr/x/done", other+"\n")
	put(t, l.Dir+"/mds/y/keyring", "")
	put(t, l.Dir+"/notes", "")

	return l
}

// left is what a look finds of other clusters.
func left(t *testing.T, h *onhost.Host, l ceph.Layout) []ceph.Leftover {
	t.Helper()

	f, err := h.Look(t.Context(), l, ceph.Ask{Preflight: true})
	must(t, err)

	return f.Leftovers
}

// files lists what is below a folder.
func files(t *testing.T, dir string) string {
	t.Helper()

	out := run(t, "sh", "-c", `cd "$1" && find . ! -type d | LC_ALL=C sort`, "sh", dir)

	return strings.Join(strings.Fields(strings.ReplaceAll(string(out), "./", "")), " ")
}

func TestDiscard(t *testing.T) {
	t.Parallel()

	h, l := onhost.New(local(t)), abandoned(t)

	found := left(t, h, l)
	if len(found) != 7 {
		t.Fatalf("found: %+v", found)
	}

	must(t, h.Discard(t.Context(), l, found))
	must(t, h.Discard(t.Context(), l, found)) // what is gone is gone

	if got := files(t, l.Dir); got != "mon/a/done mon/a/store.db/x notes" {
		t.Errorf("left: %s", got)
	}
}

func TestDiscard_whatIsOursStays(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		change func(t *testing.T, l ceph.Layout)
		kind   error
		say    string
	}{
		"a monitor that is ours by now": {func(t *testing.T, l ceph.Layout) {
			t.Helper()
			put(t, l.Dir+"/mon/c/done", oursFSID+"\n")
		}, onhost.ErrOurs, "mon/c"},
		"one that we began": {func(t *testing.T, l ceph.Layout) {
			t.Helper()
			put(t, l.Dir+"/mon/h1.example.com/done", "")
			put(t, l.Dir+"/mon/.making-h1.example.com", oursFSID+"\n")
		}, onhost.ErrOurs, "mon/h1.example.com"},
		"an OSD that is ours by now": {func(t *testing.T, l ceph.Layout) {
			t.Helper()
			put(t, l.Dir+"/osd/3/ceph_fsid", oursFSID+"\n")
		}, onhost.ErrOurs, "osd/3"},
		"our configuration": {func(t *testing.T, l ceph.Layout) {
			t.Helper()
			put(t, l.Conf(), "[global]\nfsid = "+oursFSID+"\n")
		}, onhost.ErrOurs, "ceph.conf"},
		"our identity": {func(t *testing.T, l ceph.Layout) {
			t.Helper()
			put(t, l.IdentityFile(), `{"name":"prod","fsid":"`+oursFSID+`","mon_secret":"hunter2"}`)
		}, onhost.ErrOurs, "identity.json"},
		"a third cluster": {func(t *testing.T, l ceph.Layout) {
			t.Helper()
			put(t, l.Dir+"/mgr/x/done", "f-3\n")
		}, ceph.ErrForeign, "mgr/x is of the cluster f-3, and " + other + " was seen"},
		"one where nobody was known": {func(t *testing.T, l ceph.Layout) {
			t.Helper()
			put(t, l.Dir+"/mds/y/done", "f-3\n")
		}, ceph.ErrForeign, "mds/y is of the cluster f-3, and no cluster was seen"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h, l := onhost.New(local(t)), abandoned(t)
			found := left(t, h, l)
			tc.change(t, l)

			before := files(t, l.Dir)

			err := h.Discard(t.Context(), l, found)
			if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.say) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %v, want %v with %q", err, tc.kind, tc.say)
			}

			if after := files(t, l.Dir); after != before {
				t.Errorf("left: %s, before: %s", after, before)
			}
		})
	}

	t.Run("what a look did not know as ours", func(t *testing.T) {
		t.Parallel()

		h, l := onhost.New(local(t)), folder(t)
		put(t, l.Conf(), "[global]\nfsid = "+oursFSID+"\n")
		put(t, l.Dir+"/osd/3/done", oursFSID+"\n")
		put(t, l.Dir+"/osd/4/done", other+"\n")

		early := l
		early.FSID = ""

		found := left(t, h, early)
		must(t, h.Discard(t.Context(), l, found))

		if got := files(t, l.Dir); len(found) != 3 || got != "ceph.conf osd/3/done" {
			t.Errorf("found %+v, left: %s", found, got)
		}
	})
}

func TestDiscard_namesWithBlanksAreNobodysOther(t *testing.T) {
	t.Parallel()

	h, l := onhost.New(local(t)), folder(t)
	put(t, l.Dir+"/mon/a/done", oursFSID+"\n")
	put(t, l.Dir+"/mon/a/store.db/x", "")

	for _, name := range []string{"a old", "a\told", "b\nfolder mon a", "a " + other, "-rf", "a;b"} {
		put(t, filepath.Join(l.Dir, "mon", name, "store.db/x"), "")
	}

	f, err := h.Look(t.Context(), l, ceph.Ask{Preflight: true, Logs: true})
	must(t, err)

	if len(f.Daemons) != 1 || f.Daemons[0].Daemon != monA || !f.Daemons[0].Made || len(f.Leftovers) != 0 {
		t.Errorf("daemons %+v, leftovers %+v", f.Daemons, f.Leftovers)
	}
}

func TestDiscard_refusesWhileADaemonRuns(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		args []string // DIR is the folder
		work string   // where it works
		ours bool
		say  string
	}{
		"a daemon with the configuration of the folder": {[]string{"/usr/bin/ceph-osd", "-c", "read x", "-c", "DIR/ceph.conf", "-i", "3"}, "/", false, "osd.3 (pid "},
		"one whose id is odd":                           {[]string{"ceph-mds", "-c", "read x", "-c", "DIR/ceph.conf", "-i", "a b 1 new"}, "/", false, "mds.? (pid "},
		"one that is ours does not matter":              {[]string{"ceph-mon", "-c", "read x", "-c", "DIR/ceph.conf", "-i", "a"}, "/", true, ""},
		"one with a configuration elsewhere":            {[]string{"/usr/bin/ceph-mgr", "-c", "read x", "--keyring", "DIR/mgr/x/keyring"}, "/", false, "mgr/x: ceph-mgr (pid "},
		"somebody who works in a folder":                {[]string{"sh", "-c", "read x"}, "DIR/osd/3", false, "osd/3: a process works there (pid "},
		"somebody who does something else":              {[]string{"sh", "-c", "read x", "DIR/osd/3"}, "/", true, ""},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h, l := onhost.New(local(t)), abandoned(t)
			put(t, l.Dir+"/mgr/x/keyring", "")

			for i, a := range tc.args {
				tc.args[i] = strings.ReplaceAll(a, "DIR", l.Dir)
			}

			found := left(t, h, l)
			before := files(t, l.Dir)

			cmd := &exec.Cmd{Path: "/bin/sh", Args: tc.args, Dir: strings.ReplaceAll(tc.work, "DIR", l.Dir)}
			stdin, err := cmd.StdinPipe()
			must(t, err)
			must(t, cmd.Start())

			defer func() { _ = stdin.Close(); _ = cmd.Wait() }()

			waitFor(t, func() bool {
				raw, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "cmdline"))

				return strings.Contains(string(raw), "read x")
			})

			err = h.Discard(t.Context(), l, found)
			if tc.ours {
				must(t, err)

				return
			}

			if !errors.Is(err, onhost.ErrRuns) || !strings.Contains(err.Error(), tc.say) {
				t.Errorf("error %v, want one with %q", err, tc.say)
			}

			if after := files(t, l.Dir); after != before {
				t.Errorf("left: %s, before: %s", after, before)
			}
		})
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()

	for range 100 {
		if so() {
			return
		}

		time.Sleep(20 * time.Millisecond)
	}

	t.Fatal("it did not come about")
}

func TestDiscard_deletesOnlyWhatClustersHave(t *testing.T) {
	t.Parallel()

	d := layout().Dir

	for _, p := range []string{"/etc", d, d + "/mon", d + "/log/x", d + "/mon/..", d + "/mon/a/b", d + "/mon/a old", d + "/../x", d + "/slots/k", ""} {
		s := &scripted{}
		if err := onhost.New(s).Discard(t.Context(), layout(), []ceph.Leftover{{Path: p}}); !errors.Is(err, onhost.ErrLayout) || len(s.asked) != 0 {
			t.Errorf("%s: error %v", p, err)
		}
	}
}
