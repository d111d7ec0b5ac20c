// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const devices = "fabric_devices"

// Ensure creates the machines and the devices that the options ask for and that are not there
// yet. Their ids depend on type, model and number alone. It needs a transaction that may write.
func Ensure(tx store.Tx, o Options, machines machine.Options) error {
	if err := machine.Ensure(tx, machines); err != nil {
		return err
	}

	o = o.filled()

	known, next := map[string]bool{}, 0

	err := tx.Each(devices, func(id string, _ json.RawMessage) error {
		known[id] = true
		next++

		return nil
	})
	if err != nil {
		return err
	}

	pools := []struct {
		typ    string
		models map[string]int
	}{{GPU, o.GPUs}, {CXL, o.CXL}}

	for _, pool := range pools {
		for _, model := range slices.Sorted(maps.Keys(pool.models)) {
			for n := range pool.models[model] {
				d := factory(pool.typ, model, n)
				if known[d.ID] {
					continue
				}

				d.Index, d.Fabric = next, next%o.Fabrics
				next++

				if err := Save(tx, d); err != nil {
					return err
				}
			}
		}
	}

	return nil
}

// factory is device n of a model as it was made.
func factory(typ, model string, n int) Device {
	name := fmt.Sprintf("%s %s %d", typ, model, n)
	d := Device{ID: UUID(name), Type: typ, Model: model, OpStatus: "0", Serial: "GPU-" + UUID("serial "+name)}

	if typ == CXL {
		d.Serial = strings.ReplaceAll(UUID("serial "+name), "-", "")[:16]
	}

	return d
}

// All returns every device of the fabric as it is now, by index.
func All(tx store.Tx, now time.Time) ([]Device, error) {
	var all []Device

	err := tx.Each(devices, func(id string, raw json.RawMessage) error {
		var d Device
		if err := json.Unmarshal(raw, &d); err != nil {
			return fmt.Errorf("lab device %s: %w", id, err)
		}

		if d.settle(now); !d.Gone {
			all = append(all, d)
		}

		return nil
	})

	slices.SortFunc(all, func(a, b Device) int { return a.Index - b.Index })

	return all, err
}

// Of returns the devices of a machine in whatever phase, the one that was there first in front.
func Of(tx store.Tx, now time.Time, machineName string) ([]Device, error) {
	all, err := All(tx, now)
	all = slices.DeleteFunc(all, func(d Device) bool { return d.Machine != machineName || d.Free() })

	slices.SortStableFunc(all, func(a, b Device) int { return a.AttachedAt.Compare(b.AttachedAt) })

	return all, err
}

// Load returns the device of an id as it is now; false means that there is none.
func Load(tx store.Tx, now time.Time, id string) (Device, bool, error) {
	var d Device

	ok, err := tx.Get(devices, strings.ToLower(id), &d)
	if !ok || err != nil {
		return Device{}, false, err
	}

	d.settle(now)

	return d, !d.Gone, nil
}

// Save remembers the device.
func Save(tx store.Tx, d Device) error { return tx.Put(devices, d.ID, d) }

// Pick chooses the first of a type and model; an empty model: any.
func Pick(typ, model string) func([]Device) (Device, bool) {
	return func(free []Device) (Device, bool) {
		for _, d := range free {
			if strings.EqualFold(d.Type, typ) && cmp.Or(model, d.Model) == d.Model {
				return d, true
			}
		}

		return Device{}, false
	}
}

// PickID chooses the device of an id.
func PickID(id string) func([]Device) (Device, bool) {
	return func(free []Device) (Device, bool) {
		for _, d := range free {
			if strings.EqualFold(d.ID, id) {
				return d, true
			}
		}

		return Device{}, false
	}
}
