// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

func TestRemove(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	c.up(t)

	if err := c.Remove(t.Context(), c.l, monA); !errors.Is(err, onhost.ErrRuns) || !strings.Contains(err.Error(), "mon.a (pid ") {
		t.Fatalf("a running monitor: error %v", err)
	}

	must(t, c.Stop(t.Context(), c.l, monA))

	stranger := c.l
	stranger.FSID = ceph.NewFSID()

	if err := c.Remove(t.Context(), stranger, monA); !errors.Is(err, ceph.ErrForeign) || !strings.Contains(err.Error(), c.l.FSID) {
		t.Fatalf("with another fsid: error %v", err)
	}

	must(t, c.Remove(t.Context(), c.l, monA))
	must(t, c.Remove(t.Context(), c.l, monA)) // what is gone is gone

	if _, err := os.Stat(c.l.Data(monA)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the store: %v", err)
	}

	t.Run("an OSD goes, and what its link points to stays", func(t *testing.T) {
		osd := ceph.OSDDaemon(3)
		device := filepath.Join(c.l.Dir, "slots", "disk")
		must(t, os.WriteFile(device, []byte("data"), 0o600))
		must(t, os.MkdirAll(c.l.Data(osd), 0o750))
		must(t, os.WriteFile(filepath.Join(c.l.Data(osd), "ceph_fsid"), []byte(c.l.FSID+"\n"), 0o600))
		must(t, os.Symlink(device, filepath.Join(c.l.Data(osd), "block")))

		must(t, c.Remove(t.Context(), c.l, osd))

		if data, err := os.ReadFile(device); err != nil || string(data) != "data" {
			t.Errorf("the device: %q, %v", data, err)
		}
	})

	t.Run("a folder without a proof stays", func(t *testing.T) {
		mgr := ceph.Daemon{Type: ceph.RoleMgr, ID: "x"}
		must(t, os.MkdirAll(c.l.Data(mgr), 0o750))
		must(t, os.WriteFile(filepath.Join(c.l.Data(mgr), "keyring"), nil, 0o600))

		if err := c.Remove(t.Context(), c.l, mgr); !errors.Is(err, ceph.ErrForeign) {
			t.Errorf("error %v", err)
		}
	})

	t.Run("a link in the place of a folder is not followed", func(t *testing.T) {
		mds := ceph.Daemon{Type: ceph.RoleMDS, ID: "m"}
		must(t, os.Symlink(t.TempDir(), c.l.Data(mds)))

		if err := c.Remove(t.Context(), c.l, mds); err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("error %v", err)
		}
	})
}

