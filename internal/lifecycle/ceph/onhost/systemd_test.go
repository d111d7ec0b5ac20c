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

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// systemctl plays systemd for the units that are in $units: it starts what ExecStart says.
const systemctl = `#!/bin/sh
units=/etc/systemd/system
echo "$*" >>"$units/../said"
[ "$1" != --quiet ] || shift
pid=$(cat "$units/../$2.pid" 2>/dev/null)
case $1 in
enable) mkdir -p "$units/multi-user.target.wants"; ln -sf "../$2" "$units/multi-user.target.wants/$2" ;;
disable) rm -f "$units/multi-user.target.wants/$2" ;;
start)
  grep -q '^\[Service\]' "$units/$2" || exit 5
  eval "setsid $(sed -n 's/^ExecStart=//p' "$units/$2")" </dev/null >/dev/null 2>&1 &
  echo $! >"$units/../$2.pid" ;;
stop) kill "$pid" 2>/dev/null ;;
is-active) if kill -0 "$pid" 2>/dev/null; then echo active; else echo failed; exit 3; fi ;;
esac
exit 0
`

// underSystemd is the cluster's host with folders of systemd that are the test's own.
func underSystemd(t *testing.T) (*cluster, string) {
	t.Helper()

	r := local(t)
	c := newCluster(t, "ceph")

	if err := exec.CommandContext(t.Context(), "unshare", "-m", "true").Run(); err != nil {
		acctest.Missing(t, "mount namespaces: "+err.Error())
	}

	base := filepath.Join(filepath.Dir(c.l.Dir), "systemd")
	must(t, os.MkdirAll(filepath.Join(base, "units"), 0o755))
	must(t, os.Mkdir(filepath.Join(base, "bin"), 0o755))
	must(t, os.WriteFile(filepath.Join(base, "bin", "systemctl"), []byte(strings.ReplaceAll(systemctl, "$units/../", base+"/")), 0o755))

	enter := `mkdir -p /etc/systemd/system && mount --bind "$0/units" /etc/systemd/system && mount -t tmpfs none /run && mkdir -p /run/systemd/system &&
PATH=$0/bin:$PATH exec "$@"`
	c.Host = onhost.New(through{Host: r, prefix: []string{"unshare", "-m", "--", "sh", "-c", enter, base}, shell: []string{"/bin/sh"}})
	c.l.Supervision = ceph.SupervisionAuto

	return c, base
}

func TestSystemd(t *testing.T) {
	t.Parallel()

	c, base := underSystemd(t)
	unit := filepath.Join(base, "units", c.l.Unit(monA))
	said := func() string {
		out, _ := os.ReadFile(filepath.Join(base, "said"))
		_ = os.Remove(filepath.Join(base, "said"))

		return string(out)
	}

	must(t, c.MakeMon(t.Context(), c.l, "a", c.seed()))
	must(t, c.Start(t.Context(), c.l, monA, ceph.StartHow{}))

	if got := c.ceph(t, "fsid"); got != c.l.FSID {
		t.Errorf("fsid %q", got)
	}

	text, err := os.ReadFile(unit)
	must(t, err)

	program, err := exec.LookPath("ceph-mon")
	must(t, err)

	want := "\nExecStart=" + program + " -f -c " + c.l.Conf() + " -i a --setuser ceph --setgroup ceph\n"
	if !strings.Contains(string(text), want) || !strings.Contains(string(text), "\nWantedBy=multi-user.target\n") {
		t.Errorf("unit:\n%s", text)
	}

	if got := said(); !strings.Contains(got, "daemon-reload") || !strings.Contains(got, "enable "+c.l.Unit(monA)) {
		t.Errorf("systemctl was told:\n%s", got)
	}

	t.Run("a second start leaves the unit alone", func(t *testing.T) {
		before := c.sees(t, monA)
		must(t, c.Start(t.Context(), c.l, monA, ceph.StartHow{}))

		if got := said(); strings.Contains(got, "daemon-reload") || strings.Contains(got, "start") {
			t.Errorf("systemctl was told:\n%s", got)
		}

		if after := c.sees(t, monA); after.PID != before.PID || after.Stopped || !after.Running {
			t.Errorf("seen %+v", after)
		}
	})

	t.Run("what is stopped does not start at boot", func(t *testing.T) {
		must(t, c.Stop(t.Context(), c.l, monA))

		if d := c.sees(t, monA); d.Running || !d.Stopped {
			t.Errorf("seen %+v", d)
		}
	})

	t.Run("what dies at once is told", func(t *testing.T) {
		must(t, os.Remove(filepath.Join(c.l.Data(monA), "keyring")))

		err := c.Start(t.Context(), c.l, monA, ceph.StartHow{})
		if !errors.Is(err, ceph.ErrDied) || !strings.Contains(err.Error(), "mon.a") {
			t.Errorf("error %v", err)
		}
	})

	t.Run("it goes with its unit", func(t *testing.T) {
		must(t, c.Stop(t.Context(), c.l, monA))
		must(t, c.Remove(t.Context(), c.l, monA))

		if _, err := os.Stat(unit); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the unit: %v", err)
		}
	})
}

