// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// The sizes below which a device is none: the first is what Ceph's own tools want of a device that
// nobody named, the second is what a store needs to be made at all.
const (
	MinSelected int64 = 5 << 30
	MinNamed    int64 = 1 << 30
)

// The types of block devices, as lsblk has them, that we tell apart.
const (
	typeDisk = "disk"
	typeFile = "file"
	typePart = "part"
)

// SignatureBlueStore is the signature of a device or file of an OSD.
const SignatureBlueStore = "ceph_bluestore"

// Roles of the devices of an OSD, as their labels say.
const (
	LabelMain = "main"
	LabelDB   = "bluefs db"
)

// FindDisk returns the disk that a path means: exactly that path, /dev/ and the kernel's name, or
// a link of udev. It is never a pattern.
func FindDisk(disks []Disk, name string) (Disk, bool) {
	name = path.Clean(name)

	for _, d := range disks {
		if !d.Missing && (d.Path == name || d.Name != "" && "/dev/"+d.Name == name) {
			return d, true
		}
	}

	for _, d := range disks {
		if !d.Missing && slices.Contains(d.Links, name) {
			return d, true
		}
	}

	return Disk{}, false
}

// SlotDisk returns the disk of an OSD, whatever the kernel calls it today. The label counts; a
// device that has none is known by what the hardware says of itself, and by its name only where
// the hardware says nothing.
func SlotDisk(s Slot, disks []Disk) (Disk, bool) {
	for _, d := range disks {
		if d.Label != nil && s.UUID != "" && d.Label.UUID == s.UUID && d.Label.Role != LabelDB {
			return d, true
		}
	}

	for _, d := range disks {
		if sameHardware(s, d) {
			return d, true
		}
	}

	if s.WWN != "" || s.Serial != "" || s.Link != "" {
		return Disk{}, false
	}

	d, ok := FindDisk(disks, s.Path)
	hidden := s.Encrypted || s.Backend == BackendLVM // the label is inside
	if !ok || (s.Made && d.Type != typeFile && !hidden) || (d.Label != nil && d.Label.UUID != s.UUID) {
		return Disk{}, false
	}

	return d, true
}

// sameHardware compares what is the device's own. Partitions share most of it with their disk: only
// a link tells them apart.
func sameHardware(s Slot, d Disk) bool {
	switch {
	case d.Missing, d.Label != nil && d.Label.UUID != s.UUID:
		return false
	case s.Link != "" && slices.Contains(d.Links, s.Link):
		return true
	case d.Type == typePart:
		return false
	case s.WWN != "" || d.WWN != "":
		return d.WWN == s.WWN
	default:
		return s.Serial != "" && d.Serial == s.Serial
	}
}

// Stable returns the name of a disk that changes least: a WWN, another name of the hardware,
// the place where it is plugged in, and only then the kernel's name.
func (d Disk) Stable() string {
	for _, prefix := range []string{"/dev/disk/by-id/wwn-", "/dev/disk/by-id/nvme-eui.", "/dev/disk/by-id/", "/dev/disk/by-path/"} {
		var best string

		for _, l := range d.Links {
			if strings.HasPrefix(l, prefix) && (best == "" || l < best) {
				best = l
			}
		}

		if best != "" {
			return best
		}
	}

	return d.Path
}

// ByID is the link of a disk that names the hardware; empty: there is none.
func (d Disk) ByID() string {
	if s := d.Stable(); strings.HasPrefix(s, "/dev/disk/by-id/") {
		return s
	}

	return ""
}

// Unusable says why a disk cannot become an OSD; empty: it can. A disk that somebody named may be
// more than one that a selector finds: a partition, a volume, a loop device, a small one. What a
// BlueStore label means is not judged here.
func (d Disk) Unusable(named bool) string {
	if d.Missing {
		return "there is no such device"
	}

	if why := d.unfit(named); why != "" {
		return why
	}

	if why := d.taken(); why != "" {
		return why
	}

	if d.Label == nil && d.Signature == SignatureBlueStore {
		return "it belongs to an OSD, and its label cannot be read"
	}

	return ""
}

// neverByName are devices that no disk stands behind, whatever their type says: compressed memory,
// for one, is of type disk.
var neverByName = []string{"zram", "ram", "sr", "fd"}

// notSelected are devices that are used only when they are named.
var notSelected = []string{"rbd", "nbd", "loop", "dm-", "md", "drbd"}

// unfit says why a disk is none that an OSD could live on.
func (d Disk) unfit(named bool) string {
	least := MinSelected
	if named {
		least = MinNamed
	}

	switch {
	case d.Type == typeFile && named:
		return ""
	case d.Type == "rom", isOf(d.Name, neverByName):
		return "it is no disk: " + cmp.Or(d.Name, d.Type)
	case !named && (d.Type != typeDisk || isOf(d.Name, notSelected)):
		return fmt.Sprintf("its type is %s: only whole disks are selected", cmp.Or(d.Type, "not known"))
	case d.Size == 0:
		return "its size is 0"
	case d.Size < least:
		return fmt.Sprintf("it is too small: %d bytes, at least %d", d.Size, least)
	case d.ReadOnly:
		return "it is read-only"
	case !named && d.Removable:
		return "it is removable"
	default:
		return ""
	}
}

// taken says what somebody else does with a disk.
func (d Disk) taken() string {
	switch {
	case slices.Contains(d.Mounts, "[SWAP]"):
		return "it is used as swap"
	case len(d.Mounts) > 0:
		return "it is mounted at " + strings.Join(d.Mounts, ", ")
	case strings.HasPrefix(d.Signature, "LVM2"):
		return "it belongs to LVM"
	case d.Signature == "mpath_member":
		return "it is a path of a multipath device"
	case len(d.Children) > 0:
		return "it has partitions or is part of another device: " + strings.Join(d.Children, ", ")
	case d.Signature != "" && d.Signature != SignatureBlueStore:
		return "it holds data: " + d.Signature
	case d.Busy != "":
		return "it cannot be opened for us alone: " + d.Busy
	default:
		return ""
	}
}

// isOf reports whether a kernel name is one of these kinds: the kind, then a number.
func isOf(name string, kinds []string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool {
		rest, ok := strings.CutPrefix(name, kind)

		return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
	})
}
