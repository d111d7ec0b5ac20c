// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephcluster is the resource metal3_ceph_cluster, and the list resource of the same
// name.
//
// Reading order: schema*.go (what users write), model.go (how it looks in Go), wanted.go,
// record.go and fill.go (to and from package ceph), plan.go and price.go, then the verbs.
package cephcluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

var (
	_ resource.ResourceWithConfigure      = (*clusterResource)(nil)
	_ resource.ResourceWithIdentity       = (*clusterResource)(nil)
	_ resource.ResourceWithImportState    = (*clusterResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*clusterResource)(nil)
	_ resource.ResourceWithValidateConfig = (*clusterResource)(nil)
	_ list.ListResourceWithConfigure      = (*clusterResource)(nil)
)

// Verbs is the life of one cluster.
type Verbs interface {
	// Create makes the cluster, or goes on with what an earlier create of the same name left.
	Create(ctx context.Context) ceph.Result
	// Update makes the cluster as wanted.
	Update(ctx context.Context, was ceph.Record) ceph.Result
	// Refresh looks at the cluster. It is gone only where every host of a monitor answered and
	// none has anything of it.
	Refresh(ctx context.Context, was ceph.Record) ceph.Result
	// Delete ends the cluster as the cleanup policy says.
	Delete(ctx context.Context, was ceph.Record, how ceph.CleanupSpec) ceph.Result
}

// services is what this resource needs of the provider.
type services interface {
	// CephHost returns what is done on a host. It connects at the first need.
	CephHost(ctx context.Context, cfg remote.Config) (ceph.Host, error)
	// CephRun returns the verbs of one cluster.
	CephRun(run ceph.Run) Verbs
	// SSHDefaults are the provider-wide values that a connection falls back to.
	SSHDefaults(ctx context.Context) (remote.Config, error)
	// OwnerID marks what this configuration owns.
	OwnerID() string
}

type clusterResource struct{ far services }

// NewResource returns the resource metal3_ceph_cluster.
func NewResource() resource.Resource { return &clusterResource{} }

// NewListResource returns the list resource metal3_ceph_cluster.
func NewListResource() list.ListResource { return &clusterResource{} }

// Metadata implements [resource.Resource].
func (r *clusterResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ceph_cluster"
}

// Configure implements [resource.ResourceWithConfigure].
func (r *clusterResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	value.Offered("The resource metal3_ceph_cluster", req.ProviderData, &r.far, &resp.Diagnostics)
}

// identity names a cluster and where it was found first. It is set once: monitors that move
// to other hosts later do not change it.
type identity struct {
	ID types.String `tfsdk:"id"`
}

// IdentitySchema implements [resource.ResourceWithIdentity].
func (r *clusterResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{
			RequiredForImport: true,
			Description:       "Where the cluster is: [FSID@]HOST[:PORT][,HOST…]/DATA_DIR, with local for the machine that runs Terraform.",
		},
	}}
}
