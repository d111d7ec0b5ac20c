// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

func TestChoose_selectors(t *testing.T) {
	t.Parallel()

	yes, no := true, false
	big := with(sd("sdb"), func(d *ceph.Disk) { d.Size = 1 << 40; d.Rotational = true })
	ours := slotOn(sd("sdc"), "/dev/disk/by-id/wwn-0xsdc", 3)
	disks := []ceph.Disk{sd("sda"), big, labelled(sd("sdc"), ours)}
	id := func(n string) string { return "/dev/disk/by-id/wwn-0x" + n + "@" + n }

	for name, tt := range map[string]struct {
		all  []ceph.Selector
		want string
	}{
		"all":                                {[]ceph.Selector{{All: true}}, "=" + id("sdc") + " +" + id("sda") + " +" + id("sdb")},
		"what is an OSD counts":              {[]ceph.Selector{{All: true, Limit: 2}}, "=" + id("sdc") + " +" + id("sda")},
		"and stays within a limit":           {[]ceph.Selector{{All: true, Limit: 1}}, "=" + id("sdc")},
		"size at least":                      {[]ceph.Selector{{MinSize: 1 << 40}}, "+" + id("sdb") + " -" + ours.Path},
		"size at most":                       {[]ceph.Selector{{MaxSize: 200 << 30}}, "=" + id("sdc") + " +" + id("sda")},
		"rotational":                         {[]ceph.Selector{{Rotational: &yes}}, "+" + id("sdb") + " -" + ours.Path},
		"not rotational":                     {[]ceph.Selector{{Rotational: &no}}, "=" + id("sdc") + " +" + id("sda")},
		"the first that matches has it":      {[]ceph.Selector{{Rotational: &yes, Class: "slow"}, {All: true, Limit: 1}}, "+" + id("sdb") + " =" + id("sdc")},
		"nothing is left for a second":       {[]ceph.Selector{{All: true}, {Rotational: &yes}}, "=" + id("sdc") + " +" + id("sda") + " +" + id("sdb") + " !selector 2 finds no device that can become an OSD: there are no devices"},
		"a host that is none of its":         {[]ceph.Selector{{All: true, Hosts: []string{"h9"}}}, "-" + ours.Path + " !selector 1 names h9, which is no host with the role osd !selector 1 finds no device that can become an OSD: there are no devices"},
		"what nobody matches says something": {[]ceph.Selector{{NameRegex: "nvme.*"}}, "-" + ours.Path + " !selector 1 finds no device that can become an OSD: /dev/sda on h1: no selector matches it; /dev/sdb on h1: no selector matches it; /dev/sdc on h1: it is used by osd.3 (/dev/disk/by-id/wwn-0xsdc)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			facts := seen([]ceph.Slot{ours}, disks...)
			got := ceph.Choose(onH1(selectors(tt.all...)), ourFSID, facts)

			if s := summary(got); s != tt.want {
				t.Errorf("%s\nwant %s", s, tt.want)
			}

			for _, p := range got.Wanted {
				if p.Disk == "/dev/sdb" && tt.all[0].Class != p.Spec.Device.Class {
					t.Errorf("class %q", p.Spec.Device.Class)
				}
			}
		})
	}
}

// TestChoose_isStable: what was chosen stays chosen, whatever is made of it, step by step.
func TestChoose_isStable(t *testing.T) {
	t.Parallel()

	w := onH1(selectors(ceph.Selector{All: true, Limit: 2}))
	disks := []ceph.Disk{sd("sda"), sd("sdb"), sd("sdc"), sd("sdd")}

	var slots []ceph.Slot

	for i, was := range ceph.Choose(w, ourFSID, seen(nil, disks...)).New["h1"] {
		d, ok := ceph.FindDisk(disks, was.Device.Path)
		if !ok {
			t.Fatalf("%s is not to be found", was.Device.Path)
		}

		// A record first, then a label.
		s := slotOn(d, was.Device.Path, i)
		s.Made = false
		slots = append(slots, s)

		for range 2 {
			got := ceph.Choose(w, ourFSID, seen(slots, disks...))
			if len(got.Wanted) != 2 || len(got.New["h1"]) != 1-i || len(got.Gone) != 0 || len(got.Problems) != 0 {
				t.Fatalf("after %d: %s", i+1, summary(got))
			}

			for j := range disks {
				if disks[j].Path == d.Path {
					disks[j] = labelled(d, s)
				}
			}

			slots[i].Made = true
		}
	}
}

