// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// ImportState implements [resource.ResourceWithImportState]. The id is
// "<machine_id>/<type>/<model>" for all devices of a kind on a machine, or
// "<machine_id>/<fabric_device_id>[,…]" for some.
func (r *gpuResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	defer value.Guard(ctx, "import", "composable GPU resource", &resp.Diagnostics)

	id := req.ID

	if id == "" && req.Identity != nil {
		var who identity

		resp.Diagnostics.Append(req.Identity.Get(ctx, &who)...)

		id = strings.Join([]string{who.MachineID.ValueString(), who.Type.ValueString(), who.Model.ValueString()}, "/")
	}

	desk, ok := r.reach(ctx, &resp.Diagnostics)
	if !ok {
		return
	}

	parsed, err := device.ParseImportID(id)
	if err != nil {
		resp.Diagnostics.AddError("Import id "+id+" names no devices", sentence(err))

		return
	}

	found, err := desk.Import(ctx, parsed)
	if err != nil {
		resp.Diagnostics.AddError("Devices "+id+" cannot be imported", sentence(err))

		return
	}

	m := imported(ctx, id, parsed.Machine, desk.Fabric.Endpoint(), found, &resp.Diagnostics)
	if !resp.Diagnostics.HasError() {
		r.record(ctx, m, &resp.State, resp.Identity, &resp.Diagnostics)
	}
}

// imported is the state of devices that were found: all that the fabric tells, and every
// default of the schema.
func imported(ctx context.Context, id, machine, endpoint string, found device.Found, diags *diag.Diagnostics) model {
	m := model{
		ID:   types.StringValue(uuid.NewSHA1(uuid.NameSpaceOID, []byte("metal3_composable_gpu/"+id)).String()),
		Type: types.StringValue(found.Type), Model: types.StringValue(found.Model), Size: types.Int64Value(int64(len(found.Devices))),
		AllocationPolicy: types.StringValue(string(device.SameNode)), Hosts: oneHost(machine, diags),
		OtherSpec: nullObject("other_spec"), Workload: nullObject("workload"), Timeouts: nullObject("timeouts"),
		ForceDetach: types.BoolValue(false), SkipDrain: types.StringValue(string(device.SkipNever)), DriverCheck: types.StringValue(checkRequired),
		WaitForVisible: types.BoolNull(), RefreshNode: types.BoolValue(false),
		ExistingDevices: types.StringValue(string(device.ExistingError)), OnPartial: types.StringValue(string(device.PartialRollback)),
		OnUnhealthy: types.StringValue(string(device.UnhealthyDetach)), OnCreateFailure: types.StringValue(failureTaint),
		DetachFirst: types.SetNull(types.StringType), ExclusiveModels: types.SetNull(types.StringType),
		Endpoint: types.StringValue(endpoint),
	}

	m.State = types.StringValue(stateOf(m.Size.ValueInt64(), found.Devices))
	m.fill(ctx, found.Devices, others(found), diags)

	return m
}

// others are the devices of the kind on the machine that are not imported.
func others(found device.Found) []string {
	var out []string

	for _, d := range found.Machine.Of(found.Type, found.Model) {
		taken := false
		for _, r := range found.Devices {
			taken = taken || r.FabricID != "" && strings.EqualFold(r.FabricID, d.FabricID)
		}

		if !taken {
			out = append(out, d.FabricID)
		}
	}

	return out
}

// oneHost is the list hosts with nothing but a machine.
func oneHost(machine string, diags *diag.Diagnostics) types.List {
	kind := hostType()
	host := map[string]attr.Value{"machine_id": types.StringValue(machine), "name": types.StringNull(), "node_name": types.StringNull()}

	for _, name := range []string{"capacity", "node"} {
		if o, ok := kind.AttrTypes[name].(types.ObjectType); ok {
			host[name] = types.ObjectNull(o.AttrTypes)
		}
	}

	o, d := types.ObjectValue(kind.AttrTypes, host)
	diags.Append(d...)

	l, d := types.ListValue(kind, []attr.Value{o})
	diags.Append(d...)

	return l
}

// nullObject is a nested object of the schema that is not there.
func nullObject(name string) types.Object {
	for _, part := range []map[string]attr.Type{attrTypes(placeAttributes()), attrTypes(careAttributes())} {
		if o, ok := part[name].(types.ObjectType); ok {
			return types.ObjectNull(o.AttrTypes)
		}
	}

	return types.ObjectNull(nil)
}
