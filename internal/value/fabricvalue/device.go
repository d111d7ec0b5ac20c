// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabricvalue

import (
	"cmp"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// DeviceAttributes are the attributes of an attached device in a data source, all of them computed.
func DeviceAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"device_id":        text("Id under which the machine's operating system shows the device, such as a GPU's UUID; null where the manager does not tell (yet)."),
		"fabric_device_id": text("The manager's own id of the device."),
		"type":             text("`gpu`, `cxlmemory`, or another type of the manager."),
		"model":            text("Model as the manager spells it."),
		"machine_id":       text("Machine that the device is attached to."),
		"serial":           text("Serial number, null where the manager does not tell."),
		"health":           text("`ok`, `warning`, `critical` or `unknown`."),
		"health_raw":       text("Health as the manager spells it."),
		"status":           text("`attached`, `adding`, `add_failed`, `removing` or `remove_failed`. Managers without such states show `attached`."),
		"reason":           text("The manager's words where the status is a failure."),
	}
}

func deviceTypes() map[string]attr.Type {
	all := map[string]attr.Type{}
	for name := range DeviceAttributes() {
		all[name] = types.StringType
	}

	return all
}

// Devices are devices as a list, by machine and id.
func Devices(all []fabric.Device) types.List {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b fabric.Device) int {
		return cmp.Or(cmp.Compare(a.MachineID, b.MachineID), cmp.Compare(a.FabricID, b.FabricID), cmp.Compare(a.DeviceID, b.DeviceID))
	})

	out := make([]attr.Value, 0, len(all))
	for _, d := range all {
		out = append(out, deviceObject(d))
	}

	return types.ListValueMust(types.ObjectType{AttrTypes: deviceTypes()}, out)
}

func deviceObject(d fabric.Device) attr.Value {
	return types.ObjectValueMust(deviceTypes(), map[string]attr.Value{
		"device_id": value.String(d.DeviceID), "fabric_device_id": value.String(d.FabricID), "type": value.String(d.Type), "model": value.String(d.Model),
		"machine_id": value.String(d.MachineID), "serial": value.String(d.Serial), "health": types.StringValue(d.Health.String()),
		"health_raw": value.String(d.HealthRaw), "status": types.StringValue(phases[d.Phase]), "reason": value.String(d.Reason),
	})
}

var phases = map[fabric.Phase]string{
	fabric.Attached: "attached", fabric.Adding: "adding", fabric.AddFailed: "add_failed", fabric.Removing: "removing", fabric.RemoveFailed: "remove_failed",
}
