// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

func TestMonitor_lives(t *testing.T) {
	t.Parallel()

	for _, user := range []string{"ceph", ""} {
		t.Run("as "+user, func(t *testing.T) {
			t.Parallel()

			c := newCluster(t, user)
			c.up(t)

			if got := c.ceph(t, "fsid"); got != c.l.FSID {
				t.Fatalf("fsid %q, want %q", got, c.l.FSID)
			}

			first := c.sees(t, monA)
			if !first.Made || !first.Running || first.Old || first.PID == 0 {
				t.Fatalf("seen: %+v", first)
			}

			t.Run("a second start changes nothing", func(t *testing.T) {
				c.up(t)

				if again := c.sees(t, monA); again.PID != first.PID {
					t.Errorf("pid %d became %d", first.PID, again.PID)
				}
			})

			t.Run("it is stopped, twice", func(t *testing.T) {
				must(t, c.Stop(t.Context(), c.l, monA))
				must(t, c.Stop(t.Context(), c.l, monA))

				if d := c.sees(t, monA); d.Running || !d.Made {
					t.Errorf("seen: %+v", d)
				}
			})

			t.Run("files with numbers and sockets lie", func(t *testing.T) {
				// Somebody else's number, as after a reboot.
				stale := []byte(fmt.Sprintf("%d\n", os.Getpid()))
				must(t, os.WriteFile(filepath.Join(c.l.Run(), "mon.a.pid"), stale, 0o600))
				must(t, os.WriteFile(filepath.Join(c.l.Run(), "mon.a.asok"), nil, 0o600))

				if c.sees(t, monA).Running {
					t.Fatal("a file makes a daemon")
				}

				must(t, c.Stop(t.Context(), c.l, monA)) // and not us
				must(t, c.Start(t.Context(), c.l, monA, ceph.StartHow{}))

				if got := c.ceph(t, "fsid"); got != c.l.FSID {
					t.Errorf("fsid %q, want %q", got, c.l.FSID)
				}
			})
		})
	}
}

func TestOCEPH04_aMonitorWhereOneLives(t *testing.T) {
	t.Parallel()

	other := newCluster(t, "ceph")
	must(t, other.MakeMon(t.Context(), other.l, "a", other.seed()))

	cases := map[string]struct {
		spoil func(store string)
		want  string // in the error; empty: it is made anew
	}{
		"with the marker of another cluster": {func(string) {}, other.l.FSID},
		"without a marker, another secret":   {func(d string) { _ = os.Remove(filepath.Join(d, "done")) }, other.l.FSID},
		"an empty marker, as packages leave": {func(d string) { _ = os.WriteFile(filepath.Join(d, "done"), nil, 0o600) }, other.l.FSID},
		"without a marker and without a key": {func(d string) { _ = os.Remove(filepath.Join(d, "done")); _ = os.Remove(filepath.Join(d, "keyring")) }, other.l.FSID},
		"one that cannot be read": {func(d string) {
			_ = os.RemoveAll(filepath.Join(d, "store.db"))
			_ = os.Remove(filepath.Join(d, "done"))
		}, "unknown fsid"},
		"only a folder that somebody made":  {func(d string) { _ = os.RemoveAll(d); _ = os.Mkdir(d, 0o700) }, ""},
		"something else, which is not ours": {func(d string) { _ = os.RemoveAll(d); _ = os.MkdirAll(filepath.Join(d, "photos"), 0o700) }, "unknown fsid"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCluster(t, "ceph")
			store := c.l.Data(monA)
			run(t, "cp", "-a", other.l.Data(monA), store)
			tc.spoil(store)

			before := tree(t, store)
			err := c.MakeMon(t.Context(), c.l, "a", c.seed())

			if tc.want == "" {
				must(t, err)

				if !c.sees(t, monA).Made {
					t.Error("it is not made")
				}

				return
			}

			if !errors.Is(err, ceph.ErrForeign) || !strings.Contains(err.Error(), store) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want ErrForeign with %s and %s", err, store, tc.want)
			}

			if after := tree(t, store); after != before {
				t.Errorf("the store was touched:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

func TestMonitor_joins(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	c.options = map[string]map[string]string{"global": {"mon_election_timeout": "1"}}
	c.write(t)
	c.up(t)

	c.ceph(t, "mon", "getmap", "-o", c.l.Dir+".map")

	monmap, err := os.ReadFile(c.l.Dir + ".map")
	must(t, err)

	port := freePort(t)
	addr := fmt.Sprintf("[v2:127.0.0.1:%d,v1:127.0.0.1:%d]", port, port+1)
	want := fmt.Sprintf("[v2:127.0.0.1:%d/0,v1:127.0.0.1:%d/0] mon.b", port, port+1)
	monB := ceph.Daemon{Type: ceph.RoleMon, ID: "b"}

	must(t, c.MakeMon(t.Context(), c.l, "b", ceph.MonSeed{Monmap: monmap, Keyring: ceph.SeedKeyring(c.mon, c.admin)}))
	must(t, c.Start(t.Context(), c.l, monB, ceph.StartHow{Addr: addr}))

	for range 100 {
		if strings.Contains(c.ceph(t, "mon", "dump"), want) {
			return
		}

		time.Sleep(200 * time.Millisecond)
	}

	t.Errorf("mon.b does not join: %s", c.ceph(t, "mon", "dump"))
}

func TestMonitor_begunIsMadeAnew(t *testing.T) {
	t.Parallel()

	cases := map[string]func(c *cluster, store string){
		"no marker, but our secret": func(_ *cluster, store string) { _ = os.Remove(filepath.Join(store, "done")) },
		"begun, and nothing in it that tells": func(c *cluster, store string) {
			_ = os.Remove(filepath.Join(store, "done"))
			_ = os.Remove(filepath.Join(store, "keyring"))
			_ = os.WriteFile(filepath.Join(c.l.Dir, "mon", ".making-a"), []byte(c.l.FSID+"\n"), 0o600)
		},
		"our marker, and the store is lost": func(_ *cluster, store string) { _ = os.RemoveAll(filepath.Join(store, "store.db")) },
	}

	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCluster(t, "ceph")
			must(t, c.MakeMon(t.Context(), c.l, "a", c.seed()))
			spoil(c, c.l.Data(monA))
			c.up(t)

			if got := c.ceph(t, "fsid"); got != c.l.FSID {
				t.Errorf("fsid %q, want %q", got, c.l.FSID)
			}
		})
	}
}

func TestStart_diesAtOnce(t *testing.T) {
	t.Parallel()

	t.Run("a monitor whose port is taken says which and by whom", func(t *testing.T) {
		t.Parallel()

		c := newCluster(t, "ceph")

		busy, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", c.port))
		must(t, err)

		defer busy.Close()

		must(t, c.MakeMon(t.Context(), c.l, "a", c.seed()))
		err = c.Start(t.Context(), c.l, monA, ceph.StartHow{})

		want := fmt.Sprintf("port %d is taken by onhost.test (pid %d)", c.port, os.Getpid())
		if !errors.Is(err, ceph.ErrDied) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "unable to bind") {
			t.Errorf("error %v, want ErrDied with %q", err, want)
		}

		if d := c.sees(t, monA); d.Running || !strings.Contains(d.Words, "unable to bind") {
			t.Errorf("seen: %+v", d)
		}
	})

	t.Run("a manager that no monitor knows", func(t *testing.T) {
		t.Parallel()

		c := newCluster(t, "ceph")
		c.up(t)

		mgr := ceph.Daemon{Type: ceph.RoleMgr, ID: "x"}
		must(t, c.MakeDaemon(t.Context(), c.l, mgr, ceph.DaemonKeyring(mgr, c.mon)))

		err := c.Start(t.Context(), c.l, mgr, ceph.StartHow{})
		if !errors.Is(err, ceph.ErrDied) || !strings.Contains(err.Error(), "mgr.x") || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("error %v, want ErrDied", err)
		}

		t.Run("lives once its key is right", func(t *testing.T) {
			keyring := c.ceph(t, "auth", "get-or-create", "mgr.x", "mon", "allow profile mgr", "osd", "allow *", "mds", "allow *")
			must(t, c.MakeDaemon(t.Context(), c.l, mgr, []byte(keyring+"\n")))
			must(t, c.Start(t.Context(), c.l, mgr, ceph.StartHow{}))

			if d := c.sees(t, mgr); !d.Running || !d.Made {
				t.Errorf("seen: %+v", d)
			}
		})
	})

	t.Run("a folder that is not there", func(t *testing.T) {
		t.Parallel()

		c := newCluster(t, "ceph")

		err := c.Start(t.Context(), c.l, monA, ceph.StartHow{})
		if err == nil || !strings.Contains(err.Error(), c.l.Data(monA)) {
			t.Errorf("error %v", err)
		}
	})
}

