// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// State is where a device is on its way, spelled as the operator spells it.
type State string

// The states of a device. Failed and Missing are ours: the operator has neither.
const (
	Attaching State = "Attaching" // on the machine, not yet proved usable
	Online    State = "Online"
	Detaching State = "Detaching" // being taken away, or that failed on the way
	Failed    State = "Failed"    // on the machine, and not usable
	Missing   State = "Missing"   // not where it was: on another machine
)

// The states of a resource.
const (
	Running  = "Running"  // as many devices as wanted, all Online
	Degraded = "Degraded" // anything else
)

// The device types that have checks of their own.
const (
	GPU       = "gpu"
	CXLMemory = "cxlmemory"
)

// Record is what is remembered of one device.
type Record struct {
	DeviceID   string // what the operating system shows; empty: not known (yet)
	FabricID   string
	Type       string
	Model      string
	MachineID  string
	HostName   string
	State      State
	Health     fabric.Health
	HealthRaw  string
	BusID      string // PCI address on the host; empty: not known
	Serial     string
	AttachedAt time.Time // zero: before we knew it (imported, adopted)
	Error      string
}

// device is the record as a fabric names it.
func (r Record) device() fabric.Device {
	return fabric.Device{
		FabricID: r.FabricID, DeviceID: r.DeviceID, Type: r.Type, Model: r.Model, Serial: r.Serial, MachineID: r.MachineID,
	}
}

// Label names the device to people.
func (r Record) Label() string {
	if r.DeviceID != "" && r.DeviceID != r.FabricID {
		return r.DeviceID + " (fabric id " + r.FabricID + ")"
	}

	return r.FabricID
}

// mistakes reports whether what has the record's fabric id is another device: the operating
// system would know it by another id.
func (r Record) mistakes(d fabric.Device) bool {
	return r.DeviceID != "" && d.DeviceID != "" && !fabric.SameID(r.DeviceID, d.DeviceID)
}

// newRecord is the record of a device that a look showed.
func newRecord(d fabric.Device, h Host, state State) Record {
	r := Record{
		FabricID: d.FabricID, DeviceID: d.DeviceID, Type: d.Type, Model: d.Model, MachineID: h.MachineID, HostName: h.Name, State: state,
	}

	return r.seen(d)
}

// seen takes over what a look tells of the device. What the look does not tell stays.
func (r Record) seen(d fabric.Device) Record {
	if d.FabricID != "" {
		r.FabricID = d.FabricID
	}

	// An id that is known is never replaced by another one: that would be another device.
	if r.DeviceID == "" {
		r.DeviceID = d.DeviceID
	}

	if r.Serial == "" {
		r.Serial = d.Serial
	}

	r.Health, r.HealthRaw = d.Health, d.HealthRaw

	return r
}
