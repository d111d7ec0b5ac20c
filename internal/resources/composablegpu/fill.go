// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// fill copies the devices and what follows from them into the computed attributes.
func (m *model) fill(ctx context.Context, devices []device.Record, unmanaged []string, diags *diag.Diagnostics) {
	m.Devices = deviceList(ctx, devices, diags)
	if unmanaged != nil || m.Unmanaged.IsNull() { // nil: nobody looked, so what was known stays
		m.Unmanaged = value.StringListOrEmpty(unmanaged)
	}

	placement := map[string]attr.Value{}

	for _, d := range devices {
		before, _ := placement[d.MachineID].(types.Int64)
		placement[d.MachineID] = types.Int64Value(before.ValueInt64() + 1)
	}

	m.Placement = types.MapValueMust(types.Int64Type, placement)
}

// deviceList makes the attribute devices.
func deviceList(ctx context.Context, devices []device.Record, diags *diag.Diagnostics) types.List {
	// In the order in which a refresh will have them, which knows seconds only: outputs made
	// of devices must not change by a refresh.
	ordered := slices.Clone(devices)
	for i := range ordered {
		ordered[i].AttachedAt = ordered[i].AttachedAt.Truncate(time.Second)
	}

	device.Order(ordered)

	all := make([]deviceModel, 0, len(devices))
	for _, d := range ordered {
		all = append(all, deviceOf(d))
	}

	l, d := types.ListValueFrom(ctx, deviceType(), all)
	diags.Append(d...)

	return l
}

func deviceOf(d device.Record) deviceModel {
	m := deviceModel{
		DeviceID: value.String(d.DeviceID), FabricDeviceID: value.String(d.FabricID), Type: value.String(d.Type), Model: value.String(d.Model),
		MachineID: value.String(d.MachineID), HostName: value.String(d.HostName), State: value.String(string(d.State)),
		Health: types.StringValue(d.Health.String()), HealthRaw: value.String(d.HealthRaw), PCIBusID: value.String(d.BusID),
		Serial: value.String(d.Serial), AttachedAt: types.StringNull(), Error: value.String(d.Error),
	}

	if !d.AttachedAt.IsZero() {
		m.AttachedAt = types.StringValue(d.AttachedAt.UTC().Format(time.RFC3339))
	}

	return m
}

// attached counts the devices that are where they belong.
func attached(devices []device.Record) int {
	n := 0

	for _, d := range devices {
		if d.State != device.Missing {
			n++
		}
	}

	return n
}

// online reports whether all devices are usable.
func online(devices []device.Record) bool {
	for _, d := range devices {
		if d.State != device.Online {
			return false
		}
	}

	return true
}

// pending reports whether an apply has to do with a device: it was left on its way, or did
// not work and is tried again.
func pending(devices []device.Record) bool {
	for _, d := range devices {
		if d.State == device.Attaching || d.State == device.Detaching || d.State == device.Failed {
			return true
		}
	}

	return false
}

// stateOf is Running where all wanted devices are usable.
func stateOf(size int64, devices []device.Record) string {
	return device.Result{Devices: devices}.State(int(size))
}
