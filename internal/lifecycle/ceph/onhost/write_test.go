// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

func TestWrite(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	secret := filepath.Join(c.l.Dir, "identity.json")
	shared := filepath.Join(c.l.Dir, "mgr", "shared")
	odd := []byte("no newline at the end, \x00 and \xff\n== end\n\n")
	files := []ceph.File{
		{Path: secret, Data: []byte(`{"fsid":"` + c.l.FSID + `"}`), Mode: 0o600},
		{Path: filepath.Join(c.l.Dir, "empty"), Mode: 0o644},
		{Path: shared, Data: odd, Mode: 0o640, Shared: true},
	}

	must(t, c.Write(t.Context(), c.l, files))

	stat := func(p string) string { return strings.TrimSpace(string(run(t, "stat", "-c", "%a %U:%G", p))) }
	for p, want := range map[string]string{
		secret: "600 root:root", shared: "640 ceph:ceph", c.l.Conf(): "644 root:root", c.l.Run(): "755 ceph:ceph",
		c.l.Log(): "750 ceph:ceph", c.l.Slots(): "711 root:root", c.l.Dir: "755 root:root",
	} {
		if got := stat(p); got != want {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}

	if got, err := os.ReadFile(shared); err != nil || !bytes.Equal(got, odd) {
		t.Errorf("content %q, %v", got, err)
	}

	t.Run("what is the same is left alone", func(t *testing.T) {
		before := tree(t, c.l.Dir)
		must(t, c.Write(t.Context(), c.l, files))

		strip := func(s string) string { // making a temporary file touches the folder of those
			return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })[1:], "\n")
		}
		if after := tree(t, c.l.Dir); !sameBut(strip(before), strip(after), "tmp ") {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	})

	t.Run("content, mode and owner are mended", func(t *testing.T) {
		must(t, os.WriteFile(secret, []byte("x"), 0o600))
		must(t, os.Chmod(secret, 0o644))
		must(t, os.Chown(shared, 0, 0))
		must(t, c.Write(t.Context(), c.l, files))

		if got := stat(secret) + " " + stat(shared); got != "600 root:root 640 ceph:ceph" {
			t.Error(got)
		}
	})

	t.Run("a link in the place of a file is replaced, not followed", func(t *testing.T) {
		victim := filepath.Join(t.TempDir(), "victim")
		must(t, os.WriteFile(victim, []byte("mine"), 0o600))
		must(t, os.Remove(secret))
		must(t, os.Symlink(victim, secret))
		must(t, c.Write(t.Context(), c.l, files))

		if got, _ := os.ReadFile(victim); string(got) != "mine" {
			t.Errorf("the victim holds %q", got)
		}
	})

	t.Run("nothing of the standard input is left behind, not even by one that was killed", func(t *testing.T) {
		killed := filepath.Join(c.l.Dir, "tmp", "in.000000")
		must(t, os.WriteFile(killed, []byte("secret"), 0o600))
		must(t, os.Chtimes(killed, time.Now().Add(-2*time.Hour), time.Now().Add(-2*time.Hour)))
		must(t, c.Write(t.Context(), c.l, files))

		if got := run(t, "ls", "-A", filepath.Join(c.l.Dir, "tmp")); len(got) != 0 {
			t.Errorf("left: %s", got)
		}
	})
}

// sameBut compares lines, other than those that begin with a word.
func sameBut(a, b, but string) bool {
	drop := func(s string) (all []string) {
		for l := range strings.Lines(s) {
			if !strings.HasPrefix(l, but) {
				all = append(all, strings.TrimSpace(l))
			}
		}

		return all
	}

	return strings.Join(drop(a), "\n") == strings.Join(drop(b), "\n")
}

func TestWrite_secretsGoThroughStandardInput(t *testing.T) {
	t.Parallel()

	l := layout()
	s := &scripted{answers: []answer{says("wrote x\n")}}
	must(t, onhost.New(s).Write(t.Context(), l, []ceph.File{{Path: l.IdentityFile(), Data: []byte("hunter2"), Mode: 0o600}}))

	cmd := s.asked[0]
	if got := cmd.Script + strings.Join(cmd.Params, " ") + strings.Join(cmd.Env, " "); strings.Contains(got, "hunter2") || string(cmd.Stdin) != "hunter2" {
		t.Error("a secret is where all users of the host can read it")
	}
}

