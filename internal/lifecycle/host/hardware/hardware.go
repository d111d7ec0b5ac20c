// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package hardware reads the inventory that Ironic keeps of a machine.
//
// It is pure and never fails: what firmware and ramdisks write into an inventory is
// foreign data, so each field is read for itself, and an odd one becomes a warning.
package hardware

// Hardware is what a machine consists of, in the shape of Metal3's HardwareData.
//
// Text that is unknown is "", numbers that are unknown are 0.
type Hardware struct {
	SystemVendor  SystemVendor
	SystemUUID    string // lower case; "" where the ramdisk reports none
	Firmware      Firmware
	RAMMebibytes  int64
	NICs          []NIC     // by name
	Storage       []Storage // by name
	CPU           CPU
	Hostname      string
	PXEInterface  string // MAC address that the ramdisk was booted from
	BootMode      string // uefi or bios, as the ramdisk found itself booted
	BMCAddress    string
	BMCv6Address  string
	inventoryRead bool
}

// SystemVendor names the machine.
type SystemVendor struct {
	Manufacturer string
	ProductName  string
	SerialNumber string
}

// Firmware holds the versions of the firmware.
type Firmware struct {
	BIOS BIOS
}

// BIOS is the firmware of the board.
type BIOS struct {
	Date    string
	Vendor  string
	Version string
}

// NIC is one network interface, with the addresses of both families.
type NIC struct {
	Name       string
	Model      string
	MAC        string // lower case with colons; 20 bytes with InfiniBand; "" where there is none
	IPs        []string
	SpeedGbps  int64
	VLANs      []VLAN // tagged at the switch, as LLDP tells
	VLANID     int64  // untagged at the switch
	PXE        bool
	LLDP       LLDP
	PCIAddress string
}

// VLAN is one VLAN of a switch port.
type VLAN struct {
	ID   int64
	Name string
}

// LLDP is the other end of the cable.
type LLDP struct {
	SwitchID         string
	PortID           string
	SwitchSystemName string
}

// Kinds of disks.
const (
	HDD  = "HDD"
	SSD  = "SSD"
	NVME = "NVME"
)

// Storage is one disk.
type Storage struct {
	Name               string // by-path where known: it outlives a reboot
	AlternateNames     []string
	Rotational         bool
	Type               string // HDD, SSD or NVME
	SizeBytes          int64
	Vendor             string
	Model              string
	SerialNumber       string
	WWN                string
	WWNVendorExtension string
	WWNWithExtension   string
	HCTL               string
}

// CPU is the processors, all of them taken together.
type CPU struct {
	Arch           string
	Model          string
	ClockMegahertz int64
	Flags          []string // sorted
	Count          int64
}

// macLength is the length of an Ethernet address as text.
const macLength = len("00:00:00:00:00:00")

// BootMAC returns the address of the interface that boots the machine: the one marked
// for PXE, else the first that has an Ethernet address. It is "" where there is none.
func (h Hardware) BootMAC() string {
	first := ""

	for _, nic := range h.NICs {
		switch {
		case len(nic.MAC) != macLength:
		case nic.PXE:
			return nic.MAC
		case first == "":
			first = nic.MAC
		}
	}

	return first
}

// MACs returns the Ethernet addresses, each once: the ones that can become ports.
func (h Hardware) MACs() []string {
	var (
		macs []string
		seen = map[string]bool{}
	)

	for _, nic := range h.NICs {
		if len(nic.MAC) == macLength && !seen[nic.MAC] {
			seen[nic.MAC] = true
			macs = append(macs, nic.MAC)
		}
	}

	return macs
}

// Known reports whether the document held an inventory at all.
func (h Hardware) Known() bool { return h.inventoryRead }
