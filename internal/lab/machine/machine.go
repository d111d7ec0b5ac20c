// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package machine is what the lab remembers of a bare-metal machine: its power, its disk, what
// its BMC was told. The Redfish face, the lab's Ironic and the deployment agent all work on it.
//
// A machine has no goroutine. Whatever takes time is stored as "what" and "when" and settles
// by the clock the next time somebody loads the machine, so that a lab which is killed and
// started again goes on where it was, and tests run in virtual time.
package machine

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// The power states of a machine, as Redfish spells them.
const (
	On  = "On"
	Off = "Off"
)

// What a machine may be running. A blank disk, or a network boot nobody answers, runs Nothing.
const (
	Nothing = ""
	Agent   = "agent" // the deployment ramdisk
	Disk    = "disk"
	ISO     = "iso" // a medium without an agent in it
)

// DefaultCount is the number of machines of a lab that was not told how many it has.
const DefaultCount = 8

// Options says which machines a lab has, and how fast they are.
type Options struct {
	First, Count          int           // node-<First> and Count-1 more; a Count of 0 means DefaultCount
	Username, Password    string        // of the BMCs; empty: admin and password
	NoAuth                bool          // the BMCs ask for no credentials
	PowerDelay, BootDelay time.Duration // how long a power change, and then the boot, take
}

// Machine is what the lab remembers of one machine: bucket "machines", key Name.
type Machine struct {
	Name  string   `json:"name"` // node-3
	ID    string   `json:"id"`   // the system's UUID, derived from the index and so from the name
	Index int      `json:"index"`
	MACs  []string `json:"macs"`

	Power        string        `json:"power"`                   // On or Off
	PendingPower string        `json:"pending_power,omitempty"` // On, Off or Restart: under way until PendingAt
	PendingAt    time.Time     `json:"pending_at,omitzero"`
	PowerDelay   time.Duration `json:"power_delay"`
	BootDelay    time.Duration `json:"boot_delay"`
	Resets       int           `json:"resets"` // power requests so far

	Boot    Boot      `json:"boot"`              // the override that the BMC was told
	Booting string    `json:"booting,omitempty"` // the target of a boot under way until BootAt
	BootAt  time.Time `json:"boot_at,omitzero"`
	Booted  string    `json:"booted,omitempty"` // the target that was booted
	Source  string    `json:"source,omitempty"` // the medium or URI that was booted
	Boots   int       `json:"boots"`            // times it was switched on: tells one run from the next

	Running string `json:"running"` // Nothing, Agent, Disk or ISO
	Image   string `json:"image"`   // what is on the disk (URL); empty: blank

	Username string `json:"username"` // what the BMC accepts; empty: no authentication
	Password string `json:"password"`

	Media       map[string]Medium         `json:"media"` // virtual media by slot: Cd, USBStick
	SecureBoot  bool                      `json:"secure_boot"`
	BIOS        map[string]any            `json:"bios"`
	BIOSPending map[string]any            `json:"bios_pending,omitempty"` // taken over at the next power on
	Firmware    map[string]string         `json:"firmware"`               // version by component
	Updates     []Update                  `json:"updates,omitempty"`
	Volumes     map[string]map[string]any `json:"volumes,omitempty"`
	VolumeCount int                       `json:"volume_count"` // ever made: names the next one

	Faults Faults   `json:"faults,omitzero"`
	Events []string `json:"events,omitempty"` // the last things that happened, for people
}

// Boot is the boot override as the BMC holds it.
type Boot struct {
	Target  string `json:"target"`  // None, Pxe, Cd, Usb, Hdd, BiosSetup, UefiHttp
	Enabled string `json:"enabled"` // Disabled, Once, Continuous
	Mode    string `json:"mode"`    // UEFI, Legacy
	HTTPURI string `json:"http_uri,omitempty"`
}

// Medium is what is in a virtual media slot.
type Medium struct {
	Image      string `json:"image"`                 // empty: nothing
	Ghost      string `json:"ghost,omitempty"`       // ejected, and still shown (Faults.EjectLag)
	GhostReads int    `json:"ghost_reads,omitempty"` // that many times more
}

// Update is a firmware update under way until At.
type Update struct {
	Component string    `json:"component"`
	Version   string    `json:"version"`
	At        time.Time `json:"at"`
}

// Default returns machine node-i as it leaves the factory: off, blank, reachable.
func Default(i int, o Options) Machine {
	m := Machine{
		Name: Name(i), ID: ID(i), Index: i,
		MACs:  []string{mac(0x5a, i), mac(0x5b, i)},
		Power: Off, PowerDelay: o.PowerDelay, BootDelay: o.BootDelay,
		Boot:     Boot{Target: "None", Enabled: "Disabled", Mode: "UEFI"},
		Username: o.Username, Password: o.Password,
		Media:    map[string]Medium{"Cd": {}, "USBStick": {}},
		BIOS:     FactoryBIOS(),
		Firmware: map[string]string{"BIOS": "2.1.0", "BMC": "7.10.30", "NIC1": "22.5.7"},
		Volumes:  map[string]map[string]any{},
	}

	switch {
	case o.NoAuth:
		m.Username, m.Password = "", ""
	case m.Username == "":
		m.Username, m.Password = "admin", "password"
	}

	return m
}

// Name is the name of machine i.
func Name(i int) string { return fmt.Sprintf("node-%d", i) }

// ID is the system UUID of machine i.
func ID(i int) string { return fmt.Sprintf("6d6f636b-0000-4000-8000-%012d", i) }

func mac(family, i int) string {
	return fmt.Sprintf("52:54:00:%02x:%02x:%02x", family, i/256%256, i%256)
}

// FactoryBIOS is the BIOS settings of a new machine, and after a reset of the settings.
func FactoryBIOS() map[string]any {
	return map[string]any{
		"BootMode": "Uefi", "ProcVirtualization": "Enabled", "LogicalProc": "Enabled",
		"SriovGlobalEnable": "Disabled", "QuietBoot": true, "NumLock": "On", "BootTimeout": 5,
	}
}

// Credentials are what the BMC accepts right now; an empty user name: anything.
func (m Machine) Credentials() (username, password string) {
	if m.Faults.Password != "" {
		return m.Username, m.Faults.Password
	}

	return m.Username, m.Password
}

// Accepts tells whether the BMC lets these credentials in.
func (m Machine) Accepts(username, password string) bool {
	u, p := m.Credentials()

	return u == "" || username == u && password == p
}

// Slots lists the virtual media slots in order.
func (m Machine) Slots() []string { return slices.Sorted(maps.Keys(m.Media)) }

// maxEvents bounds what every load of a machine has to decode.
const maxEvents = 60

// Say notes what happened at a time.
func (m *Machine) Say(at time.Time, format string, args ...any) {
	m.Events = append(m.Events, at.Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	if n := len(m.Events) - maxEvents; n > 0 {
		m.Events = slices.Clone(m.Events[n:])
	}
}
