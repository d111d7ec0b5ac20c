// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"slices"
	"strings"
)

// State is what a machine's status means for us.
type State int

// The meanings of a machine's status.
const (
	Ready   State = iota // it takes orders
	Busy                 // something changes: wait
	Leaving              // it is being taken apart
	Gone                 // it is no more, and the manager says so
	Failed               // it needs a person
)

// Power is whether a machine is powered on.
type Power int

// The power states.
const (
	PowerUnknown Power = iota
	PowerOn
	PowerOff
)

// String is how people read it; empty where it is not known.
func (p Power) String() string { return [...]string{"", "on", "off"}[p] }

// Machine is a composed server as one read shows it.
type Machine struct {
	ID       string
	Name     string
	FabricID string // of the pool that its devices come from
	Status   string // as the manager spells it: "13 ACTIVE_PON"
	OpStatus string // as the manager spells it
	State    State
	Power    Power
	Owner    string
	MACs     []string
	Devices  []Device // in the order of the answer
	Specs    []Spec   // where the manager has specifications (CM)
}

// Spec is what a manager lets a machine have of one model.
type Spec struct {
	ID                string
	Type              string
	Models            []string
	Min, Max, Current int // Max 0: no bound
}

// Phase is what the manager itself says of a device on a machine.
type Phase int

// The phases of a device. A manager without phases shows only Attached.
const (
	Attached Phase = iota
	Adding
	AddFailed
	Removing
	RemoveFailed
)

// Health is what the manager says of a device.
type Health int

// The health of a device.
const (
	HealthUnknown Health = iota // not told, or told in a way that nobody knows
	HealthOK
	HealthWarning
	HealthCritical
)

// String is the value of the attribute health.
func (h Health) String() string { return [...]string{"unknown", "ok", "warning", "critical"}[h] }

// Device is a device of a pool or of a machine.
type Device struct {
	FabricID  string // the manager's own id: the key of everything
	DeviceID  string // what the operating system shows; empty: not known (yet)
	Type      string
	Model     string // as the manager spells it
	Serial    string
	Health    Health
	HealthRaw string // as the manager spells it
	Phase     Phase
	Reason    string // the manager's words where the phase is a failure
	MachineID string // where it is; empty: in the pool
	Spec      string // id of the specification that it counts for, where there are such
}

// SameID compares ids of the operating system: "GPU-" in front and case do not count.
func SameID(a, b string) bool { return NormalID(a) != "" && NormalID(a) == NormalID(b) }

// NormalID is the id of the operating system without "GPU-", in lower case.
func NormalID(id string) string {
	id = strings.TrimSpace(id)
	if len(id) > 4 && strings.EqualFold(id[:4], "GPU-") {
		id = id[4:]
	}

	return strings.ToLower(id)
}

// Same reports whether two looks show the same device. An id that appears later does not
// make another device of it.
func (d Device) Same(o Device) bool {
	if d.FabricID != "" && o.FabricID != "" {
		return strings.EqualFold(d.FabricID, o.FabricID)
	}

	return SameID(d.DeviceID, o.DeviceID)
}

// Is reports whether the device is of a type and model. Models are compared as they are
// spelled, but for blanks around them: "A100 40G" is not "A100-40G".
func (d Device) Is(typ, model string) bool {
	return strings.EqualFold(d.Type, typ) && strings.TrimSpace(d.Model) == strings.TrimSpace(model)
}

// Of returns the machine's devices of a type and model.
func (m Machine) Of(typ, model string) []Device {
	var out []Device

	for _, d := range m.Devices {
		if d.Is(typ, model) {
			out = append(out, d)
		}
	}

	return out
}

// Find returns the machine's device that is the same as d.
func (m Machine) Find(d Device) (Device, bool) {
	i := slices.IndexFunc(m.Devices, d.Same)
	if i < 0 {
		return Device{}, false
	}

	return m.Devices[i], true
}

// Settled reports whether nothing changes on the machine: its status says so, no device of
// the type and model is on its way, and a specification counts what is there.
func (m Machine) Settled(typ, model string) bool {
	if m.State == Busy {
		return false
	}

	for _, d := range m.Devices {
		if (d.Phase == Adding || d.Phase == Removing) && d.Is(typ, model) {
			return false
		}
	}

	for _, s := range m.Specs {
		if !strings.EqualFold(s.Type, typ) || !slices.Contains(s.Models, model) {
			continue
		}

		here := 0

		for _, d := range m.Devices {
			if d.Spec == s.ID {
				here++
			}
		}

		if s.Current > here {
			return false
		}
	}

	return true
}
