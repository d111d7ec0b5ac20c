// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package composablegpu is the resource metal3_composable_gpu, and the list resource of the
// same name.
//
// Reading order: schema.go (what users write), model.go (how it looks in Go), wanted.go and
// fill.go (to and from package device), plan.go and price.go, then the verbs.
package composablegpu

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/workload"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

var (
	_ resource.ResourceWithConfigure      = (*gpuResource)(nil)
	_ resource.ResourceWithIdentity       = (*gpuResource)(nil)
	_ resource.ResourceWithImportState    = (*gpuResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*gpuResource)(nil)
	_ resource.ResourceWithValidateConfig = (*gpuResource)(nil)
	_ list.ListResourceWithConfigure      = (*gpuResource)(nil)
)

// services is what this resource needs of the provider.
type services interface {
	// Devices returns the fabric, and what all resources on it share; device.ErrUnknown
	// before apply, where the provider's configuration is not known yet.
	Devices(ctx context.Context) (*device.Desk, error)
	// Node returns what happens on a host's operating system for a type of device. It
	// connects at the first need.
	Node(ctx context.Context, cfg remote.Config, deviceType string) (device.Node, error)
	// Workload returns the client of a cluster. It connects at the first need.
	Workload(ctx context.Context, cfg kube.Config) (workload.API, error)
	// SSHDefaults are the provider-wide values that a connection falls back to.
	SSHDefaults(ctx context.Context) (remote.Config, error)
}

type gpuResource struct{ far services }

// NewResource returns the resource metal3_composable_gpu.
func NewResource() resource.Resource { return &gpuResource{} }

// NewListResource returns the list resource metal3_composable_gpu.
func NewListResource() list.ListResource { return &gpuResource{} }

// Metadata implements [resource.Resource].
func (r *gpuResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_composable_gpu"
}

// Configure implements [resource.ResourceWithConfigure].
func (r *gpuResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	value.Offered("The resource metal3_composable_gpu", req.ProviderData, &r.far, &resp.Diagnostics)
}

// identity names the devices of one kind on one machine. It is set once: devices that a
// later apply puts on another machine of hosts do not change it.
type identity struct {
	MachineID types.String `tfsdk:"machine_id"`
	Type      types.String `tfsdk:"type"`
	Model     types.String `tfsdk:"model"`
}

// IdentitySchema implements [resource.ResourceWithIdentity].
func (r *gpuResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"machine_id": identityschema.StringAttribute{RequiredForImport: true, Description: "Id of the machine in the fabric."},
		"type":       identityschema.StringAttribute{RequiredForImport: true, Description: "Type of the devices: gpu or cxlmemory."},
		"model":      identityschema.StringAttribute{RequiredForImport: true, Description: "Model of the devices, as the fabric spells it."},
	}}
}
