// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

const (
	ourFSID   = "11111111-2222-4333-8444-555555555555"
	otherFSID = "99999999-2222-4333-8444-555555555555"
)

// sd is a disk that is free.
func sd(name string) ceph.Disk {
	return ceph.Disk{
		Name: name, Path: "/dev/" + name, Type: "disk", Size: 100 << 30, Serial: "S-" + name,
		Links: []string{"/dev/disk/by-path/pci-" + name, "/dev/disk/by-id/wwn-0x" + name},
	}
}

// with changes a disk.
func with(d ceph.Disk, change func(*ceph.Disk)) ceph.Disk {
	change(&d)

	return d
}

// slotOn is the record of an OSD that lives on a disk, and label is what the disk says of it.
func slotOn(d ceph.Disk, path string, id int) ceph.Slot {
	return ceph.Slot{
		Key: "k" + path, Path: path, UUID: fmt.Sprintf("%08d-2222-4333-8444-555555555555", id), ID: id, Made: true,
		Backend: ceph.BackendRaw, Serial: d.Serial, Link: d.ByID(), Was: d.Name,
	}
}

func labelled(d ceph.Disk, s ceph.Slot) ceph.Disk {
	d.Signature, d.Busy = ceph.SignatureBlueStore, "Device or resource busy"
	d.Label = &ceph.Label{FSID: ourFSID, UUID: s.UUID, ID: s.ID, Role: ceph.LabelMain}

	return d
}

func foreign(d ceph.Disk) ceph.Disk {
	d.Signature = ceph.SignatureBlueStore
	d.Label = &ceph.Label{FSID: otherFSID, UUID: "77777777-2222-4333-8444-555555555555", Role: ceph.LabelMain}

	return d
}

// onH1 is a cluster with this storage on one host.
func onH1(s ceph.StorageSpec) ceph.Wanted {
	if s.Backend == "" {
		s.Backend = ceph.BackendRaw
	}

	for i := range s.Devices {
		s.Devices[i].Host = "h1"
	}

	return ceph.Wanted{Hosts: []ceph.HostSpec{{Name: "h1", Roles: []string{ceph.RoleOSD}}}, Storage: s}
}

func devices(paths ...string) ceph.StorageSpec {
	var s ceph.StorageSpec
	for _, p := range paths {
		s.Devices = append(s.Devices, ceph.DeviceSpec{Path: p})
	}

	return s
}

func selectors(all ...ceph.Selector) ceph.StorageSpec { return ceph.StorageSpec{Selectors: all} }

func seen(slots []ceph.Slot, disks ...ceph.Disk) map[string]ceph.Facts {
	return map[string]ceph.Facts{"h1": {Slots: slots, Disks: disks}}
}

// summary is a choice in one line: "+" for a new OSD, "=" for one that stays, "-" for one that goes.
func summary(c ceph.Choice) string {
	var words []string

	for _, p := range c.Wanted {
		sign := "+"
		if p.Slot != nil {
			sign = "="
		}

		words = append(words, sign+p.Spec.Device.Path+"@"+strings.TrimPrefix(p.Disk, "/dev/"))
	}

	for _, h := range slices.Sorted(maps.Keys(c.Gone)) {
		for _, s := range c.Gone[h] {
			words = append(words, "-"+s.Path)
		}
	}

	for _, err := range c.Problems {
		words = append(words, "!"+err.Error())
	}

	return strings.Join(words, " ")
}