func TestStop_killsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	c.up(t)
	must(t, syscall.Kill(c.sees(t, monA).PID, syscall.SIGSTOP))

	began := time.Now()
	must(t, c.Stop(t.Context(), c.l, monA))

	if d := c.sees(t, monA); d.Running || time.Since(began) < 20*time.Second {
		t.Errorf("after %v: %+v", time.Since(began), d)
	}
}

func TestLook_seesOldPrograms(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	must(t, c.MakeMon(t.Context(), c.l, "a", c.seed()))

	program, err := exec.LookPath("ceph-mon")
	must(t, err)

	old := filepath.Join(filepath.Dir(c.l.Dir), "ceph-mon")
	run(t, "cp", program, old)
	run(t, "setsid", old, "--conf", c.l.Conf(), "--id", "a", "--setuser", "ceph", "--setgroup", "ceph")

	if d := c.sees(t, monA); !d.Running || d.Old {
		t.Fatalf("before the upgrade: %+v", d)
	}

	must(t, os.Remove(old)) // packages replace programs

	if d := c.sees(t, monA); !d.Running || !d.Old {
		t.Errorf("after the upgrade: %+v", d)
	}

	must(t, c.Stop(t.Context(), c.l, monA))
	must(t, c.Start(t.Context(), c.l, monA, ceph.StartHow{}))

	if d := c.sees(t, monA); !d.Running || d.Old {
		t.Errorf("after the restart: %+v", d)
	}
}

func TestDaemon_outlivesItsStarter(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	c.up(t)

	pid := c.sees(t, monA).PID

	sid := strings.Fields(string(run(t, "ps", "-o", "sid=,pgid=", "-p", fmt.Sprint(pid))))
	if own := fmt.Sprint(syscall.Getpgrp()); len(sid) != 2 || sid[0] == own || sid[1] == own {
		t.Errorf("session and group %v: it is with us (%s)", sid, own)
	}

	links := run(t, "sh", "-c", fmt.Sprintf("ls -l /proc/%d/fd; tr '\\0' '\\n' </proc/%d/environ", pid, pid))
	if strings.Contains(string(links), "pipe:") && strings.Contains(string(links), "METAL3_RUN") {
		t.Errorf("it holds something of ours: %s", links)
	}
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()

	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}

	return out
}

// tree is all names and sizes below a folder, and the owners.
func tree(t *testing.T, dir string) string {
	t.Helper()

	return string(run(t, "find", dir, "-printf", "%P %s %U %m %T@\n"))
}