func TestOCEPH13_eraseRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		spoil func(t *testing.T, c *cluster)
		kind  error
		say   string
	}{
		"while a daemon runs": {func(t *testing.T, c *cluster) { t.Helper(); c.up(t) }, onhost.ErrRuns, "mon.a (pid "},
		"the identity of another cluster": {func(t *testing.T, c *cluster) {
			t.Helper()
			must(t, os.WriteFile(c.l.IdentityFile(), []byte("{\n \"name\": \"x\",\n \"fsid\": \"f-2\"\n}"), 0o600))
		}, ceph.ErrForeign, "identity.json on this machine (fsid f-2)"},
		"the configuration of another cluster": {func(t *testing.T, c *cluster) {
			t.Helper()
			must(t, os.WriteFile(c.l.Conf(), []byte("[global]\n\tfsid = f-3\n"), 0o600))
		}, ceph.ErrForeign, "ceph.conf on this machine (fsid f-3)"},
		"the OSD of another cluster": {func(t *testing.T, c *cluster) {
			t.Helper()
			must(t, os.MkdirAll(c.l.Data(ceph.OSDDaemon(0)), 0o750))
			must(t, os.WriteFile(filepath.Join(c.l.Data(ceph.OSDDaemon(0)), "ceph_fsid"), []byte("f-4\n"), 0o600))
		}, ceph.ErrForeign, "osd/0 on this machine (fsid f-4)"},
		"a folder that nobody knows": {func(t *testing.T, c *cluster) {
			t.Helper()
			must(t, os.MkdirAll(filepath.Join(c.l.Data(monA), "store.db"), 0o750))
		}, ceph.ErrForeign, "mon/a on this machine (an unknown fsid)"},
		"the record of an OSD": {func(t *testing.T, c *cluster) {
			t.Helper()
			must(t, os.MkdirAll(filepath.Join(c.l.Slots(), "sdb"), 0o700))
			must(t, os.WriteFile(filepath.Join(c.l.Slots(), "sdb", "slot.json"), []byte("{}"), 0o600))
		}, onhost.ErrLeft, "slots/sdb"},
		"the key of an encrypted OSD, whose record is lost": {func(t *testing.T, c *cluster) {
			t.Helper()
			must(t, os.MkdirAll(filepath.Join(c.l.Slots(), "sdc"), 0o700))
			must(t, os.WriteFile(filepath.Join(c.l.Slots(), "sdc", "luks"), []byte("k"), 0o600))
		}, onhost.ErrLeft, "slots/sdc"},
		"no proof at all": {func(t *testing.T, c *cluster) {
			t.Helper()
			must(t, os.Remove(c.l.Conf()))
		}, ceph.ErrForeign, c0},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCluster(t, "ceph")
			tc.spoil(t, c)

			before := tree(t, filepath.Join(c.l.Dir, "mon")) + tree(t, filepath.Join(c.l.Dir, "osd")) + tree(t, c.l.Slots())
			if name == "while a daemon runs" {
				before = ""
			}

			err := c.Erase(t.Context(), c.l)
			if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.say) {
				t.Errorf("error %v, want %v with %q", err, tc.kind, tc.say)
			}

			after := tree(t, filepath.Join(c.l.Dir, "mon")) + tree(t, filepath.Join(c.l.Dir, "osd")) + tree(t, c.l.Slots())
			if before != "" && after != before {
				t.Errorf("something was deleted:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

// c0 is what every error about the folder of a test has.
const c0 = "/c on this machine"

func TestErase(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	c.up(t)
	must(t, os.WriteFile(c.l.IdentityFile(), []byte(`{"v":1,"name":"x","fsid":"`+c.l.FSID+`","mon_secret":"s"}`), 0o600))
	must(t, c.Stop(t.Context(), c.l, monA))

	t.Run("what is not ours stays, and so does the folder", func(t *testing.T) {
		must(t, os.WriteFile(filepath.Join(c.l.Dir, "notes.txt"), nil, 0o600))
		must(t, c.Erase(t.Context(), c.l))

		if got := strings.TrimSpace(string(run(t, "ls", "-A", c.l.Dir))); got != "notes.txt" {
			t.Errorf("left: %q", got)
		}
	})

	t.Run("what is half deleted is still ours", func(t *testing.T) {
		c.write(t)
		osd := c.l.Data(ceph.OSDDaemon(0))
		must(t, os.MkdirAll(osd, 0o750))

		for _, f := range []string{"a", "done", "z"} {
			must(t, os.WriteFile(filepath.Join(osd, f), []byte(c.l.FSID+"\n"), 0o600))
		}

		// "rm" goes on with the others where one cannot be deleted.
		stay := filepath.Join(osd, "m")
		must(t, os.Mkdir(stay, 0o700))

		if out, err := exec.Command("chattr", "+i", stay).CombinedOutput(); err != nil { //nolint:noctx // at once
			t.Skipf("not here: %v: %s", err, out)
		}

		err := c.Erase(t.Context(), c.l)

		left := strings.Fields(string(run(t, "find", c.l.Dir, "-name", "m")))
		for _, dir := range left {
			run(t, "chattr", "-i", dir)
		}

		if err == nil || len(left) != 1 {
			t.Fatalf("it was deleted: %v, %v", err, left)
		}

		must(t, c.Erase(t.Context(), c.l))
	})

	t.Run("nothing is left when all was ours", func(t *testing.T) {
		must(t, os.Remove(filepath.Join(c.l.Dir, "notes.txt")))
		c.write(t)

		// A wipe was cut off when the device was done and the record gone: no look shows it any more.
		wiped := filepath.Join(c.l.Slots(), "sdb")
		must(t, os.MkdirAll(wiped, 0o700))
		must(t, os.WriteFile(filepath.Join(wiped, "wiped-main"), []byte("done\n"), 0o600))

		must(t, c.Erase(t.Context(), c.l))
		must(t, c.Erase(t.Context(), c.l))

		if _, err := os.Stat(c.l.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder: %v", err)
		}
	})
}

func TestDangerousFoldersAreRefused(t *testing.T) {
	t.Parallel()

	for _, dir := range []string{"", "/", "/var", "var/lib/x", "/var/lib/../..", "/var/lib/x/", "/var/lib/a b", "/var/lib/$HOME", "/srv/" + strings.Repeat("x", 90)} {
		t.Run("folder "+dir, func(t *testing.T) {
			t.Parallel()

			s := &scripted{}
			h := onhost.New(s)
			l := layout()
			l.Dir = dir

			for what, err := range map[string]error{
				"erase":  h.Erase(t.Context(), l),
				"remove": h.Remove(t.Context(), l, monA),
				"write":  h.Write(t.Context(), l, nil),
				"start":  h.Start(t.Context(), l, monA, ceph.StartHow{}),
				"stop":   h.Stop(t.Context(), l, monA),
				"mkfs":   h.MakeMon(t.Context(), l, "a", ceph.MonSeed{Monmap: []byte("x")}),
			} {
				if !errors.Is(err, onhost.ErrLayout) {
					t.Errorf("%s: error %v", what, err)
				}
			}

			if len(s.asked) != 0 {
				t.Errorf("the host was asked: %v", s.asked)
			}
		})
	}

	for _, d := range []ceph.Daemon{{Type: "mon", ID: "../a"}, {Type: "mon", ID: ""}, {Type: "..", ID: "a"}, {Type: "osd", ID: "0;id"}} {
		if err := onhost.New(&scripted{}).Remove(t.Context(), layout(), d); !errors.Is(err, onhost.ErrLayout) {
			t.Errorf("%v: error %v", d, err)
		}
	}
}
