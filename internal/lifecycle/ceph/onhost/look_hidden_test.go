// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// folder is one for a cluster, below a folder that everybody may enter.
func folder(t *testing.T) ceph.Layout {
	t.Helper()

	base, err := os.MkdirTemp("/tmp", "moh") //nolint:usetesting // the folders of a test are closed to other users
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	must(t, os.Chmod(base, 0o755))

	return ceph.Layout{Name: "prod", FSID: oursFSID, Dir: filepath.Join(base, "c")}
}

// put writes a file with the folders above it.
func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func TestLook_saysWhenItCannotSee(t *testing.T) {
	t.Parallel()

	if os.Getuid() != 0 {
		acctest.Missing(t, "root")
	}

	cases := map[string]struct {
		closed string // below the cluster's folder, or above it
		mode   os.FileMode
		hidden bool
	}{
		"a closed folder above":                        {"..", 0o700, true},
		"one above that may be entered and not listed": {"..", 0o711, false},
		"the folder itself is closed":                  {".", 0o700, true},
		"the folder itself may be entered, not listed": {".", 0o711, true},
		"it may be listed and not entered":             {".", 0o744, true},
		"the records of OSDs":                          {"slots", 0o711, true},
		"the store of a monitor":                       {"mon/a", 0o750, true},
		"all is open":                                  {".", 0o755, false},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			l := folder(t)
			put(t, l.IdentityFile(), `{"v":1,"name":"prod","fsid":"`+oursFSID+`"}`)
			put(t, l.Data(monA)+"/done", oursFSID+"\n")
			must(t, os.Mkdir(l.Slots(), 0o755))

			closed := filepath.Join(l.Dir, tc.closed)
			must(t, os.Chmod(closed, tc.mode))

			f, err := onhost.ParseLook(asNobody(t, l), l)
			if !tc.hidden {
				if err != nil || f.Identity == nil || len(f.Daemons) != 1 {
					t.Errorf("%+v, %v", f, err)
				}

				return
			}

			if !errors.Is(err, ceph.ErrHidden) || !strings.Contains(err.Error(), "("+closed+")") || !strings.Contains(err.Error(), "log in as root, or set sudo") {
				t.Errorf("error %v, want one that names %s", err, closed)
			}

			if f.Identity != nil || f.Daemons != nil {
				t.Errorf("facts: %+v", f)
			}
		})
	}
}

// asNobody runs the script of a look as a user who owns nothing.
func asNobody(t *testing.T, l ceph.Layout) []byte {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), "sh", "-c", onhost.Scripts["look"], "sh", l.Dir, "0", "0", "0", "", "")
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}

	out, err := cmd.Output()
	must(t, err)

	return out
}

func TestLook_hiddenOfOneHostIsAnError(t *testing.T) {
	t.Parallel()

	out := "== host\nhostname h1\nhidden /var/lib/ceph\n== end\n"

	_, err := onhost.New(&scripted{answers: []answer{says(out)}}).Look(t.Context(), layout(), ceph.Ask{})
	if !errors.Is(err, ceph.ErrHidden) || !strings.Contains(err.Error(), "root@h1") || errors.Is(err, ceph.ErrUnreachable) {
		t.Errorf("error %v", err)
	}
}

func TestLook_anIdentityThatIsNoneIsAnError(t *testing.T) {
	t.Parallel()

	cases := map[string]func(t *testing.T, path string){
		"empty":           func(t *testing.T, path string) { t.Helper(); put(t, path, "") },
		"a line break":    func(t *testing.T, path string) { t.Helper(); put(t, path, "\n") },
		"a dangling link": func(t *testing.T, path string) { t.Helper(); must(t, os.Symlink("/nowhere/identity.json", path)) },
		"a folder":        func(t *testing.T, path string) { t.Helper(); must(t, os.Mkdir(path, 0o700)) },
	}

	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			l := folder(t)
			must(t, os.Mkdir(l.Dir, 0o755))
			spoil(t, l.IdentityFile())

			f, err := onhost.New(local(t)).Look(t.Context(), l, ceph.Ask{})
			if !errors.Is(err, onhost.ErrIdentity) || !strings.Contains(err.Error(), l.IdentityFile()) {
				t.Errorf("identity %v, error %v", f.Identity, err)
			}
		})
	}

	t.Run("none is none", func(t *testing.T) {
		t.Parallel()

		l := folder(t)

		if f, err := onhost.New(local(t)).Look(t.Context(), l, ceph.Ask{}); err != nil || f.Identity != nil {
			t.Errorf("identity %v, error %v", f.Identity, err)
		}
	})
}

func TestErrors_quoteNoStandardOutput(t *testing.T) {
	t.Parallel()

	killed := func(words string) *scripted {
		out := "== host\n== identity\n{\"fsid\":\"" + oursFSID + "\",\"mon_secret\":\"hunter2\"}\n== slots\nslot\tk\n{\"secret\": \"hunter2\"}\nhunter2\n"

		return &scripted{answers: []answer{{res: remote.Result{Exit: 137, Stdout: []byte(out), Stderr: []byte(words)}}}}
	}

	for name, do := range map[string]func(h *onhost.Host) error{
		"look":  func(h *onhost.Host) error { _, err := h.Look(t.Context(), layout(), ceph.Ask{}); return err },
		"slots": func(h *onhost.Host) error { _, err := h.MakeSlot(t.Context(), layout(), raw("/dev/sdx")); return err },
		"write": func(h *onhost.Host) error { return h.Write(t.Context(), layout(), nil) },
		"mkmon": func(h *onhost.Host) error {
			return h.MakeMon(t.Context(), layout(), "a", ceph.MonSeed{Monmap: []byte("x")})
		},
		"forget": func(h *onhost.Host) error { return h.Forget(t.Context(), layout(), ceph.Slot{Key: "k", UUID: "u"}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for words, want := range map[string]string{"": "it said nothing", "Killed\n": "(exit status 137): Killed"} {
				if err := do(onhost.New(killed(words))); !errors.Is(err, onhost.ErrCommand) || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one with %q", err, want)
				}
			}
		})
	}
}
