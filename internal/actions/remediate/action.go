// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package remediate is the action metal3_remediate: heals a machine of a cluster.
package remediate

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/clustervalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/remedyvalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

var _ action.ActionWithConfigure = (*remediateAction)(nil)

type remediateAction struct{ far clustervalue.Far }

// NewAction returns the action.
func NewAction() action.Action { return &remediateAction{} }

// Metadata names the action.
func (a *remediateAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_remediate"
}

// Configure takes over what the provider offers.
func (a *remediateAction) Configure(_ context.Context, req action.ConfigureRequest, resp *action.ConfigureResponse) {
	value.Offered("The action metal3_remediate", req.ProviderData, &a.far, &resp.Diagnostics)
}

// Schema is what users write.
func (a *remediateAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Heals a machine of a `metal3_cluster` that is ill, whatever its health seems to be: switches it off and on with fencing of its node, or has it made anew. " + remedyvalue.About +
			" Where there are no actions (Terraform before 1.14, OpenTofu), the resource `metal3_remediation` does the same.",
		Attributes: schemavalue.ForAction(remedyvalue.Attributes()),
	}
}

// Invoke heals the machine.
func (a *remediateAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var args remedyvalue.Arguments

	resp.Diagnostics.Append(req.Config.Get(ctx, &args)...)

	if resp.Diagnostics.HasError() {
		return
	}

	args.Heal(ctx, a.far, func(text string) { resp.SendProgress(action.InvokeProgressEvent{Message: text}) }, &resp.Diagnostics)
}
