// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephfilesystem is the resource metal3_ceph_filesystem, and the list resource of the
// same name.
//
// Reading order: schema.go (what users write), model.go (how it looks in Go, to and from
// package fs), plan.go and lack.go (what a plan says), verbs.go, note.go (what is kept beside the state).
package cephfilesystem

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
	_ resource.ResourceWithConfigure      = (*fsResource)(nil)
	_ resource.ResourceWithIdentity       = (*fsResource)(nil)
	_ resource.ResourceWithImportState    = (*fsResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*fsResource)(nil)
	_ resource.ResourceWithValidateConfig = (*fsResource)(nil)
	_ list.ListResourceWithConfigure      = (*fsResource)(nil)
)

type fsResource struct{ far cephvalue.HostFar }

// NewResource returns the resource metal3_ceph_filesystem.
func NewResource() resource.Resource { return &fsResource{} }

// NewListResource returns the list resource metal3_ceph_filesystem.
func NewListResource() list.ListResource { return &fsResource{} }

// Metadata implements [resource.Resource].
func (r *fsResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ceph_filesystem"
	resp.ResourceBehavior.MutableIdentity = true // the way to a cluster may change
}

// Configure implements [resource.ResourceWithConfigure].
func (r *fsResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	value.Offered("The resource metal3_ceph_filesystem", req.ProviderData, &r.far, &resp.Diagnostics)
}

// identity is a file system of a cluster.
type identity struct {
	ClusterID types.String `tfsdk:"cluster_id"`
	Name      types.String `tfsdk:"name"`
}

// IdentitySchema implements [resource.ResourceWithIdentity].
func (r *fsResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"cluster_id": identityschema.StringAttribute{RequiredForImport: true, Description: "Id of the cluster."},
		"name":       identityschema.StringAttribute{RequiredForImport: true, Description: "Name of the file system."},
	}}
}
