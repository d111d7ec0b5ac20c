// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/clustervalue"
)

// machineModel is an entry of machines.
type machineModel struct{ clustervalue.Machine }

// addressModel is an address of a machine.
type addressModel struct {
	Address types.String `tfsdk:"address"`
	Prefix  types.Int64  `tfsdk:"prefix"`
	Gateway types.String `tfsdk:"gateway"`
	DNS     types.List   `tfsdk:"dns"`
}

// The types of what is computed.
var (
	addressType   = clustervalue.AddressType
	machineType   = clustervalue.MachineType
	conditionType = clustervalue.ConditionType
)

// modelOf is a machine as the state has it.
func modelOf(m cluster.Machine) machineModel { return machineModel{clustervalue.MachineOf(m)} }

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

	for pool, a := range value.Objects[addressModel](ctx, s.Addresses, diags) {
		if value.Known(a.Address) {
			out.Addresses[pool] = addresses.Address{
				Address: a.Address.ValueString(), Prefix: int(a.Prefix.ValueInt64()), Gateway: a.Gateway.ValueString(), DNS: value.GoStrings(a.DNS),
			}
		}
	}

	return out
}

// machines reads the machines of a state.
func (m model) machines(ctx context.Context, diags *diag.Diagnostics) map[string]cluster.Machine {
	out := map[string]cluster.Machine{}
	for name, s := range value.Objects[machineModel](ctx, m.Machines, diags) {
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
