// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// tool runs a command that must work.
func tool(t *testing.T, args ...string) string {
	t.Helper()

	out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}

	return strings.TrimSpace(string(out))
}

func raw(dev string) ceph.SlotSpec {
	return ceph.SlotSpec{Device: ceph.DeviceSpec{Path: dev}, Backend: ceph.BackendRaw}
}

// other is another cluster.
const other = "99999999-2222-4333-8444-555555555555"

// with puts something on a device.
func with(program ...string) func(t *testing.T, dev string) {
	return func(t *testing.T, dev string) {
		t.Helper()
		tool(t, append(program, dev)...)
	}
}

// locked holds a lock on a device, as an OSD does that runs, until what it returns is called.
func locked(t *testing.T, dev string) func() {
	t.Helper()

	f, err := os.Open(dev)
	must(t, err)
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	t.Cleanup(func() { _ = f.Close() })

	return func() { _ = f.Close() }
}

// otherOSD makes a device that of an OSD of another cluster.
func otherOSD(t *testing.T, dev string) {
	t.Helper()

	dir, err := os.MkdirTemp("/tmp", "moh") //nolint:usetesting // Ceph takes a comma in a name for the end of it
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.WriteFile(filepath.Join(dir, "ceph.conf"), []byte("[global]\nfsid = "+other+"\nlog_file =\nadmin_socket =\nrun_dir = "+dir+"\n"), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "osd"), 0o700))
	must(t, os.Symlink(dev, filepath.Join(dir, "osd", "block")))
	tool(t, "dd", "if=/dev/zero", "of="+dev, "bs=1M", "count=10", "conv=notrunc,fsync")
	tool(t, "ceph-osd", "-c", filepath.Join(dir, "ceph.conf"), "--no-mon-config", "-i", "7", "--mkfs",
		"--osd-uuid", "77777777-2222-4333-8444-555555555555", "--osd-data", filepath.Join(dir, "osd"))
}