func TestChoose_named(t *testing.T) {
	t.Parallel()

	lost := slotOn(sd("sda"), "/dev/sda", 3)
	db := with(sd("sdd"), func(d *ceph.Disk) {
		d.Signature = ceph.SignatureBlueStore
		d.Label = &ceph.Label{UUID: lost.UUID, Role: ceph.LabelDB, ID: -1}
	})

	for name, tt := range map[string]struct {
		storage ceph.StorageSpec
		slots   []ceph.Slot
		disks   []ceph.Disk
		take    bool
		want    string
	}{
		"a device under two names":            {storage: devices("/dev/sda", "/dev/disk/by-path/pci-sda"), disks: []ceph.Disk{sd("sda")}, want: "+/dev/sda@sda !/dev/disk/by-path/pci-sda on h1 (/dev/sda) cannot become an OSD: it is used by /dev/sda"},
		"the same name twice":                 {storage: devices("/dev/sda", "/dev/sda"), slots: []ceph.Slot{lost}, disks: []ceph.Disk{labelled(sd("sda"), lost)}, want: "=/dev/sda@sda !storage names /dev/sda on h1 twice"},
		"an OSD of ours whose record is lost": {storage: devices("/dev/sda"), disks: []ceph.Disk{labelled(sd("sda"), lost)}, want: "!/dev/sda on h1 cannot become an OSD: it cannot be opened for us alone: Device or resource busy"},
		"and does not run":                    {storage: devices("/dev/sda"), disks: []ceph.Disk{with(labelled(sd("sda"), lost), func(d *ceph.Disk) { d.Busy = "" })}, want: "+/dev/sda@sda"},
		"the DB of ours as a device":          {storage: devices("/dev/sdd"), slots: []ceph.Slot{lost}, disks: []ceph.Disk{db}, want: "-/dev/sda !/dev/sdd on h1 cannot become an OSD: it is part of osd.3 (/dev/sda) of host h1"},
		"an OSD of another cluster":           {storage: devices("/dev/sda"), disks: []ceph.Disk{foreign(sd("sda"))}, want: "!/dev/sda on h1 cannot become an OSD: it carries an OSD of the cluster " + otherFSID + " (takeover.wipe_foreign_devices lets it be wiped)"},
		"which may be wiped":                  {storage: devices("/dev/sda"), disks: []ceph.Disk{foreign(sd("sda"))}, take: true, want: "+/dev/sda@sda"},
		"but not while it runs":               {storage: devices("/dev/sda"), disks: []ceph.Disk{with(foreign(sd("sda")), func(d *ceph.Disk) { d.Busy = "busy" })}, take: true, want: "!/dev/sda on h1 cannot become an OSD: it cannot be opened for us alone: busy"},
		"a label that names no cluster":       {storage: devices("/dev/sdd"), disks: []ceph.Disk{db}, take: true, want: "!/dev/sdd on h1 cannot become an OSD: it is part of an OSD of a cluster that its label does not name"},
		"a file, and the backend is raw":      {storage: devices("/srv/a"), disks: []ceph.Disk{{Path: "/srv/a", Type: "file", Size: 2 << 30}}, want: "!/srv/a on h1 cannot become an OSD: it is a file, and the backend is raw"},
		"a file that is not there yet":        {storage: ceph.StorageSpec{Backend: ceph.BackendFile, Devices: []ceph.DeviceSpec{{Path: "/srv/a"}}}, disks: []ceph.Disk{{Path: "/srv/a", Type: "missing", Missing: true}}, want: "+/srv/a@/srv/a"},
		"a DB beside it":                      {storage: ceph.StorageSpec{Devices: []ceph.DeviceSpec{{Path: "/dev/sda", DB: "/dev/sdb"}}}, disks: []ceph.Disk{sd("sda"), sd("sdb")}, want: "+/dev/sda@sda"},
		"a DB that is a device, too":          {storage: ceph.StorageSpec{Devices: []ceph.DeviceSpec{{Path: "/dev/sda", DB: "/dev/sdb"}, {Path: "/dev/sdb"}}}, disks: []ceph.Disk{sd("sda"), sd("sdb")}, want: "+/dev/sda@sda !/dev/sdb on h1 cannot become an OSD: it is used by the DB of /dev/sda"},
		"a DB of two":                         {storage: ceph.StorageSpec{Devices: []ceph.DeviceSpec{{Path: "/dev/sda", DB: "/dev/sdc"}, {Path: "/dev/sdb", DB: "/dev/sdc"}}}, disks: []ceph.Disk{sd("sda"), sd("sdb"), sd("sdc")}, want: "+/dev/sda@sda !/dev/sdc on h1 cannot become the DB of /dev/sdb: it is used by the DB of /dev/sda"},
		"a DB that is not there":              {storage: ceph.StorageSpec{Devices: []ceph.DeviceSpec{{Path: "/dev/sda", DB: "/dev/sdc"}}}, disks: []ceph.Disk{sd("sda")}, want: "!/dev/sdc on h1, the DB of /dev/sda: there is no such device"},
		"a selector leaves a DB alone":        {storage: ceph.StorageSpec{Devices: []ceph.DeviceSpec{{Path: "/dev/sda", DB: "/dev/sdb"}}, Selectors: []ceph.Selector{{All: true}}}, disks: []ceph.Disk{sd("sda"), sd("sdb"), sd("sdc")}, want: "+/dev/sda@sda +/dev/disk/by-id/wwn-0xsdc@sdc"},
		"several OSDs need volumes":           {storage: ceph.StorageSpec{OSDsPerDevice: 2, Devices: []ceph.DeviceSpec{{Path: "/dev/sda"}}}, disks: []ceph.Disk{sd("sda")}, want: "+/dev/sda@sda !2 OSDs on a device need the backend lvm"},
		"and have them":                       {storage: ceph.StorageSpec{Backend: ceph.BackendLVM, OSDsPerDevice: 2, Devices: []ceph.DeviceSpec{{Path: "/dev/sda"}}}, disks: []ceph.Disk{sd("sda")}, want: "+/dev/sda@sda +/dev/sda@sda"},
		"a disk of ours that another needs":   {storage: devices("/dev/sdb"), slots: []ceph.Slot{slotOn(sd("sdb"), "/dev/sdq", 1)}, disks: []ceph.Disk{sd("sdb")}, want: "=/dev/sdb@sdb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := onH1(tt.storage)
			w.Takeover.WipeForeignDevices = tt.take

			got := ceph.Choose(w, ourFSID, seen(tt.slots, tt.disks...))
			if s := summary(got); s != tt.want {
				t.Errorf("%s\nwant %s", s, tt.want)
			}

			for _, n := range got.New["h1"] {
				if n.Foreign != (tt.take && strings.Contains(tt.want, "+")) {
					t.Errorf("foreign: %+v", n)
				}
			}
		})
	}
}

// TestChoose_aHostThatIsNotSeen: nothing is said of it, and nothing of it goes.
func TestChoose_aHostThatIsNotSeen(t *testing.T) {
	t.Parallel()

	w := onH1(devices("/dev/sda"))
	w.Storage.Selectors = []ceph.Selector{{All: true}}

	if got := ceph.Choose(w, ourFSID, nil); summary(got) != "" {
		t.Errorf("%s", summary(got))
	}

	moved := slotOn(sd("sda"), "/dev/sda", 3)
	w.Hosts = append(w.Hosts, ceph.HostSpec{Name: "h2", Roles: []string{ceph.RoleOSD}})
	facts := map[string]ceph.Facts{
		"h1": {Disks: []ceph.Disk{with(labelled(sd("sda"), moved), func(d *ceph.Disk) { d.Busy = "" })}},
		"h2": {Slots: []ceph.Slot{moved}},
	}

	if got := summary(ceph.Choose(w, ourFSID, facts)); !strings.Contains(got, "it is part of osd.3 (/dev/sda) of host h2") {
		t.Errorf("a disk that came from another host: %s", got)
	}
}
