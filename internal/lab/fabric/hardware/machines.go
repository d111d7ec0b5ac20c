// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const records = "fabric_machines"

// Who owns the machines of the lab.
const (
	Tenant  = "a1b2c3d4-0000-4000-8000-74656e616e74"
	Cluster = "a1b2c3d4-0000-4000-8000-636c75737465"
	Owner   = "lab"
)

// The statuses of a machine, as FTI's FM counts them.
const (
	Building       = 11
	ActiveOn       = 13
	ActiveOff      = 15
	Unbuilt        = 17
	AddingDevice   = 20
	DeletingDevice = 21
	Broken         = 90
)

// Record is what the lab remembers of a machine of the fabric beyond the machine itself:
// bucket "fabric_machines". A machine without one is as its index says.
type Record struct {
	Fabric  int    `json:"fabric"`
	Tenant  string `json:"tenant"`
	Cluster string `json:"cluster"`
	Owner   string `json:"owner"`
	Label   string `json:"label"`             // mach_name; empty: null
	Deleted bool   `json:"deleted,omitempty"` // taken apart: still answered, as such

	// Status is shown instead of the status that machine and devices have; 0: not.
	Status int `json:"status,omitempty"`
	// StatusUntil ends that; zero: never.
	StatusUntil time.Time `json:"status_until,omitzero"`
	OpStatus    string    `json:"op_status"`
}

// Machine is a machine of the fabric as it is now.
type Machine struct {
	machine.Machine
	Record

	Devices []Device // as [Of] gives them
}

// Machines returns all machines of the fabric as they are now, by index.
func Machines(tx store.Tx, now time.Time) ([]Machine, error) {
	metal, err := machine.All(tx)
	if err != nil {
		return nil, err
	}

	all, err := All(tx, now)
	if err != nil {
		return nil, err
	}

	out := make([]Machine, 0, len(metal))

	for _, m := range metal {
		r, err := record(tx, now, m, all)
		if err != nil {
			return nil, err
		}

		out = append(out, Machine{Machine: m, Record: r, Devices: on(all, m.Name)})
	}

	return out, nil
}

// LoadMachine returns the machine of a name; false means that there is none.
func LoadMachine(tx store.Tx, now time.Time, name string) (Machine, bool, error) {
	return one(tx, now, func() (machine.Machine, bool, error) { return machine.Load(tx, name) })
}

// MachineByID returns the machine of a UUID; false means that there is none.
func MachineByID(tx store.Tx, now time.Time, id string) (Machine, bool, error) {
	return one(tx, now, func() (machine.Machine, bool, error) { return machine.ByID(tx, strings.ToLower(id)) })
}

func one(tx store.Tx, now time.Time, load func() (machine.Machine, bool, error)) (Machine, bool, error) {
	m, ok, err := load()
	if !ok || err != nil {
		return Machine{}, false, err
	}

	all, err := All(tx, now)
	if err != nil {
		return Machine{}, false, err
	}

	r, err := record(tx, now, m, all)

	return Machine{Machine: m, Record: r, Devices: on(all, m.Name)}, err == nil, err
}

func on(all []Device, name string) []Device {
	var out []Device

	for _, d := range all {
		if d.Machine == name {
			out = append(out, d)
		}
	}

	slices.SortStableFunc(out, func(a, b Device) int { return a.AttachedAt.Compare(b.AttachedAt) })

	return out
}

func record(tx store.Tx, now time.Time, m machine.Machine, all []Device) (Record, error) {
	fabrics := 1
	for _, d := range all {
		fabrics = max(fabrics, d.Fabric+1)
	}

	r := Record{Fabric: m.Index % fabrics, Tenant: Tenant, Cluster: Cluster, Owner: Owner, Label: m.Name, OpStatus: "00"}
	if _, err := tx.Get(records, m.Name, &r); err != nil {
		return Record{}, err
	}

	if !r.StatusUntil.IsZero() && !now.Before(r.StatusUntil) {
		r.Status, r.StatusUntil = 0, time.Time{}
	}

	return r, nil
}

// SaveMachine remembers the machine's record. The machine itself and its devices have their
// own ways ([machine.Save], [Save]).
func SaveMachine(tx store.Tx, m Machine) error { return tx.Put(records, m.Name, m.Record) }

// Code is the machine's status as FM counts it.
func (m Machine) Code() int {
	switch {
	case m.Deleted:
		return Unbuilt
	case m.Status != 0:
		return m.Status
	case m.has(Adding):
		return AddingDevice
	case m.has(Removing):
		return DeletingDevice
	case m.Up():
		return ActiveOn
	default:
		return ActiveOff
	}
}

// Busy tells whether the machine takes no orders now.
func (m Machine) Busy() bool {
	code := m.Code()

	return code != ActiveOn && code != ActiveOff
}

func (m Machine) has(phase string) bool {
	return slices.ContainsFunc(m.Devices, func(d Device) bool { return d.Phase == phase })
}
