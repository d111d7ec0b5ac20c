// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

const gib = int64(1) << 30

// register tells the cluster of an OSD, as the loop above does.
func (c *cluster) register(t *testing.T, s ceph.Slot) int {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), "ceph", "-c", c.l.Conf(), "-k", c.l.AdminKeyring(), "osd", "new", s.UUID, "-i", "-")
	cmd.Stdin = strings.NewReader(`{"cephx_secret":"` + string(s.Secret) + `"}`)

	var errs bytes.Buffer

	cmd.Stderr = &errs

	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("osd new: %v: %s", err, errs.String())
	}

	id, err := strconv.Atoi(strings.TrimSpace(string(out)))
	must(t, err)

	return id
}

// inFile is an OSD in a file below the cluster's folder.
func (c *cluster) inFile(name string) ceph.SlotSpec {
	return ceph.SlotSpec{
		Device:  ceph.DeviceSpec{Path: filepath.Join(filepath.Dir(c.l.Dir), "files", name)},
		Backend: ceph.BackendFile, Size: 4 * gib,
	}
}

// osd makes and starts an OSD.
func (c *cluster) osd(t *testing.T, spec ceph.SlotSpec) ceph.Slot {
	t.Helper()

	s, err := c.MakeSlot(t.Context(), c.l, spec)
	must(t, err)

	id := c.register(t, s)
	must(t, c.MakeOSD(t.Context(), c.l, s, id))

	s = c.slot(t, s.Key)
	must(t, c.Start(t.Context(), c.l, ceph.OSDDaemon(id), ceph.StartHow{Slot: s}))

	return s
}

// slot is a record as a look shows it.
func (c *cluster) slot(t *testing.T, key string) ceph.Slot {
	t.Helper()

	f, err := c.Look(t.Context(), c.l, ceph.Ask{})
	must(t, err)

	for _, s := range f.Slots {
		if s.Key == key {
			return s
		}
	}

	return ceph.Slot{}
}

// disk is a device as a look shows it.
func (c *cluster) disk(t *testing.T, path string) ceph.Disk {
	t.Helper()

	f, err := c.Look(t.Context(), c.l, ceph.Ask{Paths: []string{path}})
	must(t, err)

	d, _ := ceph.FindDisk(f.Disks, path)

	return d
}

// isUp waits until the cluster says that an OSD is up.
func (c *cluster) isUp(t *testing.T, id int) {
	t.Helper()

	for range 40 {
		if strings.Contains(c.ceph(t, "osd", "dump"), "osd."+strconv.Itoa(id)+" up") {
			return
		}

		exec.CommandContext(t.Context(), "sleep", "0.5").Run() //nolint:errcheck // only a pause
	}

	t.Fatalf("osd.%d did not come up: %s", id, c.ceph(t, "osd", "tree"))
}

func TestOSD_livesInAFile(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	c.up(t)

	spec := c.inFile("a")
	spec.Device.DB, spec.Device.DBSize = filepath.Join(filepath.Dir(spec.Device.Path), "a.db"), gib
	s := c.osd(t, spec)
	c.isUp(t, s.ID)

	t.Run("its record is for root alone and shows what it is", func(t *testing.T) {
		info, err := os.Stat(filepath.Join(c.l.Slots(), s.Key, "slot.json"))
		must(t, err)

		if info.Mode().Perm() != 0o600 || !s.Made || !s.OwnFile || !s.OwnDB || s.Device != spec.Device.Path {
			t.Errorf("mode %v, slot %+v", info.Mode(), s)
		}
	})

	t.Run("all again changes nothing", func(t *testing.T) {
		again, err := c.MakeSlot(t.Context(), c.l, spec)
		must(t, err)

		if again.UUID != s.UUID || again.Secret != s.Secret || again.ID != s.ID {
			t.Errorf("%+v became %+v", s, again)
		}

		must(t, c.MakeOSD(t.Context(), c.l, again, s.ID))
	})

	t.Run("its label is seen without its key", func(t *testing.T) {
		d := c.disk(t, spec.Device.Path)
		if d.Label == nil || d.Label.FSID != c.l.FSID || d.Label.UUID != s.UUID || d.Label.ID != s.ID || d.Label.Role != ceph.LabelMain || d.Busy == "" {
			t.Fatalf("%+v %+v", d, d.Label)
		}

		if db := c.disk(t, spec.Device.DB); db.Label == nil || db.Label.UUID != s.UUID || db.Label.Role != ceph.LabelDB {
			t.Errorf("the DB: %+v %+v", db, db.Label)
		}
	})

	t.Run("it is not wiped while it runs", func(t *testing.T) {
		if err := c.Wipe(t.Context(), c.l, s, "quick", 1); !errors.Is(err, ceph.ErrInUse) {
			t.Errorf("wiped: %v", err)
		}
	})

	must(t, c.Stop(t.Context(), c.l, ceph.OSDDaemon(s.ID)))

	t.Run("its folder is rebuilt from the label", func(t *testing.T) {
		must(t, os.RemoveAll(c.l.Data(ceph.OSDDaemon(s.ID))))
		must(t, c.MakeOSD(t.Context(), c.l, s, s.ID))
		must(t, c.Start(t.Context(), c.l, ceph.OSDDaemon(s.ID), ceph.StartHow{Slot: s}))
		c.isUp(t, s.ID)
		must(t, c.Stop(t.Context(), c.l, ceph.OSDDaemon(s.ID)))
	})

	t.Run("its record is made anew from the label, key and all", func(t *testing.T) {
		must(t, os.RemoveAll(filepath.Join(c.l.Slots(), s.Key)))

		again, err := c.MakeSlot(t.Context(), c.l, spec)
		must(t, err)

		if again.UUID != s.UUID || again.Secret != s.Secret || again.ID != s.ID || !again.Made {
			t.Errorf("%+v became %+v", s, again)
		}
	})

	t.Run("a wipe takes files that are not ours for devices", func(t *testing.T) {
		must(t, c.Wipe(t.Context(), c.l, s, "quick", 1))

		if d := c.disk(t, spec.Device.Path); d.Missing || d.Label != nil || d.Signature != "" {
			t.Errorf("left: %+v", d)
		}

		if left := c.slot(t, s.Key); left.Key != "" {
			t.Errorf("left: %+v", left)
		}

		must(t, c.Wipe(t.Context(), c.l, s, "quick", 1)) // and again
	})
}

// loop puts a file behind a loop device. The devices that others on this machine use are not ours.
func loop(t *testing.T, file string) string {
	t.Helper()

	if _, err := os.Stat("/dev/loop-control"); err != nil {
		acctest.Missing(t, "loop devices")
	}

	out, err := exec.CommandContext(t.Context(), "losetup", "-f", "--show", file).CombinedOutput()
	if err != nil {
		t.Fatalf("losetup: %v: %s", err, out)
	}

	dev := strings.TrimSpace(string(out))

	t.Cleanup(func() { unloop(dev) })

	return dev
}

func unloop(dev string) {
	_ = exec.Command("losetup", "-d", dev).Run() //nolint:noctx // cleanup, after the test's context
}

func sparse(t *testing.T, path string, size int64) string {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, os.Truncate(path, size))

	return path
}
