// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
)

// notUUID refuses names that look like a UUID: Ironic and import could not tell them apart.
type notUUID struct{}

func (notUUID) Description(context.Context) string               { return "not a UUID" }
func (v notUUID) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (notUUID) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !known(req.ConfigValue) {
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
	if !known(req.ConfigValue) {
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