func TestOCEPH08_whichDisksMayBeUsed(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		disk     ceph.Disk
		selected string // why a selector does not take it; empty: it does
		named    string // why it cannot be named
	}{
		"a whole free disk":         {sd("sda"), "", ""},
		"compressed memory":         {with(sd("zram0"), func(d *ceph.Disk) { d.Size = 0 }), "no disk", "no disk"},
		"a size of 0":               {with(sd("sdb"), func(d *ceph.Disk) { d.Size = 0 }), "size is 0", "size is 0"},
		"a disk of 4 GiB":           {with(sd("sdb"), func(d *ceph.Disk) { d.Size = 4 << 30 }), "too small", ""},
		"a loop device":             {with(sd("loop0"), func(d *ceph.Disk) { d.Type = "loop" }), "type is loop", ""},
		"a CD":                      {with(sd("sr0"), func(d *ceph.Disk) { d.Type = "rom" }), "no disk", "no disk"},
		"a read-only disk":          {with(sd("sdb"), func(d *ceph.Disk) { d.ReadOnly = true }), "read-only", "read-only"},
		"a stick":                   {with(sd("sdb"), func(d *ceph.Disk) { d.Removable = true }), "removable", ""},
		"partitions":                {with(sd("sdb"), func(d *ceph.Disk) { d.Children = []string{"sdb1"} }), "sdb1", "sdb1"},
		"a mount on a third level":  {with(sd("sdb"), func(d *ceph.Disk) { d.Mounts = []string{"/srv"}; d.Children = []string{"sdb1"} }), "mounted at /srv", "mounted at /srv"},
		"a member of LVM":           {with(sd("sdb"), func(d *ceph.Disk) { d.Signature = "LVM2_member" }), "LVM", "LVM"},
		"swap":                      {with(sd("sdb"), func(d *ceph.Disk) { d.Mounts = []string{"[SWAP]"} }), "swap", "swap"},
		"a path of a multipath":     {with(sd("sdb"), func(d *ceph.Disk) { d.Signature = "mpath_member" }), "multipath", "multipath"},
		"a multipath device":        {with(sd("dm-0"), func(d *ceph.Disk) { d.Type = "mpath" }), "type is mpath", ""},
		"a file system":             {with(sd("sdb"), func(d *ceph.Disk) { d.Signature = "ext4" }), "ext4", "ext4"},
		"a type of a partition":     {with(sd("sdb"), func(d *ceph.Disk) { d.Signature = "a partition of the type 0x83" }), "partition", "partition"},
		"not to be opened":          {with(sd("vda"), func(d *ceph.Disk) { d.Busy = "Device or resource busy" }), "busy", "busy"},
		"an OSD of another cluster": {foreign(sd("sdb")), otherFSID, otherFSID},
		"a label nobody can read":   {with(sd("sdb"), func(d *ceph.Disk) { d.Signature = ceph.SignatureBlueStore }), "cannot be read", "cannot be read"},
		"a disk over the network":   {sd("rbd0"), "whole disks", ""},
		"an unknown type":           {with(sd("sdb"), func(d *ceph.Disk) { d.Type = "" }), "not known", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := ceph.Choose(onH1(selectors(ceph.Selector{All: true})), ourFSID, seen(nil, tt.disk))
			if why := got.Rejected["h1"][tt.disk.Path]; (tt.selected == "") != (len(got.New["h1"]) == 1) || !strings.Contains(why, tt.selected) {
				t.Errorf("selected: %s: %q", summary(got), why)
			}

			if tt.selected != "" && (len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Error(), tt.disk.Path) || !strings.Contains(got.Problems[0].Error(), tt.selected)) {
				t.Errorf("no OSD at all, and that is said so: %v", got.Problems)
			}

			got = ceph.Choose(onH1(devices(tt.disk.Path)), ourFSID, seen(nil, tt.disk))
			if s := summary(got); (tt.named == "") != (len(got.New["h1"]) == 1 && len(got.Problems) == 0) || !strings.Contains(s, tt.named) {
				t.Errorf("named: %s", s)
			}
		})
	}
}