func TestSystemd_unitOfAnOSD(t *testing.T) {
	t.Parallel()

	c, base := underSystemd(t)
	osd := ceph.OSDDaemon(3)
	device := filepath.Join(filepath.Dir(c.l.Dir), "disk")

	must(t, os.WriteFile(device, make([]byte, 4096), 0o600))
	must(t, os.MkdirAll(c.l.Data(osd), 0o750))
	must(t, os.WriteFile(filepath.Join(c.l.Data(osd), "done"), []byte(c.l.FSID+"\n"), 0o600))

	how := ceph.StartHow{CrushLocation: "root=default  rack=r1 host=h1", Weight: 0.5, Slot: ceph.Slot{Key: "k", Device: device}}

	// It has no key, so that it dies; the unit is what counts.
	if err := c.Start(t.Context(), c.l, osd, how); !errors.Is(err, ceph.ErrDied) {
		t.Fatalf("error %v", err)
	}

	text, err := os.ReadFile(filepath.Join(base, "units", c.l.Unit(osd)))
	must(t, err)

	want := ` -i 3 --crush-location "root=default rack=r1 host=h1" --osd-crush-initial-weight 0.5 --setuser ceph --setgroup ceph` + "\n"
	if !strings.Contains(string(text), want) || strings.Contains(string(text), "ExecStartPre") {
		t.Errorf("unit:\n%s", text)
	}

	if to, err := os.Readlink(filepath.Join(c.l.Data(osd), "block")); err != nil || to != device {
		t.Errorf("block leads to %q, %v", to, err)
	}

	if who := strings.TrimSpace(string(run(t, "stat", "-c", "%U", device))); who != "ceph" {
		t.Errorf("the device belongs to %s", who)
	}

	t.Run("its record is asked first where it knows better", func(t *testing.T) {
		record := filepath.Join(c.l.Slots(), "k")
		must(t, os.Mkdir(record, 0o700))
		must(t, os.WriteFile(filepath.Join(record, "activate"), []byte("echo /dev/sdx is not there >&2\nexit 93\n"), 0o600))

		err := c.Start(t.Context(), c.l, osd, how)
		if !errors.Is(err, ceph.ErrGone) || !strings.Contains(err.Error(), "/dev/sdx") {
			t.Errorf("error %v", err)
		}
	})

	t.Run("a device that is not there", func(t *testing.T) {
		must(t, os.RemoveAll(filepath.Join(c.l.Slots(), "k")))

		if err := c.Start(t.Context(), c.l, osd, ceph.StartHow{}); !errors.Is(err, ceph.ErrGone) {
			t.Errorf("error %v", err)
		}
	})
}
