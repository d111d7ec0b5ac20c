// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

func TestOCEPH13_oneOfThreeCannotBeWiped(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	c.up(t)

	var slots []ceph.Slot

	for i := range 3 {
		dev := loop(t, sparse(t, filepath.Join(filepath.Dir(c.l.Dir), "loops", fmt.Sprint(i)), 2*gib))
		s, err := c.MakeSlot(t.Context(), c.l, raw(dev))
		must(t, err)
		must(t, c.MakeOSD(t.Context(), c.l, s, c.register(t, s)))
		slots = append(slots, c.slot(t, s.Key))
	}

	release := locked(t, slots[1].Device)

	for i, s := range slots {
		err := c.Wipe(t.Context(), c.l, s, "quick", 1)
		if (err != nil) != (i == 1) {
			t.Errorf("disk %d: %v", i, err)
		}

		if i == 1 && (!errors.Is(err, ceph.ErrInUse) || !strings.Contains(err.Error(), s.Path) || !strings.Contains(err.Error(), c.Name())) {
			t.Errorf("the error says neither what nor where: %v", err)
		}
	}

	f, err := c.Look(t.Context(), c.l, ceph.Ask{Devices: true})
	must(t, err)

	if len(f.Slots) != 1 || f.Slots[0].Key != slots[1].Key {
		t.Errorf("left are %+v", f.Slots)
	}

	for i, s := range slots {
		if d, _ := ceph.FindDisk(f.Disks, s.Device); (d.Label != nil) != (i == 1) {
			t.Errorf("disk %d: %+v", i, d)
		}
	}

	release()

	t.Run("the label of somebody else is not wiped", func(t *testing.T) {
		stolen := slots[1]
		otherOSD(t, stolen.Device)

		if err := c.Wipe(t.Context(), c.l, stolen, "quick", 1); !errors.Is(err, ceph.ErrGone) && !errors.Is(err, ceph.ErrForeign) {
			t.Errorf("%v", err)
		}

		if d := c.disk(t, stolen.Device); d.Label == nil {
			t.Error("it was wiped")
		}
	})

	t.Run("a way that is none", func(t *testing.T) {
		if err := c.Wipe(t.Context(), c.l, slots[1], "none", 1); err == nil {
			t.Error("it is one")
		}
	})
}

func TestWipe_cutOffAnywhere(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	c.up(t)

	local, err := remote.New(remote.Config{Type: remote.Local})
	must(t, err)
	t.Cleanup(func() { _ = local.Close() })

	for i, tt := range []struct {
		in, method string
		own        bool
	}{
		{`idle "$1"` + "\n  to=", "quick", false},
		{`zero "$1" 16 1584`, "quick", false},
		{`shred -n 0 -z`, "full", false},
		{`note done "wiped-$2"`, "quick", false},
		{`note done "wiped-$2"`, "quick", true},
		{`[ -z "$db" ] || part db`, "quick", true},
		{`rm -rf "${slot:?}"`, "quick", false},
	} {
		dir := filepath.Join(filepath.Dir(c.l.Dir), fmt.Sprint(i))
		spec := ceph.SlotSpec{Device: ceph.DeviceSpec{Path: filepath.Join(dir, "a"), DB: filepath.Join(dir, "db"), DBSize: gib}, Backend: ceph.BackendFile, Size: gib}

		if !tt.own {
			spec = raw(loop(t, sparse(t, filepath.Join(dir, "a"), gib+3*512)))
			spec.Device.DB = loop(t, sparse(t, filepath.Join(dir, "db"), gib))
		}

		s, err := c.MakeSlot(t.Context(), c.l, spec)
		must(t, err)
		must(t, c.MakeOSD(t.Context(), c.l, s, c.register(t, s)))
		s = c.slot(t, s.Key)

		if err := onhost.New(&cut{Host: local, in: tt.in}).Wipe(t.Context(), c.l, s, tt.method, 1); err == nil {
			t.Errorf("%s: the cut was not noticed", tt.in)
		}

		if err := c.Wipe(t.Context(), c.l, s, tt.method, 1); err != nil {
			t.Errorf("%s, %s, then again: %v", tt.in, tt.method, err)
		}

		for _, p := range []string{spec.Device.Path, spec.Device.DB} {
			d := c.disk(t, p)
			if _, err := os.Stat(p); tt.own != (err != nil) || d.Label != nil || d.Signature != "" {
				t.Errorf("%s: left on %s: %+v", tt.in, p, d)
			}
		}

		if _, err := os.Stat(filepath.Join(c.l.Slots(), s.Key)); err == nil {
			t.Errorf("%s: the record is left", tt.in)
		}
	}
}

// TestWipe_allThatTellsOfAnOSD: copies of the label and of a partition table are far from the start.
func TestWipe_allThatTellsOfAnOSD(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	file := sparse(t, filepath.Join(t.TempDir(), "disk"), 11*gib+5*512)
	dev := loop(t, file)

	otherOSD(t, dev)

	at := []int64{gib, 10 * gib, 11*gib + 4*512, 50 << 20}
	for _, off := range at {
		tool(t, "sh", "-c", fmt.Sprintf("printf x | dd of=%s bs=1 seek=%d conv=notrunc,fsync 2>/dev/null", dev, off))
	}

	must(t, c.WipeForeign(t.Context(), dev, other))

	for _, off := range at {
		if got := tool(t, "sh", "-c", fmt.Sprintf("dd if=%s bs=1 skip=%d count=1 2>/dev/null | tr -d '\\000' | wc -c", dev, off)); got != "0" {
			t.Errorf("at %d it still tells", off)
		}
	}

	if info, err := os.Stat(file); err != nil || info.Size() != 11*gib+5*512 {
		t.Errorf("%v %v", info.Size(), err)
	}
}
