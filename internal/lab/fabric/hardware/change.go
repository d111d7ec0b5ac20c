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
	return first(AttachN(tx, now, machineName, pick, 1, took))
}

// AttachN is Attach of so many devices in one order.
func AttachN(tx store.Tx, now time.Time, machineName string, pick func([]Device) (Device, bool), n int, took time.Duration) ([]Device, error) {
	return order{tx: tx, now: now, took: took}.attach(machineName, pick, n)
}

// AttachForeign is Attach by somebody who is not the one under test.
func AttachForeign(tx store.Tx, now time.Time, machineName string, pick func([]Device) (Device, bool), took time.Duration) (Device, error) {
	return first(order{tx: tx, now: now, took: took, foreign: true}.attach(machineName, pick, 1))
}

func first(all []Device, err error) (Device, error) {
	if err != nil {
		return Device{}, err
	}

	return all[0], nil
}

// order is one request of somebody.
type order struct {
	tx      store.Tx
	now     time.Time
	took    time.Duration
	foreign bool
}

func (o order) attach(machineName string, pick func([]Device) (Device, bool), n int) ([]Device, error) {
	m, ok, err := LoadMachine(o.tx, o.now, machineName)
	if err != nil {
		return nil, err
	}

	if !ok {
		return nil, fmt.Errorf("%s: %w", machineName, ErrNoMachine)
	}

	last, err := lastEffect(o.tx)
	if err != nil {
		return nil, err
	}

	got := make([]Device, 0, n)

	for range n {
		d, err := o.attachOne(m, pick, last+1)
		if err != nil {
			return nil, err
		}

		got = append(got, d)
	}

	return got, nil
}

func (o order) attachOne(m Machine, pick func([]Device) (Device, bool), number int) (Device, error) {
	all, err := All(o.tx, o.now)
	if err != nil {
		return Device{}, err
	}

	free := slices.DeleteFunc(slices.Clone(all), func(d Device) bool { return !d.Free() || d.Fabric != m.Fabric })

	d, ok := pick(free)
	if !ok {
		return Device{}, ErrNoFree
	}

	d.Machine, d.Phase, d.Slot, d.Foreign = m.Name, Adding, freeSlot(all, m.Name), o.foreign
	d.Until, d.AttachedAt = o.now.Add(o.took), o.now.Add(o.took)
	d.Fails, d.FailAdd = d.FailAdd, ""

	err = note(o.tx, Effect{
		At: o.now, Until: d.Until, Machine: m.Name, Kind: KindAttach, Device: d.ID, Foreign: o.foreign, Order: number,
	})
	if err != nil {
		return Device{}, err
	}

	d.settle(o.now)

	return d, Save(o.tx, d)
}

// Detach begins to move a device back to the pool, which takes so long.
func Detach(tx store.Tx, now time.Time, deviceID string, took time.Duration) error {
	return DetachN(tx, now, []string{deviceID}, took)
}

// DetachN is Detach of several devices in one order.
func DetachN(tx store.Tx, now time.Time, ids []string, took time.Duration) error {
	return order{tx: tx, now: now, took: took}.detach(ids)
}

// DetachForeign is Detach by somebody who is not the one under test.
func DetachForeign(tx store.Tx, now time.Time, deviceID string, took time.Duration) error {
	return order{tx: tx, now: now, took: took, foreign: true}.detach([]string{deviceID})
}

func (o order) detach(ids []string) error {
	last, err := lastEffect(o.tx)
	if err != nil {
		return err
	}

	for _, id := range ids {
		if err := o.detachOne(id, last+1); err != nil {
			return err
		}
	}

	return nil
}

func (o order) detachOne(id string, number int) error {
	d, ok, err := Load(o.tx, o.now, id)
	if err != nil {
		return err
	}

	if !ok {
		return fmt.Errorf("%s: %w", id, ErrNoDevice)
	}

	if d.Machine == "" {
		return fmt.Errorf("%s: %w", id, ErrNotThere)
	}

	until := o.now.Add(o.took)

	err = note(o.tx, Effect{
		At: o.now, Until: until, Machine: d.Machine, Kind: KindDetach, Device: d.ID, Foreign: o.foreign, Order: number,
	})
	if err != nil {
		return err
	}

	d.Phase, d.Until, d.Reason = Removing, until, ""
	d.Fails, d.FailRemove = d.FailRemove, ""
	d.settle(o.now)

	return Save(o.tx, d)
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