func TestWrite_overNoOtherCluster(t *testing.T) {
	t.Parallel()

	conf := func(fsid string) string { return "[global]\n\tfsid = " + fsid + "\n" }
	identity := func(fsid string) string { return "{\n \"name\": \"prod\",\n \"fsid\": \"" + fsid + "\"\n}\n" }

	cases := map[string]struct {
		path  func(l ceph.Layout) string
		holds string
		new   string // empty: only something else is written
		ok    bool
	}{
		"the identity of another":       {ceph.Layout.IdentityFile, identity(other), identity(oursFSID), false},
		"the configuration of another":  {ceph.Layout.Conf, conf(other), conf(oursFSID), false},
		"our identity":                  {ceph.Layout.IdentityFile, identity(oursFSID), identity(oursFSID) + " ", true},
		"our configuration":             {ceph.Layout.Conf, conf(oursFSID), conf(oursFSID) + "#", true},
		"one that names no cluster":     {ceph.Layout.Conf, "[global]\n", conf(oursFSID), true},
		"something beside what another": {ceph.Layout.IdentityFile, identity(other), "", false},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			l := folder(t)
			at, key := tc.path(l), ceph.File{Path: l.AdminKeyring(), Data: []byte("k"), Mode: 0o600}
			put(t, at, tc.holds)

			files := []ceph.File{key}
			if tc.new != "" {
				files = append(files, ceph.File{Path: at, Data: []byte(tc.new), Mode: 0o600})
			}

			err := onhost.New(local(t)).Write(t.Context(), l, files)
			got, _ := os.ReadFile(at)
			_, written := os.Stat(l.AdminKeyring())

			if tc.ok {
				if err != nil || string(got) != tc.new || written != nil {
					t.Errorf("error %v, %v, it holds %s", err, written, got)
				}

				return
			}

			if !errors.Is(err, ceph.ErrForeign) || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), other) {
				t.Errorf("error %v", err)
			}

			if string(got) != tc.holds || written == nil {
				t.Errorf("it holds %s; the keyring: %v", got, written)
			}
		})
	}
}

func TestWrite_oneOfTwoClustersAtOnce(t *testing.T) {
	t.Parallel()

	l := folder(t)
	errs := make(chan error, 8)

	for i := range cap(errs) {
		mine := l
		mine.FSID = ceph.NewFSID()

		go func() {
			time.Sleep(time.Duration(i) * time.Millisecond)
			errs <- onhost.New(local(t)).Write(t.Context(), mine, []ceph.File{
				{Path: l.IdentityFile(), Data: []byte(`{"name":"prod","fsid":"` + mine.FSID + `"}`), Mode: 0o600},
				{Path: l.Conf(), Data: []byte("[global]\nfsid = " + mine.FSID + "\n"), Mode: 0o644},
			})
		}()
	}

	won := 0

	for range cap(errs) {
		if err := <-errs; err == nil {
			won++
		} else if !errors.Is(err, ceph.ErrForeign) {
			t.Error(err)
		}
	}

	if won != 1 {
		t.Errorf("%d clusters were made in one folder", won)
	}
}

func TestWrite_refusesFilesElsewhere(t *testing.T) {
	t.Parallel()

	for _, p := range []string{"/etc/passwd", layout().Dir + "/../x", layout().Dir, "ceph.conf"} {
		if err := onhost.New(&scripted{}).Write(t.Context(), layout(), []ceph.File{{Path: p}}); !errors.Is(err, onhost.ErrLayout) {
			t.Errorf("%s: error %v", p, err)
		}
	}
}

func TestErrors_tellWhatKindTheyAre(t *testing.T) {
	t.Parallel()

	exit := func(n int, out, words string) answer {
		return answer{res: remote.Result{Exit: n, Stdout: []byte(out), Stderr: []byte(words)}}
	}

	cases := map[string]struct {
		answer answer
		kind   error
		say    string
	}{
		"nobody answers":             {answer{err: remote.ErrUnreachable}, ceph.ErrUnreachable, ""},
		"somebody else answers":      {answer{err: remote.ErrHostKey}, remote.ErrHostKey, ""},
		"foreign":                    {exit(64, "noise\n/d/mon/a f-1\n", ""), ceph.ErrForeign, "/d/mon/a on root@h1 (fsid f-1)"},
		"foreign, and nothing known": {exit(64, "", ""), ceph.ErrForeign, "an unknown fsid"},
		"died":                       {exit(66, "mgr.x: \x1b[0;31mno key\x1b[0m\n", ""), ceph.ErrDied, "mgr.x: no key"},
		"failed":                     {exit(1, "", "chown: invalid user: 'ceph:ceph'\n"), onhost.ErrCommand, "(exit status 1): chown: invalid user: 'ceph:ceph'"},
		"failed without a word":      {exit(127, "", ""), onhost.ErrCommand, "it said nothing"},
		"failed with odd words":      {exit(1, "", "\x1b["), onhost.ErrCommand, "it said nothing"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := onhost.New(&scripted{answers: []answer{tc.answer}}).Start(t.Context(), layout(), monA, ceph.StartHow{})
			if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.say) {
				t.Errorf("error %v, want %v with %q", err, tc.kind, tc.say)
			}

			if errors.Is(err, ceph.ErrUnreachable) != (tc.kind == ceph.ErrUnreachable) { //nolint:errorlint // these are the kinds themselves
				t.Errorf("unreachable: %v", err)
			}
		})
	}
}
