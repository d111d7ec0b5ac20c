// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fm

import (
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

// statusText is how FM calls a status.
func statusText(code int) string {
	switch code {
	case hardware.Building:
		return "BUILDING"
	case hardware.ActiveOn:
		return "ACTIVE PON"
	case hardware.ActiveOff:
		return "ACTIVE POFF"
	case hardware.Unbuilt:
		return "UNBUILDED"
	case hardware.AddingDevice:
		return "ADDING RESOURCE"
	case hardware.DeletingDevice:
		return "DELETING RESOURCE"
	case hardware.Broken:
		return "ERROR"
	default:
		return fmt.Sprint("STATUS ", code)
	}
}

// machine is a machine as FM shows it, with some of its devices. One that comes is not shown
// before it is there.
func (s service) machine(m hardware.Machine, show []hardware.Device) map[string]any {
	doc := map[string]any{
		"fabric_uuid": hardware.FabricID(m.Fabric), "fabric_id": m.Fabric + 1,
		"mach_uuid": m.ID, "mach_id": m.Index + 1, "mach_id_nonliqid": nil, "mach_name": nil,
		"mach_status": m.Code(), "mach_op_status": m.OpStatus, "mach_status_detail": statusText(m.Code()),
		"mach_owner": m.Owner, "tenant_uuid": m.Tenant, "grp_uuid": hardware.UUID("group"), "boot_ssd": nil,
		"lanports": []any{}, "resources": []any{},
	}

	if m.Deleted { // as the vendor's own driver gets it: answered, without a name and empty
		doc["fabric_id"], doc["mach_id"], doc["mach_owner"] = nil, nil, nil

		return doc
	}

	if m.Label != "" {
		doc["mach_name"] = m.Label
	}

	lan := []any{}

	for i, mac := range m.MACs {
		lan = append(lan, map[string]any{
			"lanport_uuid": hardware.UUID("lanport " + mac), "subnet_uuid": hardware.UUID("subnet"), "lanport_idx": i,
			"mac_address": mac, "nw_class_cu": nil, "ip_address": nil,
		})
	}

	devices := []any{}

	for i, d := range show {
		if d.Present() {
			devices = append(devices, s.device(i, d))
		}
	}

	doc["lanports"], doc["resources"] = lan, devices

	return doc
}

func (s service) device(i int, d hardware.Device) map[string]any {
	tune := s.env.Tuned()

	spec := "res_spec"
	if tune.Misspelt {
		spec = "res_spcec"
	}

	return map[string]any{
		"res_uuid": d.ID, "res_name": fmt.Sprint(d.Type, i), "res_type": d.Type, "res_status": 4,
		"res_op_status": d.OpStatus, "res_serial_num": d.Serial, "condition_uuid": hardware.UUID("condition " + d.Model),
		spec: map[string]any{"condition": []any{map[string]any{"column": tune.ModelColumn, "operator": "eq", "value": d.Model}}},
	}
}
