// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephpool is the resource metal3_ceph_pool, and the list resource of the same name.
//
// Reading order: schema.go (what users write), model.go (how it looks in Go), plan.go, then
// the verbs.
package cephpool

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

var (
	_ resource.ResourceWithConfigure      = (*poolResource)(nil)
	_ resource.ResourceWithIdentity       = (*poolResource)(nil)
	_ resource.ResourceWithImportState    = (*poolResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*poolResource)(nil)
	_ resource.ResourceWithValidateConfig = (*poolResource)(nil)
	_ list.ListResourceWithConfigure      = (*poolResource)(nil)
)

type poolResource struct{ far cephvalue.Far }

// NewResource returns the resource metal3_ceph_pool.
func NewResource() resource.Resource { return &poolResource{} }

// NewListResource returns the list resource metal3_ceph_pool.
func NewListResource() list.ListResource { return &poolResource{} }

// Metadata implements [resource.Resource].
func (r *poolResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ceph_pool"
	resp.ResourceBehavior.MutableIdentity = true
}

// Configure implements [resource.ResourceWithConfigure].
func (r *poolResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	value.Offered("The resource metal3_ceph_pool", req.ProviderData, &r.far, &resp.Diagnostics)
}

// identity is a pool. It follows a pool that is renamed.
type identity struct {
	ClusterID types.String `tfsdk:"cluster_id"`
	Name      types.String `tfsdk:"name"`
}

// IdentitySchema implements [resource.ResourceWithIdentity].
func (r *poolResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"cluster_id": identityschema.StringAttribute{RequiredForImport: true, Description: "Id of the cluster."},
		"name":       identityschema.StringAttribute{RequiredForImport: true, Description: "Name of the pool."},
	}}
}
