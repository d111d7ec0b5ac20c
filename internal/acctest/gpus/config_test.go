// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"testing"
	"time"

	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Map is an object of a configuration.
type Map = map[string]any

// kind is a kind of manager, and the requests by which it is read and told.
type kind struct {
	name, driver         string
	tenant               bool
	tune                 func(*face.Tuning)
	read, attach, detach string
	// side is how long a device on each of three machines may take. Managers that do one thing at
	// a time, or whose devices are chosen by us, make one of two wait who want the same.
	side time.Duration
}

const (
	poll       = 5500 * time.Millisecond // the longest pause, with its jitter
	layout     = "POST /cdim/api/v1/layout-apply"
	compose    = "POST /redfish/v1/Systems/*/Actions/*"
	zone       = "PATCH /redfish/v1/Fabrics/*/Zones/*"
	readSystem = "GET /redfish/v1/Systems/*"
)

var (
	fm = kind{name: "fti_fm", driver: "fti_fm", tenant: true, read: labfabric.FMMachine, attach: labfabric.FMAttach, detach: labfabric.FMDetach, side: addTime + poll}
	cm = kind{name: "fti_cm", driver: "fti_cm", tenant: true, read: labfabric.CMMachine, attach: labfabric.CMResize, detach: labfabric.CMResize, side: addTime + poll}

	cdim   = kind{name: "nec_cdim", driver: "nec_cdim", read: "GET /cdim/api/v1/nodes/*", attach: layout, detach: layout, side: time.Minute}
	blocks = kind{name: "redfish", driver: "redfish", read: readSystem, attach: compose, detach: compose, side: addTime + 3*poll}
	zones  = kind{
		name: "redfish with zones", driver: "redfish", read: readSystem, attach: zone, detach: zone,
		tune: func(t *face.Tuning) { t.Redfish.Zones = true }, side: time.Minute,
	}

	kinds = []kind{fm, cm, cdim, blocks, zones}
	// some are a manager that chooses the device itself and one that is told which: enough for
	// what does not depend on the manager, because tests take time.
	some = []kind{fm, zones}
)

// chooseKinds takes fewer managers where there is less time.
func chooseKinds() {
	switch {
	case racing: // what is asked then is whether we race, and that costs eightfold
		kinds = some
	case testing.Short():
		kinds, some = some[:1], some[:1]
	}
}

// either are all managers, or some.
func either(all bool) []kind {
	if all {
		return kinds
	}

	return some
}

// gpus is a configuration of n devices on the first machine, changed by parts.
func gpus(n any, parts ...Map) Map {
	m := Map{"model": a100, "size": n, "hosts": []any{Map{"machine_id": machine.ID(0), "name": machine.Name(0)}}}

	for _, p := range parts {
		for k, v := range p {
			m[k] = v
		}
	}

	return m
}

// on are the machines of a configuration, without connections.
func on(all ...int) Map {
	var out []any
	for _, i := range all {
		out = append(out, Map{"machine_id": machine.ID(i), "name": machine.Name(i)})
	}

	return Map{"hosts": out}
}

// nodes are the machines of a configuration, with connections to their systems.
func nodes(all ...int) Map {
	var out []any
	for _, i := range all {
		out = append(out, Map{"machine_id": machine.ID(i), "name": machine.Name(i), "node": Map{"host": machine.Name(i) + ".lab"}})
	}

	return Map{"hosts": out}
}

// labAttach is what somebody else does to a machine.
func labAttach(i int, model string, ids *[]string) func(tx store.Tx, now time.Time) error {
	return func(tx store.Tx, now time.Time) error {
		d, err := hardware.AttachForeign(tx, now, machine.Name(i), hardware.Pick(hardware.GPU, model), 0)
		*ids = append(*ids, d.ID)

		return err //nolint:wrapcheck // for the test
	}
}

func hostID(i int) string { return machine.ID(i) }
