// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Policy says how devices are spread.
type Policy string

// The allocation policies of the operator.
const (
	SameNode      Policy = "samenode"      // all on one host
	DifferentNode Policy = "differentnode" // one a host
)

// SkipDrain says when a device may go without asking its host.
type SkipDrain string

// When the drain is skipped.
const (
	SkipNever         SkipDrain = "never"
	SkipIfUnreachable SkipDrain = "if_unreachable"
	SkipAlways        SkipDrain = "always"
)

// Existing says what becomes of devices of the wanted kind that are there already.
type Existing string

// What becomes of devices that no state knows.
const (
	ExistingError  Existing = "error"
	ExistingAdopt  Existing = "adopt"
	ExistingIgnore Existing = "ignore"
)

// Partial says which devices stay when a create gets fewer than wanted.
type Partial string

// What stays after a partial failure.
const (
	PartialRollback Partial = "rollback"
	PartialKeep     Partial = "keep"
)

// Unhealthy says what becomes of a device that arrives in a critical state.
type Unhealthy string

// What becomes of a device that is critical on arrival.
const (
	UnhealthyDetach Unhealthy = "detach"
	UnhealthyKeep   Unhealthy = "keep"
)

// Capacity is what a host has; nil pointers elsewhere mean that nobody knows.
type Capacity struct {
	CPUMillis    int64
	MemoryBytes  int64
	StorageBytes int64
}

// Spec is the least that a host must have (other_spec); zero: no demand.
type Spec struct {
	MilliCPU         int64
	Memory           int64 // bytes
	EphemeralStorage int64 // bytes
}

// Host is a machine that devices may be attached to.
type Host struct {
	MachineID string // the fabric's id, without "fsas-cdi://"
	Name      string
	Capacity  *Capacity
	Node      Node // nil: nothing is done on the host's operating system
}

// Label names the host to people.
func (h Host) Label() string {
	if h.Name != "" {
		return h.Name + " (machine " + h.MachineID + ")"
	}

	return "machine " + h.MachineID
}

// Limits bound the steps of one device.
type Limits struct {
	Attach  time.Duration // order and arrival
	Visible time.Duration // until the host shows it
	Drain   time.Duration
	Detach  time.Duration
}

// DefaultLimits count where the configuration names none.
var DefaultLimits = Limits{Attach: 15 * time.Minute, Visible: 10 * time.Minute, Drain: 5 * time.Minute, Detach: 15 * time.Minute}

// Wanted is what a resource asks for.
type Wanted struct {
	ID        string // of the resource: names it in claims and in the journal
	Type      string
	Model     string
	Size      int
	Policy    Policy
	Hosts     []Host // candidates, in order of preference
	Former    []Host // taken out of the list: devices on them go
	OtherSpec *Spec

	ForceDetach bool // do not ask whether the device is in use
	SkipDrain   SkipDrain
	DriverCheck bool     // refuse a host without a driver before anything is attached
	WaitVisible bool     // a device counts when its host shows it
	Existing    Existing //
	OnPartial   Partial
	OnUnhealthy Unhealthy
	DetachFirst []string // device ids (either kind) that go first
	Exclusive   []string // models that must not be on the same machine
	Limits      Limits
}

// hosts are all hosts that the resource has to do with: listed ones, former ones, and those
// of its devices.
func (w Wanted) hosts(have []Record) []Host {
	out := append(w.Hosts[:len(w.Hosts):len(w.Hosts)], w.Former...)

	for _, d := range have {
		if !slices.ContainsFunc(out, func(h Host) bool { return SameMachine(h.MachineID, d.MachineID) }) {
			out = append(out, Host{MachineID: d.MachineID, Name: d.HostName})
		}
	}

	return out
}

// host returns the host with a machine id.
func (w Wanted) host(machineID string) (Host, bool) {
	for _, h := range w.hosts(nil) {
		if SameMachine(h.MachineID, machineID) {
			return h, true
		}
	}

	return Host{}, false
}

// fingerprint tells one configuration from another: kind, policy and hosts, not the size.
func (w Wanted) fingerprint() string {
	var hosts []string
	for _, h := range w.Hosts {
		hosts = append(hosts, strings.ToLower(h.MachineID))
	}

	slices.Sort(hosts)

	sum := sha256.Sum256([]byte(strings.Join(append([]string{w.Type, w.Model, string(w.Policy)}, hosts...), "\x00")))

	return hex.EncodeToString(sum[:8])
}

// Node is what happens on the operating system of one host, for one type of device. It
// holds what it must remember between its calls, so it serves one device at a time.
type Node interface {
	// Name is how people know the host.
	Name() string
	// Check tells whether the host can use such devices at all.
	Check(ctx context.Context) error
	// Remember notes what is there before a device comes.
	Remember(ctx context.Context) error
	// See looks for the device once; it may fill in DeviceID and BusID.
	See(ctx context.Context, r Record) (after Record, visible bool, err error)
	// Rescan makes the host look for new devices.
	Rescan(ctx context.Context) error
	// Release takes the device out of use and out of the kernel, or changes nothing and says
	// why. A device that is not there is released.
	Release(ctx context.Context, r Record, force bool) error
	// Finish tidies up after the fabric took the device away; Restore gives it back to the
	// host after the fabric did not.
	Finish(ctx context.Context) error
	Restore(ctx context.Context) error
	// Idle tells which of the devices nobody uses. A device that it does not know is not in it.
	Idle(ctx context.Context, all []Record) (map[string]bool, error)
	// Warnings are what a person should know, since the last call.
	Warnings() []string
}