func TestOCEPH09_namesOfTheKernelChange(t *testing.T) {
	t.Parallel()

	b := sd("sdb")
	s := slotOn(b, "/dev/sdb", 3)

	// What was sdb is sdc now, and an empty disk is sdb.
	moved := with(labelled(b, s), func(d *ceph.Disk) { d.Name, d.Path = "sdc", "/dev/sdc" })
	empty := with(sd("sdx"), func(d *ceph.Disk) { d.Name, d.Path = "sdb", "/dev/sdb" })
	noID := s
	noID.Serial, noID.Link = "", ""

	for name, tt := range map[string]struct {
		storage ceph.StorageSpec
		slot    ceph.Slot
		disks   []ceph.Disk
		want    string
	}{
		"the old name means the same disk":           {devices("/dev/sdb"), s, []ceph.Disk{empty, moved}, "=/dev/sdb@sdc"},
		"without a serial, too":                      {devices("/dev/sdb"), noID, []ceph.Disk{empty, moved}, "=/dev/sdb@sdc"},
		"the new name means it, too":                 {devices("/dev/sdc"), s, []ceph.Disk{empty, moved}, "=/dev/sdc@sdc"},
		"so does its link":                           {devices(b.ByID()), s, []ceph.Disk{empty, moved}, "=" + b.ByID() + "@sdc"},
		"a disk that is away stays wanted":           {devices("/dev/sdb"), s, []ceph.Disk{empty}, "=/dev/sdb@"},
		"both names at once are a mistake":           {devices("/dev/sdb", "/dev/sdc"), s, []ceph.Disk{empty, moved}, "=/dev/sdb@sdc !storage names osd.3 (/dev/sdb) on h1 twice: as /dev/sdc"},
		"a selector of names takes none away":        {selectors(ceph.Selector{NameRegex: "sdb", Limit: 1}), s, []ceph.Disk{empty, moved}, "=/dev/sdb@sdc"},
		"a selector keeps a disk that is away":       {selectors(ceph.Selector{NameRegex: "sd[a-z]", Limit: 1}), s, []ceph.Disk{empty}, "=/dev/sdb@"},
		"a record that nothing names goes, not more": {devices("/dev/sdb"), slotOn(sd("sdq"), "/dev/sdq", 4), []ceph.Disk{empty}, "+/dev/sdb@sdb -/dev/sdq"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := ceph.Choose(onH1(tt.storage), ourFSID, seen([]ceph.Slot{tt.slot}, tt.disks...))
			if s := summary(got); s != tt.want {
				t.Errorf("%s\nwant %s", s, tt.want)
			}

			if name == "the old name means the same disk" && !strings.Contains(got.Rejected["h1"]["/dev/sdb"], "S-sdb") {
				t.Errorf("no word of the other disk: %v", got.Rejected)
			}
		})
	}
}

func TestOCEPH10_aNameIsNoPattern(t *testing.T) {
	t.Parallel()

	part := with(sd("nvme0n1p1"), func(d *ceph.Disk) { d.Type = "part" })
	disks := []ceph.Disk{sd("sda"), sd("sdaa"), sd("sdab"), sd("nvme0n1"), part, sd("nvme0n10")}

	for name, tt := range map[string]struct {
		storage ceph.StorageSpec
		want    string
	}{
		"a name":                           {devices("/dev/sda"), "+/dev/sda@sda"},
		"a name with a dot":                {devices("/dev/sd."), "!/dev/sd. on h1: there is no such device"},
		"a file that would be a device":    {ceph.StorageSpec{Backend: ceph.BackendFile, Devices: []ceph.DeviceSpec{{Host: "h1", Path: "/dev/nothere"}}}, "!/dev/nothere on h1: there is no such device"},
		"a pattern matches as a whole":     {selectors(ceph.Selector{NameRegex: "sd[ab]"}), "+/dev/disk/by-id/wwn-0xsda@sda"},
		"anchors change nothing":           {selectors(ceph.Selector{NameRegex: "^sd[ab]$"}), "+/dev/disk/by-id/wwn-0xsda@sda"},
		"alternatives as a whole, too":     {selectors(ceph.Selector{NameRegex: "sda|x"}), "+/dev/disk/by-id/wwn-0xsda@sda"},
		"a disk, not its partitions":       {selectors(ceph.Selector{NameRegex: "nvme0n1"}), "+/dev/disk/by-id/wwn-0xnvme0n1@nvme0n1"},
		"partitions match no pattern":      {selectors(ceph.Selector{NameRegex: "nvme0n1p?1?"}), "+/dev/disk/by-id/wwn-0xnvme0n1@nvme0n1"},
		"a path":                           {selectors(ceph.Selector{PathRegex: "/dev/disk/by-path/pci-sdaa"}), "+/dev/disk/by-id/wwn-0xsdaa@sdaa"},
		"what is no pattern":               {selectors(ceph.Selector{NameRegex: "sd["}), "!selector 1: not a pattern: error parsing regexp: missing closing ]: `[`"},
		"one that would end our own group": {selectors(ceph.Selector{NameRegex: "a)|(b"}), "!selector 1: not a pattern: error parsing regexp: unexpected ): `a)|(b`"},
		"nothing at all":                   {selectors(ceph.Selector{}), "!selector 1: it says nothing of the devices: all = true takes all of them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := summary(ceph.Choose(onH1(tt.storage), ourFSID, seen(nil, disks...))); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}
