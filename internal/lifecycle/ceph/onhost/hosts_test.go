// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/cli"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// through is a host whose scripts run in another shell, or as another user.
type through struct {
	remote.Host

	prefix, shell []string
}

func (h through) Run(ctx context.Context, cmd remote.Command) (remote.Result, error) {
	if len(cmd.Args) == 0 {
		cmd.Args = append(slices.Concat(h.shell, []string{"-c", cmd.Script, "sh"}), cmd.Params...)
	}

	cmd.Args = slices.Concat(h.prefix, cmd.Args)

	return h.Host.Run(ctx, cmd)
}

func local(t *testing.T) remote.Host {
	t.Helper()

	r, err := remote.New(remote.Config{Type: remote.Local})
	must(t, err)
	t.Cleanup(func() { _ = r.Close() })

	return r
}

func TestDaemons_inEveryShell(t *testing.T) {
	t.Parallel()

	for _, shell := range [][]string{{"dash"}, {"bash", "--posix"}, {"busybox", "ash"}} {
		t.Run(strings.Join(shell, " "), func(t *testing.T) {
			t.Parallel()

			if _, err := exec.LookPath(shell[0]); err != nil {
				acctest.Missing(t, shell[0])
			}

			r := local(t) // it is closed after all has been stopped
			c := newCluster(t, "ceph")
			c.Host = onhost.New(through{Host: r, shell: shell})
			mgr := ceph.Daemon{Type: ceph.RoleMgr, ID: "x"}

			c.write(t)
			c.up(t)
			must(t, c.MakeDaemon(t.Context(), c.l, mgr, ceph.DaemonKeyring(mgr, c.mon)))
			must(t, c.MakeDaemon(t.Context(), c.l, mgr, ceph.DaemonKeyring(mgr, c.mon)))

			if err := c.Start(t.Context(), c.l, mgr, ceph.StartHow{}); !errors.Is(err, ceph.ErrDied) {
				t.Errorf("a manager that nobody knows: %v", err)
			}

			if d := c.sees(t, monA); !d.Made || !d.Running {
				t.Errorf("seen: %+v", d)
			}

			must(t, c.Stop(t.Context(), c.l, monA))
			must(t, c.Remove(t.Context(), c.l, mgr))
			must(t, c.Erase(t.Context(), c.l))

			if _, err := os.Stat(c.l.Dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder: %v", err)
			}
		})
	}
}

