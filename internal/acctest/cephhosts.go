// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// Hosts are hosts with an SSH server each, on this machine: see scripts/lab/ceph-hosts.sh.
// They are called h1, h2, … and end with the test, or with its process.
type Hosts struct {
	t       *testing.T
	dir     string
	script  string
	address map[string]string
}

// SSHHost is one of the hosts.
type SSHHost struct {
	Name    string // as uname -n says it
	Address string
	Port    int
	KeyFile string // private key that root takes, in a file
	HostKey string // its own, as in known_hosts
	Config  remote.Config
}

// HostsOption changes what hosts are made of.
type HostsOption func(env []string) []string

// HostsRoot has the hosts run in another root file system than this machine's.
func HostsRoot(root string) HostsOption {
	return func(env []string) []string { return append(env, "ROOT="+root) }
}

// CephHosts returns n fresh hosts, which have the programs of this machine, so its Ceph.
func CephHosts(t *testing.T, n int, opts ...HostsOption) *Hosts {
	t.Helper()
	realCeph(t)

	if os.Getuid() != 0 || exec.CommandContext(t.Context(), "unshare", "-n", "-p", "-f", "true").Run() != nil {
		Missing(t, "root who may make namespaces")
	}

	for _, program := range []string{"/usr/sbin/sshd", "ip", "nsenter", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			Missing(t, program+" (scripts/setup.sh ceph)")
		}
	}

	// Not t.TempDir: it is removed with what is mounted there, and "sweep" knows the name.
	dir, err := os.MkdirTemp("", "m3h") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}

	h := &Hosts{t: t, dir: dir, script: script(t, "lab/ceph-hosts.sh"), address: map[string]string{}}
	env := []string{"N=" + strconv.Itoa(n), "OWNER=" + strconv.Itoa(os.Getpid())}

	for _, opt := range opts {
		env = opt(env)
	}

	h.call(t.Context(), env, "sweep")
	t.Cleanup(func() { h.call(context.WithoutCancel(t.Context()), nil, "down", dir) })
	h.call(t.Context(), env, "up", dir)

	for line := range strings.Lines(h.file("hosts")) {
		if name, address, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			h.address[name] = address
		}
	}

	if len(h.address) != n {
		t.Fatalf("the hosts are %v", h.address)
	}

	return h
}

// CephRoot returns a root file system with a Ceph that is newer than this machine's: see
// scripts/lab/ceph-root.sh.
func CephRoot(t *testing.T) string {
	t.Helper()
	realCeph(t)

	roots := os.Getenv("METAL3_ROOTS")
	if roots == "" {
		cache := os.Getenv("XDG_CACHE_HOME")
		if cache == "" {
			cache = filepath.Join(os.Getenv("HOME"), ".cache")
		}

		roots = filepath.Join(cache, "terraform-provider-metal3", "roots")
	}

	root := filepath.Join(roots, "ceph-trixie")
	if _, err := os.Stat(filepath.Join(root, ".lab-ready")); err != nil {
		Missing(t, "a root with a newer Ceph (scripts/setup.sh ceph18)")
	}

	return root
}

// realCeph skips where there are no daemons of Ceph, and in a short run.
func realCeph(t *testing.T) {
	t.Helper()

	if testing.Short() {
		t.Skip("this is the short run")
	}

	for _, program := range []string{"ceph-mon", "ceph-mgr", "ceph-osd", "ceph"} {
		if _, err := exec.LookPath(program); err != nil {
			Missing(t, program+" (scripts/setup.sh ceph)")
		}
	}
}

// Host returns the i-th host, from 1 on.
func (h *Hosts) Host(i int) SSHHost {
	h.t.Helper()

	name := "h" + strconv.Itoa(i)
	if h.address[name] == "" {
		h.t.Fatalf("there is no host %s", name)
	}

	host := SSHHost{Name: name, Address: h.address[name], Port: remote.DefaultPort, KeyFile: filepath.Join(h.dir, "id")}
	host.HostKey = strings.TrimSpace(h.file(name + "/host_key.pub"))
	host.Config = remote.Config{
		Type: remote.SSH, Host: host.Address, Port: host.Port, User: "root",
		PrivateKey: h.file("id"), HostKey: host.HostKey,
	}

	return host
}

// Network is the network of all hosts: 10.x.y.0/24.
func (h *Hosts) Network() string {
	address := h.Host(1).Address

	return address[:strings.LastIndex(address, ".")] + ".0/24"
}

// Off ends a host as a power failure does.
func (h *Hosts) Off(name string) { h.t.Helper(); h.call(h.t.Context(), nil, "off", h.dir, name) }

// On starts a host: its disks are as they were, and none of its daemons runs.
func (h *Hosts) On(name string) { h.t.Helper(); h.call(h.t.Context(), nil, "on", h.dir, name) }

// Cut pulls the network cable of a host; everything on it goes on running.
func (h *Hosts) Cut(name string) { h.t.Helper(); h.call(h.t.Context(), nil, "cut", h.dir, name) }

// Join plugs the cable in again.
func (h *Hosts) Join(name string) { h.t.Helper(); h.call(h.t.Context(), nil, "join", h.dir, name) }

// Root gives a host another root file system ("/": this machine's), as an upgrade of its
// packages does: what runs there goes on in the old one, new sessions are in the new one.
func (h *Hosts) Root(name, root string) {
	h.t.Helper()
	h.call(h.t.Context(), nil, "root", h.dir, name, root)
}

// Run runs a shell script on a host, which has to succeed, and returns what it printed.
func (h *Hosts) Run(name, text string) string {
	h.t.Helper()

	out, err := h.Try(name, text)
	if err != nil {
		h.t.Fatalf("on %s: %v\n%s", name, err, out)
	}

	return out
}

// Try runs a shell script on a host that may fail.
func (h *Hosts) Try(name, text string) (string, error) {
	h.t.Helper()

	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.t.Context()), 2*time.Minute)
	defer cancel()

	run := exec.CommandContext(ctx, "ssh", "-F", filepath.Join(h.dir, "ssh_config"), name, "sh -s")
	run.Stdin = strings.NewReader(text)
	run.WaitDelay = time.Second

	out, err := run.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("ssh %s: %w", name, err)
	}

	return string(out), nil
}

func (h *Hosts) file(name string) string {
	h.t.Helper()

	content, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}

	return string(content)
}

// call runs the script.
func (h *Hosts) call(ctx context.Context, env []string, args ...string) {
	h.t.Helper()

	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()

	run := exec.CommandContext(ctx, h.script, args...)
	run.Env = append(os.Environ(), env...)
	run.WaitDelay = time.Second

	if said, err := run.CombinedOutput(); err != nil {
		h.t.Errorf("%s %s: %v\n%s", filepath.Base(h.script), strings.Join(args, " "), err, said)

		if ctx.Err() == nil && args[0] != "down" {
			h.t.FailNow()
		}
	}
}

// script is the path of a script of this project.
func script(t *testing.T, name string) string {
	t.Helper()

	_, here, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("where is this file")
	}

	return filepath.Join(filepath.Dir(here), "..", "..", "scripts", filepath.FromSlash(name))
}
