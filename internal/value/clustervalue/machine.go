// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clustervalue

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// Machine is an entry of machines.
type Machine struct {
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

// The types of what is computed.
var (
	AddressType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"address": types.StringType, "prefix": types.Int64Type, "gateway": types.StringType, "dns": types.ListType{ElemType: types.StringType},
	}}
	MachineType   = at.ObjectType(MachineAttributes())
	ConditionType = at.ObjectType(ConditionAttributes())
)

// MachineAttributes are the attributes of an entry of machines.
func MachineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": at.Said("Name."), "role": at.Said("`control-plane` or `worker`."), "pool": at.Said("Name of the worker pool; `cp` of the control plane."),
		"index": at.Counted("Index in its pool."), "claim_id": at.Said("Id of the claim on its host."), "claim_kind": at.Said("`allocation` or `instance_uuid`."),
		"host_id": at.Said("Id of its host."), "host_name": at.Said("Name of its host."), "failure_domain": at.Said("Failure domain of its host."),
		"provider_id": at.Said("Provider id of its node."), "node_name": at.Said("Name of its node."),
		"addresses": schema.MapNestedAttribute{
			Computed: true, MarkdownDescription: "Addresses by pool.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"address": at.Said("Address."), "prefix": at.Counted("Length of the prefix."), "gateway": at.Said("Gateway."),
				"dns": schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "DNS servers."},
			}},
		},
		"image_url": at.Said("Image that it runs."), "template_hash": at.Said("Hash of what it was made from."), "up_to_date": at.Shown("Whether that is what is configured."),
		"state":       at.Said("`planned`, `claimed`, `deploying`, `active`, `joining`, `ready`, `unhealthy`, `deprovisioning` or `error`."),
		"power_state": at.Said("`power on` or `power off`."), "node_ready": at.Shown("Whether its node is ready; null where that is not known."),
		"healthy": at.Shown("Whether it is well, as far as anybody knows."), "last_error": at.Said("What went wrong last."),
		"provisioned_at": at.Said("When it was deployed."), "remediation_count": at.Counted("How often it was mended."),
	}
}

// ConditionAttributes are the attributes of an entry of conditions.
func ConditionAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"type": at.Said("What it is about."), "status": at.Said("`True`, `False` or `Unknown`."), "reason": at.Said("Reason in one word."), "message": at.Said("What is going on."),
	}
}

// MachineOf is a machine as a state has it.
func MachineOf(m cluster.Machine) Machine {
	return Machine{
		Name: types.StringValue(m.Name), Role: types.StringValue(string(m.Role)), Pool: types.StringValue(m.Pool), Index: types.Int64Value(int64(m.Index)),
		ClaimID: types.StringValue(m.ClaimID), ClaimKind: value.String(m.ClaimKind),
		HostID: value.String(m.HostID), HostName: value.String(m.HostName), FailureDomain: value.String(m.Domain),
		ProviderID: value.String(m.ProviderID), NodeName: value.String(m.Node), Addresses: AddressesOf(m.Addresses, nil),
		ImageURL: value.String(m.ImageURL), TemplateHash: value.String(m.TemplateHash), UpToDate: types.BoolValue(m.UpToDate),
		State: value.String(string(m.State)), PowerState: value.String(m.Power), NodeReady: types.BoolPointerValue(m.NodeReady),
		Healthy: types.BoolValue(m.Healthy), LastError: value.String(m.LastError), ProvisionedAt: value.String(m.Provisioned), Remediations: types.Int64Value(int64(m.Remediations)),
	}
}

// MachinesOf are machines by name, as a state has them.
func MachinesOf(ctx context.Context, all map[string]Machine, diags *diag.Diagnostics) types.Map {
	out, d := types.MapValueFrom(ctx, MachineType, all)
	diags.Append(d...)

	return out
}

// AddressesOf are addresses by pool. Pools of which the address is not known yet are unknown.
func AddressesOf(all map[string]addresses.Address, unknown []string) types.Map {
	out := map[string]attr.Value{}

	for pool, a := range all {
		out[pool] = types.ObjectValueMust(AddressType.AttrTypes, map[string]attr.Value{
			"address": types.StringValue(a.Address), "prefix": value.Int64(int64(a.Prefix)), "gateway": value.String(a.Gateway), "dns": value.StringListOrEmpty(a.DNS),
		})
	}

	for _, pool := range unknown {
		out[pool] = types.ObjectUnknown(AddressType.AttrTypes)
	}

	return types.MapValueMust(AddressType, out)
}

// ConditionsOf are conditions as a state has them.
func ConditionsOf(all []cluster.Condition) types.List {
	out := make([]attr.Value, 0, len(all))
	for _, c := range all {
		out = append(out, types.ObjectValueMust(ConditionType.AttrTypes, map[string]attr.Value{
			"type": value.String(c.Type), "status": value.String(c.Status), "reason": value.String(c.Reason), "message": value.String(c.Message),
		}))
	}

	return types.ListValueMust(ConditionType, out)
}
