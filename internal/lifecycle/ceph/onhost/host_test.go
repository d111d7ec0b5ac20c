// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/conf"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// scripted is a remote host that answers from a list, one answer a command.
type scripted struct {
	remote.Host
	answers []answer
	asked   []remote.Command
}

type answer struct {
	res remote.Result
	err error
}

func (*scripted) Name() string { return "root@h1" }

func (s *scripted) Run(_ context.Context, cmd remote.Command) (remote.Result, error) {
	s.asked = append(s.asked, cmd)
	if len(s.answers) == 0 {
		return remote.Result{}, fmt.Errorf("nothing more is scripted: %w", remote.ErrLost)
	}

	a := s.answers[0]
	s.answers = s.answers[1:]

	return a.res, a.err
}

func says(out string) answer { return answer{res: remote.Result{Stdout: []byte(out)}} }

// layout is a cluster that nobody has.
func layout() ceph.Layout {
	return ceph.Layout{Name: "prod", FSID: "11111111-2222-4333-8444-555555555555", Dir: "/var/lib/metal3-ceph/prod", User: "ceph"}
}

// cluster is a real one on this machine, below a folder of the test's own.
type cluster struct {
	*onhost.Host

	l          ceph.Layout
	mon, admin ceph.Secret
	addr       string
	port       int
	options    map[string]map[string]string
}

var ports atomic.Int32

// freePort returns the first of two free ports that no other test has: they lie above those that
// scripts/lib.sh hands out, and below those that the kernel takes for outgoing connections.
func freePort(t *testing.T) int {
	t.Helper()

	free := func(port int) bool {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))

		return err == nil && l.Close() == nil
	}

	for range 200 {
		if p := 30000 + int(ports.Add(2)); free(p) && free(p+1) {
			return p
		}
	}

	t.Fatal("no free port")

	return 0
}

// realHost needs Ceph's daemons, and root, which gives them their user.
func realHost(t *testing.T) *onhost.Host {
	t.Helper()

	if testing.Short() {
		t.Skip("starts real daemons")
	}

	if _, err := exec.LookPath("ceph-mon"); err != nil {
		acctest.Missing(t, "ceph-mon")
	}

	if os.Getuid() != 0 {
		acctest.Missing(t, "root")
	}

	r, err := remote.New(remote.Config{Type: remote.Local})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = r.Close() })

	return onhost.New(r)
}

// newCluster is the folder of a cluster with its files, and no daemon yet.
func newCluster(t *testing.T, user string) *cluster {
	t.Helper()

	h := realHost(t)

	base, err := os.MkdirTemp("/tmp", "moh") //nolint:usetesting // sockets need a short name, and ceph a way in
	if err != nil {
		t.Fatal(err)
	}

	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}

	c := &cluster{
		Host: h, mon: ceph.NewKey(time.Now()), admin: ceph.NewKey(time.Now()), port: freePort(t),
		l: ceph.Layout{Name: filepath.Base(base), FSID: ceph.NewFSID(), Dir: filepath.Join(base, "c"), User: user, Supervision: ceph.SupervisionDaemon},
	}
	c.addr = fmt.Sprintf("[v2:127.0.0.1:%d,v1:127.0.0.1:%d]", c.port, c.port+1)

	t.Cleanup(func() { c.end(t); _ = os.RemoveAll(base) })
	c.write(t)

	return c
}

// end stops what runs.
func (c *cluster) end(t *testing.T) {
	t.Helper()

	f, err := c.Look(context.Background(), c.l, ceph.Ask{})
	if err != nil {
		t.Error(err)
	}

	for _, d := range f.Daemons {
		if d.Running {
			if err := c.Stop(context.Background(), c.l, d.Daemon); err != nil {
				t.Error(err)
			}
		}
	}
}

func (c *cluster) files() []ceph.File {
	return []ceph.File{
		{Path: c.l.Conf(), Mode: 0o644, Data: conf.Render(conf.Input{
			Name: c.l.Name, FSID: c.l.FSID, Dir: c.l.Dir, MonHost: c.addr, PublicAddr: "127.0.0.1", Options: c.options,
		})},
		{Path: c.l.AdminKeyring(), Mode: 0o600, Data: ceph.AdminKeyring(c.admin)},
	}
}

func (c *cluster) write(t *testing.T) {
	t.Helper()
	must(t, c.Write(t.Context(), c.l, c.files()))
}

func (c *cluster) seed() ceph.MonSeed {
	return ceph.MonSeed{Addrs: map[string]string{"a": c.addr}, Keyring: ceph.SeedKeyring(c.mon, c.admin)}
}

var monA = ceph.Daemon{Type: ceph.RoleMon, ID: "a"}

// up makes and starts the monitor.
func (c *cluster) up(t *testing.T) {
	t.Helper()
	must(t, c.MakeMon(t.Context(), c.l, "a", c.seed()))
	must(t, c.Start(t.Context(), c.l, monA, ceph.StartHow{}))
}

// sees returns what a look says of a daemon.
func (c *cluster) sees(t *testing.T, d ceph.Daemon) ceph.DaemonFacts {
	t.Helper()

	f, err := c.Look(t.Context(), c.l, ceph.Ask{Logs: true})
	must(t, err)

	for _, df := range f.Daemons {
		if df.Daemon == d {
			return df
		}
	}

	return ceph.DaemonFacts{}
}

// ceph runs the ceph command.
func (c *cluster) ceph(t *testing.T, args ...string) string {
	t.Helper()

	args = append([]string{"-c", c.l.Conf(), "-k", c.l.AdminKeyring(), "--connect-timeout", "20"}, args...)

	out, err := exec.CommandContext(t.Context(), "ceph", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("ceph %s: %v: %s", strings.Join(args, " "), err, out)
	}

	return strings.TrimSpace(string(out))
}

func must(t *testing.T, err error) {
	t.Helper()

	if err != nil {
		t.Fatal(err)
	}
}
