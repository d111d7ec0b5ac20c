// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Attach begins to move a device to a machine, which takes so long; zero: it is there at once.
// pick chooses among the free devices of the machine's switch, by index. Whether the machine
// is busy is the caller's to ask ([Machine.Busy]).
func Attach(tx store.Tx, now time.Time, machineName string, pick func([]Device) (Device, bool), took time.Duration) (Device, error) {
	return attach(tx, now, machineName, pick, took, false)
}

// AttachForeign is Attach by somebody who is not the one under test.
func AttachForeign(tx store.Tx, now time.Time, machineName string, pick func([]Device) (Device, bool), took time.Duration) (Device, error) {
	return attach(tx, now, machineName, pick, took, true)
}

func attach(
	tx store.Tx, now time.Time, machineName string, pick func([]Device) (Device, bool), took time.Duration, foreign bool,
) (Device, error) {
	m, ok, err := LoadMachine(tx, now, machineName)
	if err != nil {
		return Device{}, err
	}

	if !ok {
		return Device{}, fmt.Errorf("%s: %w", machineName, ErrNoMachine)
	}

	all, err := All(tx, now)
	if err != nil {
		return Device{}, err
	}

	free := slices.Clone(all)
	free = slices.DeleteFunc(free, func(d Device) bool { return !d.Free() || d.Fabric != m.Fabric })

	d, ok := pick(free)
	if !ok {
		return Device{}, ErrNoFree
	}

	d.Machine, d.Phase, d.Slot, d.Foreign = machineName, Adding, freeSlot(all, machineName), foreign
	d.Until, d.AttachedAt = now.Add(took), now.Add(took)
	d.Fails, d.FailAdd = d.FailAdd, ""
	until := d.Until
	d.settle(now)

	if err := note(tx, Effect{At: now, Until: until, Machine: machineName, Kind: KindAttach, Device: d.ID, Foreign: foreign}); err != nil {
		return Device{}, err
	}

	return d, Save(tx, d)
}

// Detach begins to move a device back to the pool, which takes so long.
func Detach(tx store.Tx, now time.Time, deviceID string, took time.Duration) error {
	return detach(tx, now, deviceID, took, false)
}

// DetachForeign is Detach by somebody who is not the one under test.
func DetachForeign(tx store.Tx, now time.Time, deviceID string, took time.Duration) error {
	return detach(tx, now, deviceID, took, true)
}

func detach(tx store.Tx, now time.Time, deviceID string, took time.Duration, foreign bool) error {
	d, ok, err := Load(tx, now, deviceID)
	if err != nil {
		return err
	}

	if !ok {
		return fmt.Errorf("%s: %w", deviceID, ErrNoDevice)
	}

	if d.Machine == "" {
		return fmt.Errorf("%s: %w", deviceID, ErrNotThere)
	}

	e := Effect{At: now, Until: now.Add(took), Machine: d.Machine, Kind: KindDetach, Device: d.ID, Foreign: foreign}

	d.Phase, d.Until, d.Reason = Removing, e.Until, ""
	d.Fails, d.FailRemove = d.FailRemove, ""
	d.settle(now)

	if err := note(tx, e); err != nil {
		return err
	}

	return Save(tx, d)
}

// firstBus is the bus of the first slot for composed devices.
const firstBus = 0x1f

// freeSlot is the first PCI address of a machine that no device has.
func freeSlot(all []Device, machineName string) string {
	for bus := firstBus; ; bus++ {
		slot := fmt.Sprintf("0000:%02x:00.0", bus)
		if !slices.ContainsFunc(all, func(d Device) bool { return d.Machine == machineName && d.Slot == slot }) {
			return slot
		}
	}
}
