// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// machineModel is an entry of machines.
type machineModel struct {
	Name          types.String `tfsdk:"name"`
	Role          types.String `tfsdk:"role"`
	Pool          types.String `tfsdk:"pool"`
	Index         types.Int64  `tfsdk:"index"`
	ClaimID       types.String `tfsdk:"claim_id"`
	ClaimKind     types.String `tfsdk:"claim_kind"`
	HostID        types.String `tfsdk:"host_id"`
	HostName      types.String `tfsdk:"host_name"`
	FailureDomain types.String `tfsdk:"failure_domain"`
	ProviderID    types.String `tfsdk:"provider_id"`
	NodeName      types.String `tfsdk:"node_name"`
	Addresses     types.Map    `tfsdk:"addresses"`
	ImageURL      types.String `tfsdk:"image_url"`
	TemplateHash  types.String `tfsdk:"template_hash"`
	UpToDate      types.Bool   `tfsdk:"up_to_date"`
	State         types.String `tfsdk:"state"`
	PowerState    types.String `tfsdk:"power_state"`
	NodeReady     types.Bool   `tfsdk:"node_ready"`
	Healthy       types.Bool   `tfsdk:"healthy"`
	LastError     types.String `tfsdk:"last_error"`
	ProvisionedAt types.String `tfsdk:"provisioned_at"`
	Remediations  types.Int64  `tfsdk:"remediation_count"`
}

// addressModel is an address of a machine.
type addressModel struct {
	Address types.String `tfsdk:"address"`
	Prefix  types.Int64  `tfsdk:"prefix"`
	Gateway types.String `tfsdk:"gateway"`
	DNS     types.List   `tfsdk:"dns"`
}

// The types of what is computed.
var (
	addressType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"address": types.StringType, "prefix": types.Int64Type, "gateway": types.StringType, "dns": types.ListType{ElemType: types.StringType},
	}}
	machineType   = at.ObjectType(machineComputed())
	conditionType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"type": types.StringType, "status": types.StringType, "reason": types.StringType, "message": types.StringType,
	}}
)

// modelOf is a machine as the state has it.
func modelOf(m cluster.Machine) machineModel {
	return machineModel{
		Name: types.StringValue(m.Name), Role: types.StringValue(string(m.Role)), Pool: types.StringValue(m.Pool), Index: types.Int64Value(int64(m.Index)),
		ClaimID: types.StringValue(m.ClaimID), ClaimKind: value.String(m.ClaimKind),
		HostID: value.String(m.HostID), HostName: value.String(m.HostName), FailureDomain: value.String(m.Domain),
		ProviderID: value.String(m.ProviderID), NodeName: value.String(m.Node), Addresses: addressesOf(m.Addresses, nil),
		ImageURL: value.String(m.ImageURL), TemplateHash: value.String(m.TemplateHash), UpToDate: types.BoolValue(m.UpToDate),
		State: value.String(string(m.State)), PowerState: value.String(m.Power), NodeReady: types.BoolPointerValue(m.NodeReady),
		Healthy: types.BoolValue(m.Healthy), LastError: value.String(m.LastError), ProvisionedAt: value.String(m.Provisioned), Remediations: types.Int64Value(int64(m.Remediations)),
	}
}

// machine is what a state knows of a machine.
func (s machineModel) machine(ctx context.Context, diags *diag.Diagnostics) cluster.Machine {
	out := cluster.Machine{
		Name: s.Name.ValueString(), Pool: s.Pool.ValueString(), Role: cluster.Role(s.Role.ValueString()), Index: int(s.Index.ValueInt64()),
		ClaimID: s.ClaimID.ValueString(), ClaimKind: s.ClaimKind.ValueString(),
		HostID: s.HostID.ValueString(), HostName: s.HostName.ValueString(), Domain: s.FailureDomain.ValueString(),
		ProviderID: s.ProviderID.ValueString(), Node: s.NodeName.ValueString(), Addresses: map[string]addresses.Address{},
		ImageURL: s.ImageURL.ValueString(), TemplateHash: s.TemplateHash.ValueString(), UpToDate: s.UpToDate.ValueBool(),
		State: cluster.State(s.State.ValueString()), Power: s.PowerState.ValueString(), NodeReady: s.NodeReady.ValueBoolPointer(),
		Healthy: s.Healthy.ValueBool(), LastError: s.LastError.ValueString(), Provisioned: s.ProvisionedAt.ValueString(), Remediations: int(s.Remediations.ValueInt64()),
	}

	for pool, a := range members[addressModel](ctx, s.Addresses, diags) {
		if value.Known(a.Address) {
			out.Addresses[pool] = addresses.Address{
				Address: a.Address.ValueString(), Prefix: int(a.Prefix.ValueInt64()), Gateway: a.Gateway.ValueString(), DNS: value.GoStrings(a.DNS),
			}
		}
	}

	return out
}

// addressesOf are addresses by pool. Pools of which the address is not known yet are unknown.
func addressesOf(all map[string]addresses.Address, unknown []string) types.Map {
	out := map[string]attr.Value{}

	for pool, a := range all {
		out[pool] = types.ObjectValueMust(addressType.AttrTypes, map[string]attr.Value{
			"address": types.StringValue(a.Address), "prefix": value.Int64(int64(a.Prefix)), "gateway": value.String(a.Gateway), "dns": value.StringListOrEmpty(a.DNS),
		})
	}

	for _, pool := range unknown {
		out[pool] = types.ObjectUnknown(addressType.AttrTypes)
	}

	return types.MapValueMust(addressType, out)
}

// machines reads the machines of a state.
func (m model) machines(ctx context.Context, diags *diag.Diagnostics) map[string]cluster.Machine {
	out := map[string]cluster.Machine{}
	for name, s := range members[machineModel](ctx, m.Machines, diags) {
		out[name] = s.machine(ctx, diags)
	}

	return out
}

// machinesOf are machines as the state has them.
func machinesOf(ctx context.Context, all map[string]machineModel, diags *diag.Diagnostics) types.Map {
	out, d := types.MapValueFrom(ctx, machineType, all)
	diags.Append(d...)

	return out
}