// partitioned writes a partition table, with one partition that the kernel is not told of.
func partitioned(t *testing.T, dev string) {
	t.Helper()

	var table [512]byte

	copy(table[446:], []byte{0, 0, 2, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 0, 1, 0})
	copy(table[510:], []byte{0x55, 0xaa})

	f, err := os.OpenFile(dev, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.Write(table[:])
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
}

// loopAt puts a file behind a loop device of a name that nobody else on this machine takes.
func loopAt(t *testing.T, n int, file string) string {
	t.Helper()

	minor := 2000 + 4*(os.Getpid()%1000) + n
	dev := fmt.Sprintf("/dev/loop%d", minor)

	if _, err := os.Stat(dev); err != nil {
		tool(t, "mknod", "-m", "600", dev, "b", "7", strconv.Itoa(minor))
		t.Cleanup(func() { _ = os.Remove(dev) })
	}

	// The kernel lets go of what was behind the name only once nobody looks at it any more, and
	// tests beside this one look at all devices.
	deadline := time.Now().Add(30 * time.Second)

	for {
		out, err := exec.CommandContext(t.Context(), "losetup", dev, file).CombinedOutput()
		if err == nil {
			break
		}

		if time.Now().After(deadline) {
			t.Fatalf("losetup %s %s: %v: %s", dev, file, err, out)
		}

		time.Sleep(200 * time.Millisecond)
	}

	t.Cleanup(func() { unloop(dev) })

	return dev
}

func TestOCEPH09_theKernelCallsADeviceOtherwise(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	c.up(t)

	files := filepath.Join(filepath.Dir(c.l.Dir), "loops")
	disk, dbDisk := sparse(t, filepath.Join(files, "b"), 6*gib), sparse(t, filepath.Join(files, "db"), 2*gib)
	was, dbWas := loopAt(t, 0, disk), loopAt(t, 3, dbDisk)

	spec := raw(was)
	spec.Device.DB = dbWas
	s := c.osd(t, spec)
	c.isUp(t, s.ID)

	if s.Device != was || s.OwnFile || s.OwnDB {
		t.Fatalf("%+v", s)
	}

	must(t, c.Stop(t.Context(), c.l, ceph.OSDDaemon(s.ID)))

	// The machine boots: what was one device is another, and an empty disk has its name.
	unloop(was)

	empty := sparse(t, filepath.Join(files, "c"), 6*gib)
	loopAt(t, 0, empty)

	is := loopAt(t, 1, disk)

	unloop(dbWas)

	dbIs := loopAt(t, 2, dbDisk)

	t.Run("the record has its device", func(t *testing.T) {
		if got := c.slot(t, s.Key); got.Device != is {
			t.Errorf("found at %s, and it is %s, not %s", got.Device, is, was)
		}
	})

	t.Run("nothing is new and nothing is gone", func(t *testing.T) {
		f, err := c.Look(t.Context(), c.l, ceph.Ask{Devices: true})
		must(t, err)

		w := ceph.Wanted{
			Hosts:   []ceph.HostSpec{{Name: "h1", Roles: []string{ceph.RoleOSD}}},
			Storage: ceph.StorageSpec{Backend: ceph.BackendRaw, Devices: []ceph.DeviceSpec{{Host: "h1", Path: was, DB: dbWas}}},
		}
		got := ceph.Choose(w, c.l.FSID, map[string]ceph.Facts{"h1": f})

		if len(got.New) != 0 || len(got.Gone) != 0 || len(got.Problems) != 0 || len(got.Wanted) != 1 || got.Wanted[0].Disk != is {
			t.Errorf("%+v", got)
		}
	})

	t.Run("a slot under the old name is the one there is", func(t *testing.T) {
		again, err := c.MakeSlot(t.Context(), c.l, spec)
		must(t, err)

		if again.UUID != s.UUID || again.Device != is {
			t.Errorf("%+v", again)
		}

		must(t, c.MakeOSD(t.Context(), c.l, again, s.ID))

		if to, _ := os.Readlink(filepath.Join(c.l.Data(ceph.OSDDaemon(s.ID)), "block.db")); to != dbIs {
			t.Errorf("block.db leads to %s, not to %s", to, dbIs)
		}
	})

	t.Run("it starts there", func(t *testing.T) {
		must(t, c.Start(t.Context(), c.l, ceph.OSDDaemon(s.ID), ceph.StartHow{Slot: c.slot(t, s.Key)}))
		c.isUp(t, s.ID)
		must(t, c.Stop(t.Context(), c.l, ceph.OSDDaemon(s.ID)))
	})

	t.Run("a slot for the device under its new name is refused", func(t *testing.T) {
		if _, err := c.MakeSlot(t.Context(), c.l, raw(is)); !errors.Is(err, ceph.ErrInUse) || !strings.Contains(err.Error(), was) {
			t.Errorf("%v", err)
		}
	})

	t.Run("it is wiped there, the other is not touched", func(t *testing.T) {
		must(t, os.WriteFile(filepath.Join(files, "mark"), []byte("x"), 0o600))
		tool(t, "dd", "if="+filepath.Join(files, "mark"), "of="+was, "conv=notrunc")
		must(t, c.Wipe(t.Context(), c.l, s, "quick", 1))

		for _, dev := range []string{is, dbIs} {
			if d := c.disk(t, dev); d.Label != nil || d.Signature != "" {
				t.Errorf("left on %s: %+v", dev, d)
			}
		}

		if left := tool(t, "head", "-c", "1", was); left != "x" {
			t.Errorf("%s was written over", was)
		}
	})
}

func TestMakeSlot_takesOnlyWhatIsFree(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")

	for name, tt := range map[string]struct {
		with func(t *testing.T, dev string)
		kind error
		says string
	}{
		"a file system":             {with("mkfs.ext4", "-q"), ceph.ErrInUse, "ext4"},
		"a volume's part":           {with("pvcreate", "-q", "-y"), ceph.ErrInUse, "LVM"},
		"swap":                      {with("mkswap"), ceph.ErrInUse, "swap"},
		"partitions":                {partitioned, ceph.ErrInUse, "dos"},
		"an OSD of another cluster": {otherOSD, ceph.ErrForeign, other},
		"somebody's lock": {func(t *testing.T, dev string) {
			t.Helper()
			locked(t, dev)
		}, ceph.ErrInUse, "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			file := sparse(t, filepath.Join(t.TempDir(), "disk"), 2*gib)
			dev := loop(t, file)
			tt.with(t, dev)

			before := tool(t, "sh", "-c", "head -c 2097152 \"$1\" | sha256sum; stat -c %b \"$1\"", "sh", file)
			_, err := c.MakeSlot(t.Context(), c.l, raw(dev))

			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), dev) {
				t.Errorf("%v", err)
			}

			if tool(t, "sh", "-c", "head -c 2097152 \"$1\" | sha256sum; stat -c %b \"$1\"", "sh", file) != before {
				t.Error("it was written to")
			}
		})
	}

	t.Run("a mounted file system", func(t *testing.T) {
		dev := loop(t, sparse(t, filepath.Join(t.TempDir(), "disk"), 2*gib))
		tool(t, "mkfs.ext4", "-q", dev)

		at := t.TempDir()
		tool(t, "mount", dev, at)
		t.Cleanup(func() { _ = exec.Command("umount", at).Run() }) //nolint:noctx // cleanup

		if _, err := c.MakeSlot(t.Context(), c.l, raw(dev)); !errors.Is(err, ceph.ErrInUse) || !strings.Contains(err.Error(), at) {
			t.Errorf("%v", err)
		}
	})

	t.Run("nothing", func(t *testing.T) {
		if _, err := c.MakeSlot(t.Context(), c.l, raw("/dev/nothing")); !errors.Is(err, ceph.ErrGone) {
			t.Errorf("%v", err)
		}
	})

	t.Run("a file with content", func(t *testing.T) {
		spec := c.inFile("content")
		must(t, os.MkdirAll(filepath.Dir(spec.Device.Path), 0o755))
		must(t, os.WriteFile(spec.Device.Path, []byte("letters"), 0o600))
		must(t, os.Truncate(spec.Device.Path, 4*gib))

		if _, err := c.MakeSlot(t.Context(), c.l, spec); !errors.Is(err, ceph.ErrInUse) {
			t.Errorf("%v", err)
		}
	})

	t.Run("the OSD of another cluster, where that may be wiped", func(t *testing.T) {
		dev := loop(t, sparse(t, filepath.Join(t.TempDir(), "disk"), 4*gib))
		otherOSD(t, dev)

		if err := c.WipeForeign(t.Context(), dev, "88888888-2222-4333-8444-555555555555"); !errors.Is(err, ceph.ErrForeign) {
			t.Errorf("wiped for another reason: %v", err)
		}

		spec := raw(dev)
		spec.Foreign = true

		s, err := c.MakeSlot(t.Context(), c.l, spec)
		must(t, err)

		if d := c.disk(t, dev); d.Label != nil || s.Device != dev || s.Made {
			t.Errorf("%+v %+v", s, d)
		}

		// What was free when the record was made need not be so now.
		otherOSD(t, dev)

		spec.Foreign = false
		if _, err := c.MakeSlot(t.Context(), c.l, spec); !errors.Is(err, ceph.ErrForeign) {
			t.Errorf("%v", err)
		}

		if err := c.MakeOSD(t.Context(), c.l, s, 0); !errors.Is(err, ceph.ErrForeign) || !strings.Contains(err.Error(), other) {
			t.Errorf("%v", err)
		}

		must(t, c.Forget(t.Context(), c.l, s))
	})

	if f, err := c.Look(t.Context(), c.l, ceph.Ask{}); err != nil || len(f.Slots) > 0 {
		t.Errorf("records of what was refused: %+v %v", f.Slots, err)
	}
}
