// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package remediation is the resource metal3_remediation: heals a machine of a cluster once, and again
// when its triggers change.
package remediation

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/clustervalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/remedyvalue"
)

var _ resource.ResourceWithConfigure = (*remediationResource)(nil)

type remediationResource struct{ far clustervalue.Far }

// model is the resource as Terraform sees it.
type model struct {
	remedyvalue.Arguments

	Triggers types.Map `tfsdk:"triggers"`

	ID       types.String `tfsdk:"id"`
	Result   types.String `tfsdk:"result"`
	Attempts types.Int64  `tfsdk:"attempts"`
	Count    types.Int64  `tfsdk:"remediation_count"`
	Node     types.String `tfsdk:"node_name"`
	HostID   types.String `tfsdk:"host_id"`
	HostName types.String `tfsdk:"host_name"`
}

// NewResource returns the resource.
func NewResource() resource.Resource { return &remediationResource{} }

// Metadata implements [resource.Resource].
func (r *remediationResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_remediation"
}

// Configure implements [resource.ResourceWithConfigure].
func (r *remediationResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	value.Offered("The resource metal3_remediation", req.ProviderData, &r.far, &resp.Diagnostics)
}

// Schema implements [resource.Resource].
func (r *remediationResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	all := remedyvalue.Attributes()
	maps.Copy(all, map[string]schema.Attribute{
		"triggers": schema.MapAttribute{
			Optional: true, ElementType: types.StringType, PlanModifiers: []planmodifier.Map{mapplanmodifier.RequiresReplace()},
			MarkdownDescription: "Values of any meaning. When one of them changes the machine is healed again.",
		},
		"id":                said("`NAMESPACE/CLUSTER/MACHINE`."),
		"result":            said("What it came to: `healthy` (its node is ready), `restarted` (it is on again, nobody looked at its node), `noted` (the next apply of its cluster does it) or `given_up`."),
		"attempts":          counted("How many attempts it took."),
		"remediation_count": counted("How often the machine was healed since it was deployed, this time included."),
		"node_name":         said("Name of its node; null where that is not known."),
		"host_id":           said("Id of the host that it was on."),
		"host_name":         said("Name of the host that it was on."),
	})

	resp.Schema = schema.Schema{
		MarkdownDescription: "Heals a machine of a `metal3_cluster` that is ill, whatever its health seems to be: switches it off and on with fencing of its node, or has it made anew. " +
			"It does so when it is created, and again when `triggers` change, which replaces it; other changes count the next time. Destroying it does nothing. " + remedyvalue.About +
			" With Terraform 1.14 and newer the action `metal3_remediate` does the same without anything in the state.",
		Attributes: all,
	}
}

func said(about string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: about, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}}
}

func counted(about string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: about, PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown()}}
}
