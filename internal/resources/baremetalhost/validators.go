// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// notUUID refuses names that look like a UUID: Ironic and import could not tell them apart.
type notUUID struct{}

func (notUUID) Description(context.Context) string               { return "not a UUID" }
func (v notUUID) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (notUUID) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !value.Known(req.ConfigValue) {
		return
	}

	if _, err := uuid.Parse(req.ConfigValue.ValueString()); err == nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Name of a host is a UUID", "A UUID names a node by its id; choose a name that is none.")
	}
}

// bmcAddress accepts the addresses that the baremetal-operator accepts.
type bmcAddress struct{}

func (bmcAddress) Description(context.Context) string               { return "address of a BMC" }
func (v bmcAddress) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (bmcAddress) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !value.Known(req.ConfigValue) {
		return
	}

	a, err := access.Parse(req.ConfigValue.ValueString())
	if err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid BMC address", sentence(err))

		return
	}

	for _, w := range a.Warnings {
		resp.Diagnostics.AddAttributeWarning(req.Path, "Part of the BMC address has no effect", sentenceOf(w))
	}
}

// needs says that an attribute asks for a sibling. The validators of the framework's own
// library walk the whole configuration of the host for each pair; this one looks at the sibling.
type needs struct{ sibling string }

func (n needs) Description(context.Context) string         { return "needs " + n.sibling }
func (n needs) MarkdownDescription(context.Context) string { return "needs `" + n.sibling + "`" }

func (n needs) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !req.ConfigValue.IsNull() {
		resp.Diagnostics.Append(n.check(ctx, req.Config, req.Path)...)
	}
}

func (n needs) ValidateInt64(ctx context.Context, req validator.Int64Request, resp *validator.Int64Response) {
	if !req.ConfigValue.IsNull() {
		resp.Diagnostics.Append(n.check(ctx, req.Config, req.Path)...)
	}
}

func (n needs) check(ctx context.Context, config tfsdk.Config, at path.Path) diag.Diagnostics {
	var have attr.Value

	other := at.ParentPath().AtName(n.sibling)

	diags := config.GetAttribute(ctx, other, &have)
	if !diags.HasError() && have.IsNull() {
		diags.AddAttributeError(at, "Invalid Attribute Combination", fmt.Sprintf("Attribute %q must be specified when %q is specified.", other, at))
	}

	return diags
}
