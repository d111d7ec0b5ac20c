// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"fmt"
	"slices"
	"strings"
)

// judge says why a disk cannot become an OSD, and whether it can only because a label of another
// cluster may be wiped.
func (c *chooser) judge(h *hostChoice, d Disk, named bool) (foreign bool, why string) {
	if who := h.claims[d.Path]; who != "" {
		return false, "it is used by " + who
	}

	if why := d.Unusable(named); why != "" {
		return false, why
	}

	if d.Type == typeFile && c.w.Storage.Backend != BackendFile {
		return false, "it is a file, and the backend is " + c.w.Storage.Backend
	}

	if d.Label == nil {
		return false, ""
	}

	if who := c.ownerOf(*d.Label); who != "" {
		return false, "it is part of " + who
	}

	if c.fsid != "" && strings.EqualFold(d.Label.FSID, c.fsid) {
		return false, notMain(*d.Label)
	}

	if c.w.Takeover.WipeForeignDevices && d.Label.FSID != "" {
		return true, ""
	}

	return false, foreignWords(d)
}

// ownerOf says whose device a label is of, where a host that was seen has the record: a disk may
// have come from another host.
func (c *chooser) ownerOf(l Label) string {
	for _, name := range sortedKeys(c.facts) {
		for _, s := range c.facts[name].Slots {
			if s.UUID == l.UUID {
				return slotName(s) + " of host " + name
			}
		}
	}

	return ""
}

// notMain says what keeps a label of this cluster that nobody has a record of from being used again:
// the record is what was lost, and only the main device tells all that was in it.
func notMain(l Label) string {
	if l.Role != "" && l.Role != LabelMain {
		return "it is the " + l.Role + " of an OSD"
	}

	return ""
}

func foreignWords(d Disk) string {
	if d.Label.FSID == "" {
		return "it is part of an OSD of a cluster that its label does not name"
	}

	return "it carries an OSD of the cluster " + d.Label.FSID + " (takeover.wipe_foreign_devices lets it be wiped)"
}

func orForeign(why string, d Disk) string {
	if why == "" {
		return foreignWords(d)
	}

	return why
}

// spec is the OSD of this index on a device.
func (c *chooser) spec(d DeviceSpec, index int, foreign bool) SlotSpec {
	d.Count = c.count(d)

	return SlotSpec{Device: d, Index: index, Backend: c.w.Storage.Backend, Size: c.w.Storage.FileSize, Foreign: foreign}
}

// count is how many OSDs a device gets. Only a volume group can be shared.
func (c *chooser) count(d DeviceSpec) int {
	n := d.Count
	if n == 0 {
		n = c.w.Storage.OSDsPerDevice
	}

	if c.w.Storage.Backend != BackendLVM {
		return 1
	}

	return max(n, 1)
}

func (c *chooser) hasRole(host string) bool {
	return slices.ContainsFunc(c.w.Hosts, func(h HostSpec) bool {
		return h.Name == host && slices.Contains(h.Roles, RoleOSD)
	})
}

// gather puts together what was decided of the hosts, and finds what is left over.
func (c *chooser) gather() {
	if c.w.Storage.Backend != BackendLVM && c.w.Storage.OSDsPerDevice > 1 {
		c.problem("%d OSDs on a device need the backend %s", c.w.Storage.OSDsPerDevice, BackendLVM)
	}

	for _, w := range c.w.Hosts {
		h := c.hosts[w.Name]
		if h == nil {
			continue
		}

		c.out.Wanted = append(c.out.Wanted, h.picks...)

		for _, p := range h.picks {
			if p.Slot == nil {
				c.out.New[w.Name] = append(c.out.New[w.Name], p.Spec)
			}
		}

		if len(h.rejected) > 0 {
			c.out.Rejected[w.Name] = h.rejected
		}
	}

	for _, name := range sortedKeys(c.facts) {
		h := c.hosts[name]

		for _, s := range c.facts[name].Slots {
			if h == nil || !h.kept[s.Key] {
				c.out.Gone[name] = append(c.out.Gone[name], s)
			}
		}
	}
}

// slotOf returns the record of an OSD by what the configuration called its device.
func slotOf(slots []Slot, path string, index int) (Slot, bool) {
	i := slices.IndexFunc(slots, func(s Slot) bool { return s.Path == path && s.Index == index })
	if i < 0 {
		return Slot{}, false
	}

	return slots[i], true
}

// slotDisks returns the disk of an OSD, and what stands behind it where a volume or an encrypted
// mapping lies between.
func slotDisks(s Slot, disks []Disk) []Disk {
	var out []Disk

	if d, ok := SlotDisk(s, disks); ok {
		out = append(out, d)
	}

	if !s.Encrypted && s.Backend != BackendLVM {
		return out
	}

	bare := s
	bare.UUID = "" // not by its label, which is inside

	if d, ok := SlotDisk(bare, disks); ok {
		out = append(out, d)
	}

	return out
}

func slotName(s Slot) string {
	if s.ID >= 0 && s.Made {
		return fmt.Sprintf("osd.%d (%s)", s.ID, s.Path)
	}

	return "the OSD of " + s.Path
}

// hardware says what the device of a record is known by.
func hardware(s Slot) string {
	switch {
	case s.Serial != "":
		return "; that one has the serial number " + s.Serial
	case s.WWN != "":
		return "; that one is " + s.WWN
	default:
		return ""
	}
}

// alias tells what a device is really called, where somebody used another name.
func alias(name string, d Disk) string {
	if d.Path == "" || d.Path == name {
		return ""
	}

	return " (" + d.Path + ")"
}