func TestDaemons_asPlainUser(t *testing.T) {
	t.Parallel()

	if _, err := exec.LookPath("setpriv"); err != nil {
		acctest.Missing(t, "setpriv")
	}

	r := local(t)
	c := newCluster(t, "ceph") // whose folder is not used
	c.Host = onhost.New(through{
		Host: r, shell: []string{"/bin/sh"},
		prefix: []string{"setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "--"},
	})

	base := filepath.Join(filepath.Dir(c.l.Dir), "n")
	must(t, os.Mkdir(base, 0o755))
	run(t, "chown", "nobody:nogroup", base)

	c.l.Dir, c.l.User = filepath.Join(base, "c"), ""
	c.write(t)
	must(t, c.MakeMon(t.Context(), c.l, "a", c.seed()))
	must(t, c.Start(t.Context(), c.l, monA, ceph.StartHow{}))

	if got := c.ceph(t, "fsid"); got != c.l.FSID {
		t.Errorf("fsid %q", got)
	}

	f, err := c.Look(t.Context(), c.l, ceph.Ask{Preflight: true, Ports: []int{c.port}})
	must(t, err)

	if f.Root || len(f.Daemons) != 1 || !f.Daemons[0].Running || fmt.Sprint(f.Ports) != fmt.Sprintf("[{%d ceph-mon true}]", c.port) {
		t.Errorf("seen: %+v", f)
	}

	if who := strings.TrimSpace(string(run(t, "stat", "-c", "%U", fmt.Sprintf("/proc/%d", f.Daemons[0].PID)))); who != "nobody" {
		t.Errorf("it runs as %s", who)
	}

	must(t, c.Stop(t.Context(), c.l, monA))
	must(t, c.Erase(t.Context(), c.l))

	if err := c.Install(t.Context(), []string{"ceph-mon"}); !errors.Is(err, onhost.ErrInstall) || !strings.Contains(err.Error(), "only root") {
		t.Errorf("install: %v", err)
	}
}

func TestClusters_ofOneHost(t *testing.T) {
	t.Parallel()

	one, two := newCluster(t, "ceph"), newCluster(t, "ceph")
	one.up(t)
	two.up(t)

	if a, b := one.ceph(t, "fsid"), two.ceph(t, "fsid"); a != one.l.FSID || b != two.l.FSID {
		t.Fatalf("fsids %s and %s", a, b)
	}

	pid := two.sees(t, monA).PID

	must(t, one.Stop(t.Context(), one.l, monA))
	must(t, one.Erase(t.Context(), one.l))

	if d := two.sees(t, monA); !d.Running || d.PID != pid {
		t.Errorf("the other cluster's monitor: %+v", d)
	}

	if got := two.ceph(t, "fsid"); got != two.l.FSID {
		t.Errorf("fsid %s", got)
	}
}

// blind is a host whose Python finds no librados in a session.
type blind struct{ remote.Host }

func (h blind) Open(ctx context.Context, cmd remote.Command) (remote.Session, error) {
	hide := `for f in /usr/lib/python3/dist-packages/rados.*; do mount --bind /dev/null "$f"; done; exec "$@"`
	cmd.Args = append([]string{"unshare", "-m", "--", "sh", "-c", hide, "sh"}, cmd.Args...)

	return h.Host.Open(ctx, cmd)
}

// gone is a host that nobody reaches.
type gone struct{ remote.Host }

func (gone) Name() string { return "gone" }

func (gone) Open(context.Context, remote.Command) (remote.Session, error) {
	return nil, fmt.Errorf("dial: %w", remote.ErrUnreachable)
}

func TestConnect(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	c.up(t)

	conn, err := c.Connect(t.Context(), c.l)
	must(t, err)

	defer conn.Close()

	out, _, err := conn.MonCommand(t.Context(), []byte(`{"prefix":"fsid"}`))
	if err != nil || strings.TrimSpace(string(out)) != c.l.FSID {
		t.Errorf("fsid %q, %v", out, err)
	}

	t.Run("without librados for Python the ceph command serves", func(t *testing.T) {
		conn, err := onhost.New(blind{local(t)}).Connect(t.Context(), c.l)
		must(t, err)

		if _, ok := conn.(*cli.CLI); !ok {
			t.Errorf("through %T", conn)
		}

		out, _, err := conn.MonCommand(t.Context(), []byte(`{"prefix":"fsid"}`))
		if err != nil || strings.TrimSpace(string(out)) != c.l.FSID {
			t.Errorf("fsid %q, %v", out, err)
		}
	})

	t.Run("nobody answers", func(t *testing.T) {
		if _, err := onhost.New(gone{}).Connect(t.Context(), c.l); !errors.Is(err, ceph.ErrUnreachable) {
			t.Errorf("error %v", err)
		}
	})

	t.Run("no monitor", func(t *testing.T) {
		down := newCluster(t, "ceph")

		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()

		if _, err := down.Connect(ctx, down.l); !errors.Is(err, api.ErrNoQuorum) {
			t.Errorf("error %v", err)
		}
	})
}

// starter is the variable that makes a test process start a monitor, and then wait for its end.
const starter = "METAL3_TEST_STARTER"

// TestStarter is the child of TestDaemon_survivesTheSignalToItsStarter.
func TestStarter(t *testing.T) {
	t.Parallel()

	words := strings.Fields(os.Getenv(starter))
	if len(words) != 2 {
		return // it is a test only as a child, and nothing is missing
	}

	l := ceph.Layout{Name: "x", Dir: words[0], FSID: words[1], User: "ceph", Supervision: ceph.SupervisionDaemon}
	must(t, onhost.New(local(t)).Start(t.Context(), l, monA, ceph.StartHow{}))
	must(t, os.WriteFile(words[0]+".started", nil, 0o600))
	time.Sleep(time.Minute)
}

func TestDaemon_survivesTheSignalToItsStarter(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	must(t, c.MakeMon(t.Context(), c.l, "a", c.seed()))

	self, err := os.Executable()
	must(t, err)

	child := exec.CommandContext(t.Context(), self, "-test.run=^TestStarter$")
	child.Env = append(os.Environ(), starter+"="+c.l.Dir+" "+c.l.FSID)
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, child.Start())

	for range 300 {
		if _, err := os.Stat(c.l.Dir + ".started"); err == nil {
			break
		}

		time.Sleep(100 * time.Millisecond)
	}

	before := c.sees(t, monA)
	must(t, syscall.Kill(-child.Process.Pid, syscall.SIGINT)) // Ctrl-C in a terminal
	_ = child.Wait()

	if child.ProcessState.Success() {
		t.Fatal("the child did not feel the signal")
	}

	if after := c.sees(t, monA); !before.Running || !after.Running || after.PID != before.PID {
		t.Errorf("before %+v, after %+v", before, after)
	}

	if got := c.ceph(t, "fsid"); got != c.l.FSID {
		t.Errorf("fsid %q", got)
	}
}
