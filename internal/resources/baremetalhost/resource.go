// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package baremetalhost is the resource metal3_baremetal_host.
//
// Reading order: schema.go (what users write), model.go (how it looks in Go), wanted.go and
// fill.go (to and from package host), then the verbs.
package baremetalhost

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

var (
	_ resource.ResourceWithConfigure      = (*hostResource)(nil)
	_ resource.ResourceWithIdentity       = (*hostResource)(nil)
	_ resource.ResourceWithImportState    = (*hostResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*hostResource)(nil)
	_ resource.ResourceWithValidateConfig = (*hostResource)(nil)
)

// services is what this resource needs of the provider.
type services interface {
	// Hosts returns the way to the machines; host.ErrUnknown before apply, where the
	// provider's configuration is not known yet.
	Hosts(ctx context.Context) (host.Backend, error)
	// HostDefaults are the provider-wide values that a host falls back to.
	HostDefaults() host.Defaults
	// DirectBMC asks a BMC without Ironic, where the provider's configuration allows it.
	DirectBMC() host.Direct
	// UnknownDefaults names the attributes behind them that are not known before apply.
	UnknownDefaults() []string
}

type hostResource struct{ far services }

// NewResource returns the resource metal3_baremetal_host.
func NewResource() resource.Resource { return &hostResource{} }

// Metadata implements [resource.Resource].
func (r *hostResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_baremetal_host"
}

// Configure implements [resource.ResourceWithConfigure].
func (r *hostResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	value.Offered("The resource metal3_baremetal_host", req.ProviderData, &r.far, &resp.Diagnostics)
}

// identity names a host for the whole of its life.
type identity struct {
	UUID types.String `tfsdk:"uuid"`
}

// IdentitySchema implements [resource.ResourceWithIdentity].
func (r *hostResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"uuid": identityschema.StringAttribute{RequiredForImport: true, Description: "UUID of the node in Ironic."},
	}}
}

// ImportState implements [resource.ResourceWithImportState]. The id is looked up by the
// Read that follows: a UUID, "namespace~name", "namespace/name", a plain node name,
// "mac:aa:bb:…" or "instance:UUID".
func (r *hostResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id := req.ID

	if id == "" && req.Identity != nil {
		var who identity

		resp.Diagnostics.Append(req.Identity.Get(ctx, &who)...)

		id = who.UUID.ValueString()
	}

	if resp.Diagnostics.HasError() {
		return
	}

	far, err := r.far.Hosts(ctx)
	if err != nil {
		resp.Diagnostics.AddError("Host "+id+" cannot be imported yet", sentence(err))

		return
	}

	uuid, err := host.Find(ctx, far, id, r.far.HostDefaults().Namespace)
	if err != nil {
		resp.Diagnostics.AddError("No single host is "+id, sentence(err))

		return
	}

	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), uuid)...)

	if resp.Identity != nil {
		resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{types.StringValue(uuid)})...)
	}
}
