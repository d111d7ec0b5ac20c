// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephhosts_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// TestHosts_each has two hosts that share nothing but the network.
func TestHosts_each(t *testing.T) {
	t.Parallel()

	hosts := acctest.CephHosts(t, 2)
	hosts.Run("h1", "echo one >/etc/ceph/x; echo one >/var/lib/ceph/x; echo one >/run/x; setsid sleep 4321 </dev/null >/dev/null 2>&1 &")

	for _, c := range []struct{ name, script, want string }{
		{"a name of its own", "uname -n", "h2"},
		{"folders of its own", "cat /etc/ceph/x /var/lib/ceph/x /run/x 2>/dev/null || echo none", "none"},
		{"processes of its own", "pgrep -f 'sleep 432[1]' || echo none", "none"},
		{"an address of its own", "hostname -I", hosts.Host(2).Address},
		{"the other by its name", "getent hosts h1 | cut -d' ' -f1", hosts.Host(1).Address},
		{"no systemd", "test -e /run/systemd/system || echo none", "none"},
		{"a folder for sockets that Ceph may write", "stat -c %U /run/ceph /var/lib/ceph | sort -u", "ceph"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			if got := strings.TrimSpace(hosts.Run("h2", c.script)); got != c.want {
				t.Errorf("%s says %q and not %q", c.script, got, c.want)
			}
		})
	}

	t.Run("nothing stays a zombie", func(t *testing.T) {
		t.Parallel()

		hosts.Run("h2", "for i in 1 2 3; do (setsid sh -c 'sleep 0.1' </dev/null >/dev/null 2>&1 &); done; sleep 0.6")

		if left := hosts.Run("h2", "ps -e -o stat=,args= | grep '^Z' || true"); left != "" {
			t.Errorf("these are left:\n%s", left)
		}
	})

	t.Run("a client of ours logs in, and knows the host's key", func(t *testing.T) {
		t.Parallel()

		if got := says(t, hosts.Host(2).Config, "uname -n"); got != "h2" {
			t.Errorf("it says %q", got)
		}
	})
}

// TestHosts_off has a power failure, and a pulled cable.
func TestHosts_off(t *testing.T) {
	t.Parallel()

	hosts := acctest.CephHosts(t, 2)
	boot := hosts.Run("h2", "echo disk >/var/lib/ceph/x; echo memory >/run/x; setsid sleep 4321 </dev/null >/dev/null 2>&1 & cat /proc/sys/kernel/random/boot_id")

	hosts.Cut("h2")
	unreachable(t, hosts.Host(2).Config)
	hosts.Join("h2")

	if got := hosts.Run("h2", "pgrep -c -f 'sleep 432[1]'; cat /run/x"); got != "1\nmemory\n" {
		t.Errorf("after the cable is back there is %q", got)
	}

	hosts.Off("h2")
	unreachable(t, hosts.Host(2).Config)
	hosts.On("h2")

	if got := hosts.Run("h2", "cat /var/lib/ceph/x; cat /run/x 2>/dev/null || echo none; pgrep -f 'sleep 432[1]' || echo none"); got != "disk\nnone\nnone\n" {
		t.Errorf("after the power is back there is %q", got)
	}

	if again := hosts.Run("h2", "cat /proc/sys/kernel/random/boot_id"); again == boot {
		t.Errorf("the boot has the same id as the one before: %s", again)
	}
}

// TestHosts_root changes a host's Ceph while one of its daemons runs.
func TestHosts_root(t *testing.T) {
	t.Parallel()

	root := acctest.CephRoot(t)
	hosts := acctest.CephHosts(t, 1)
	old := hosts.Run("h1", "echo disk >/var/lib/ceph/x; ceph-osd --version; setsid sleep 4321 </dev/null >/dev/null 2>&1 &")

	hosts.Root("h1", root)

	if now := hosts.Run("h1", "ceph-osd --version"); now == old || !strings.HasPrefix(now, "ceph version 1") {
		t.Errorf("the host has %s and had %s", now, old)
	}

	if got := hosts.Run("h1", "cat /var/lib/ceph/x; pgrep -c -f 'sleep 432[1]'"); got != "disk\n1\n" {
		t.Errorf("what was there is now %q", got)
	}

	hosts.Root("h1", "/")

	if back := hosts.Run("h1", "ceph-osd --version"); back != old {
		t.Errorf("back in the old root it has %s", back)
	}
}

func says(t *testing.T, cfg remote.Config, script string) string {
	t.Helper()

	host, err := remote.New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	defer func() { _ = host.Close() }()

	result, err := host.Run(t.Context(), remote.Command{Script: script})
	if err != nil || result.Exit != 0 {
		t.Fatalf("%v: %s", err, result.Stderr)
	}

	return strings.TrimSpace(string(result.Stdout))
}

// unreachable wants nobody to answer, and no word from the network either.
func unreachable(t *testing.T, cfg remote.Config) {
	t.Helper()

	cfg.Timeout = 2 * time.Second

	host, err := remote.New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	defer func() { _ = host.Close() }()

	if _, err := host.Run(t.Context(), remote.Command{Args: []string{"true"}}); !errors.Is(err, remote.ErrUnreachable) {
		t.Errorf("the host is away, and the error is %v", err)
	}
}
