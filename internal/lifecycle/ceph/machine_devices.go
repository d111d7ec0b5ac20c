// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"fmt"
	"slices"
	"strings"
)

// Choice says which devices become OSDs and which OSDs are no longer wanted.
type Choice struct {
	// Wanted are the OSDs that should be, existing ones and new ones, in the order of the hosts.
	Wanted []Pick
	// New are those that have no record yet, by host.
	New map[string][]SlotSpec
	// Gone are OSDs of ours that nothing in the configuration names any more, by host. One whose
	// host was not seen is never among them.
	Gone map[string][]Slot
	// Rejected says why a device is no OSD: host, device, reason.
	Rejected map[string]map[string]string
	// Problems are what has to be put right before anything is done.
	Problems []error
}

// Pick is an OSD that the configuration wants.
type Pick struct {
	Host string
	Spec SlotSpec
	Slot *Slot  // its record; nil: it is to be made
	Disk string // what the kernel calls its device today; empty: it is not there
}

// SpecOf returns what the configuration says of an OSD that has a record. Of one that nothing names
// it is what the record itself says.
func (c Choice) SpecOf(host string, s Slot) SlotSpec {
	for _, p := range c.Wanted {
		if p.Host == host && p.Slot != nil && p.Slot.Key == s.Key {
			return p.Spec
		}
	}

	return SlotSpec{
		Device:  DeviceSpec{Host: host, Path: s.Path, DB: s.DB, Class: s.Class, Encrypted: s.Encrypted, Count: 1},
		Index:   s.Index,
		Backend: s.Backend,
	}
}

// Choose says which devices of the hosts are OSDs. The facts are those of the hosts that were
// seen, by name, with an inventory of devices; of a host that is not among them nothing is said.
// The fsid is the cluster's own; empty: it is not made yet, and every label is somebody else's.
func Choose(w Wanted, fsid string, facts map[string]Facts) Choice {
	c := chooser{w: w, fsid: fsid, facts: facts, hosts: map[string]*hostChoice{}}
	c.out = Choice{New: map[string][]SlotSpec{}, Gone: map[string][]Slot{}, Rejected: map[string]map[string]string{}}

	for _, h := range w.Hosts {
		if f, ok := facts[h.Name]; ok {
			c.hosts[h.Name] = newHostChoice(f)
		}
	}

	c.named()
	c.selected()
	c.gather()

	return c.out
}

// chooser is the work of one choice.
type chooser struct {
	w     Wanted
	fsid  string
	facts map[string]Facts
	hosts map[string]*hostChoice
	out   Choice
}

// hostChoice is what is decided of one host.
type hostChoice struct {
	facts Facts
	picks []Pick
	// kept are the slots that something names.
	kept map[string]bool
	// claims says who has a disk, by its path today.
	claims map[string]string
	// rejected says why a disk is no OSD.
	rejected map[string]string
}

func newHostChoice(f Facts) *hostChoice {
	return &hostChoice{facts: f, kept: map[string]bool{}, claims: map[string]string{}, rejected: map[string]string{}}
}

func (c *chooser) problem(format string, args ...any) {
	c.out.Problems = append(c.out.Problems, fmt.Errorf(format, args...))
}

// named goes through the devices that are named. Those that have a record come first: a record
// holds its device wherever the kernel puts it today, so no other entry can take it.
func (c *chooser) named() {
	type todo struct {
		spec DeviceSpec
		host *hostChoice
	}

	var rest []todo

	for _, d := range c.w.Storage.Devices {
		h := c.hosts[d.Host]

		switch {
		case !c.hasRole(d.Host):
			c.problem("storage names %s on %s, which is no host with the role %s", d.Path, d.Host, RoleOSD)
		case h == nil: // not seen
		case !c.bind(h, d):
			rest = append(rest, todo{d, h})
		}
	}

	c.hold()

	for _, t := range rest {
		c.take(t.host, t.spec)
	}
}

// hold claims the devices of all records, also of those that nothing names: what one OSD has is
// free for no other.
func (c *chooser) hold() {
	for _, h := range c.hosts {
		for _, s := range h.facts.Slots {
			for _, d := range slotDisks(s, h.facts.Disks) {
				h.claims[d.Path] = slotName(s)
			}

			if d, ok := FindDisk(h.facts.Disks, s.DB); ok && s.DB != "" {
				h.claims[d.Path] = "the DB of " + slotName(s)
			}
		}
	}
}

