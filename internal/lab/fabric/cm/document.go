// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// specification is what a machine may have of one model.
type specification struct {
	id, typ, model string
	devices        []hardware.Device // of the machine
}

// SpecID is the id of a machine's specification.
func SpecID(machineName, typ, model string) string {
	return hardware.UUID("resspec " + machineName + " " + typ + " " + model)
}

// specifications are one for each model of the machine's switch.
func specifications(tx store.Tx, now time.Time, m hardware.Machine) ([]specification, error) {
	all, err := hardware.All(tx, now)
	if err != nil {
		return nil, err
	}

	var out []specification

	for _, d := range all {
		id := SpecID(m.Name, d.Type, d.Model)
		known := slices.ContainsFunc(out, func(s specification) bool { return s.id == id })

		if known || d.Fabric != m.Fabric && d.Machine != m.Name {
			continue
		}

		s := specification{id: id, typ: d.Type, model: d.Model}

		for _, own := range m.Devices {
			if own.Type == d.Type && own.Model == d.Model {
				s.devices = append(s.devices, own)
			}
		}

		out = append(out, s)
	}

	return out, nil
}

// target is how many devices are to be there: those that go do not count, and those that
// failed do, since nobody has given them up.
func (s specification) target() int { return s.count(hardware.Removing) }

// actual is how many devices are there.
func (s specification) actual() int { return s.count(hardware.Adding, hardware.AddFailed) }

func (s specification) count(without ...string) int {
	n := 0

	for _, d := range s.devices {
		if !slices.Contains(without, d.Phase) {
			n++
		}
	}

	return n
}

// find finds a device by its device_id.
func (s specification) find(id string) (hardware.Device, bool) {
	for _, d := range s.devices {
		if strings.EqualFold(d.Serial, id) {
			return d, true
		}
	}

	return hardware.Device{}, false
}

func (s service) document(tx store.Tx, now time.Time, m hardware.Machine) (map[string]any, error) {
	all, err := specifications(tx, now, m)
	if err != nil {
		return nil, err
	}

	tune := s.env.Tuned()
	specs := []any{map[string]any{ // every machine has processors, which are not composed
		"spec_uuid": SpecID(m.Name, "cpu", ""), "type": "cpu", "selector": selector("model", "Xeon"),
		"min_resspec_count": 1, "max_resspec_count": 2, "device_count": 0, "devices": []any{},
	}}

	for _, spec := range all {
		count := spec.target()
		if tune.CountActual {
			count = spec.actual()
		}

		devices := []any{}
		for i, d := range spec.devices {
			devices = append(devices, device(tune, m, d, i))
		}

		specs = append(specs, map[string]any{
			"spec_uuid": spec.id, "type": spec.typ, "selector": selector("model", spec.model),
			"min_resspec_count": tune.MinCount, "max_resspec_count": tune.MaxCount, "device_count": count, "devices": devices,
		})
	}

	return map[string]any{"data": map[string]any{"tenant_uuid": m.Tenant, "cluster": map[string]any{
		"cluster_uuid": m.Cluster, "machine": map[string]any{
			"uuid": m.ID, "name": m.Label, "status": "ACTIVE", "status_reason": "", "resspecs": specs,
		},
	}}}, nil
}

func selector(column, value string) map[string]any {
	return map[string]any{"version": "type_conditions", "expression": map[string]any{
		"conditions": []any{map[string]any{"column": column, "operator": "eq", "value": value}},
	}}
}

func device(tune face.Tuning, m hardware.Machine, d hardware.Device, i int) map[string]any {
	id := d.Serial
	if tune.LateID && d.Phase == hardware.Adding {
		id = ""
	}

	return map[string]any{
		"device_id": id, "status": status(d.Phase), "status_reason": d.Reason,
		"detail": map[string]any{
			"fabric_uuid": hardware.FabricID(d.Fabric), "fabric_id": d.Fabric + 1, "res_uuid": d.ID,
			"fabr_gid": fmt.Sprintf("0x%04x", d.Index), "res_type": d.Type, "res_name": fmt.Sprint(d.Type, i), "res_status": 4,
			"res_op_status": d.OpStatus, "tenant_uuid": m.Tenant, "mach_uuid": m.ID,
			"resspecs": []any{map[string]any{
				"resspec_uuid": hardware.UUID("product " + d.Model), "productname": d.Model, "model": d.Model,
				"vendor": "lab", "removable": true,
			}},
		},
	}
}

func status(phase string) string {
	switch phase {
	case hardware.Adding:
		return AddInProgress
	case hardware.AddFailed:
		return AddFailed
	case hardware.Removing:
		return RemoveInProgress
	case hardware.RemoveFailed:
		return RemoveFailed
	default:
		return AddComplete
	}
}
