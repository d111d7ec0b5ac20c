// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

// What the tests of devices see of the inside.
var (
	ParseDisks = parseDisks
	ParseSlots = parseSlots
	SlotKey    = slotKey
	CheckPaths = checkPaths
)

// DeviceScripts are those about devices, for tests of their syntax.
var DeviceScripts = map[string]string{
	"disks": scriptDisks, "slots": scriptSlots, "look": scriptSlotLook, "dir": scriptSlotDir, "files": scriptFiles, "key": scriptLabelKey,
	"volume": scriptVolume, "encrypt": scriptEncrypt, "osd": scriptMakeOSD, "forget": scriptForget, "wipe": scriptWipe, "foreign": scriptWipeForeign,
	"activate": shActivate + "activate",
}