// bind gives a named device its record, by its path. It reports whether there is one.
func (c *chooser) bind(h *hostChoice, d DeviceSpec) bool {
	found := false

	for i := range c.count(d) {
		s, ok := slotOf(h.facts.Slots, d.Path, i)
		if !ok {
			continue
		}

		found = true

		if h.kept[s.Key] {
			c.problem("storage names %s on %s twice", d.Path, d.Host)

			return true
		}

		c.keep(h, d, s)
	}

	if !found {
		return false
	}

	// More OSDs on a device that has some: those that are missing.
	for i := range c.count(d) {
		if _, ok := slotOf(h.facts.Slots, d.Path, i); !ok {
			h.picks = append(h.picks, Pick{Host: d.Host, Spec: c.spec(d, i, false)})
		}
	}

	h.noteOther(d.Path, c.count(d))

	return true
}

// keep notes that a record is wanted.
func (c *chooser) keep(h *hostChoice, d DeviceSpec, s Slot) {
	h.kept[s.Key] = true
	p := Pick{Host: d.Host, Spec: c.spec(d, s.Index, false), Slot: &s, Disk: s.Device}

	if disk, ok := SlotDisk(s, h.facts.Disks); ok {
		p.Disk = disk.Path
	}

	h.picks = append(h.picks, p)
}

// noteOther says why the disk that has the name of an OSD's device today is none.
func (h *hostChoice) noteOther(name string, count int) {
	today, ok := FindDisk(h.facts.Disks, name)
	if !ok {
		return
	}

	for i := range count {
		s, ok := slotOf(h.facts.Slots, name, i)
		if !ok {
			continue
		}

		if slices.ContainsFunc(slotDisks(s, h.facts.Disks), func(d Disk) bool { return d.Path == today.Path }) {
			return
		}

		h.rejected[today.Path] = fmt.Sprintf("it has the name of the device of %s, and is another one%s", slotName(s), hardware(s))
	}
}

// take makes a device that has no record by this path an OSD, or says why that cannot be.
func (c *chooser) take(h *hostChoice, d DeviceSpec) {
	disk, ok := FindDisk(h.facts.Disks, d.Path)
	if !ok {
		if c.w.Storage.Backend == BackendFile && !strings.HasPrefix(d.Path, "/dev/") {
			c.fresh(h, d, Disk{Path: d.Path, Type: typeFile}, false)

			return
		}

		c.problem("%s on %s: there is no such device", d.Path, d.Host)

		return
	}

	if c.adopt(h, d, disk) {
		return
	}

	foreign, why := c.judge(h, disk, true)
	if why != "" {
		c.problem("%s on %s%s cannot become an OSD: %s", d.Path, d.Host, alias(d.Path, disk), why)

		return
	}

	c.fresh(h, d, disk, foreign)
}

// adopt gives a device under a new name the records that it has under an old one.
func (c *chooser) adopt(h *hostChoice, d DeviceSpec, disk Disk) bool {
	found := false

	for _, s := range h.facts.Slots {
		if !slices.ContainsFunc(slotDisks(s, h.facts.Disks), func(o Disk) bool { return o.Path == disk.Path }) {
			continue
		}

		found = true

		if h.kept[s.Key] {
			c.problem("storage names %s on %s twice: as %s%s", slotName(s), d.Host, d.Path, alias(d.Path, disk))

			return true
		}

		c.keep(h, d, s)
	}

	return found
}

// fresh wants new OSDs on a device, with the DB that goes with it.
func (c *chooser) fresh(h *hostChoice, d DeviceSpec, disk Disk, foreign bool) {
	h.claims[disk.Path] = d.Path

	if d.DB != "" && !c.takeDB(h, d) {
		return
	}

	for i := range c.count(d) {
		h.picks = append(h.picks, Pick{Host: d.Host, Spec: c.spec(d, i, foreign), Disk: disk.Path})
	}
}

// takeDB claims the device of a DB.
func (c *chooser) takeDB(h *hostChoice, d DeviceSpec) bool {
	disk, ok := FindDisk(h.facts.Disks, d.DB)

	switch {
	case ok:
		if foreign, why := c.judge(h, disk, true); why != "" || foreign {
			c.problem("%s on %s%s cannot become the DB of %s: %s", d.DB, d.Host, alias(d.DB, disk), d.Path, orForeign(why, disk))

			return false
		}

		h.claims[disk.Path] = "the DB of " + d.Path
	case d.DBSize > 0 && h.claims[d.DB] == "": // a file that we make
		h.claims[d.DB] = "the DB of " + d.Path
	case d.DBSize > 0:
		c.problem("%s on %s cannot become the DB of %s: it is used by %s", d.DB, d.Host, d.Path, h.claims[d.DB])

		return false
	default:
		c.problem("%s on %s, the DB of %s: there is no such device", d.DB, d.Host, d.Path)

		return false
	}

	return true
}
