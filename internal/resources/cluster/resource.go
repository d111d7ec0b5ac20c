// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster is the resource metal3_cluster, and the list resource of the same name.
//
// Reading order: schema*.go (what users write), model.go and parts.go (how it looks in Go),
// validate*.go, wanted*.go and fill.go (to and from package cluster of the life cycles),
// plan.go and price.go, then the verbs.
package cluster

import (
	"context"
	"net"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

var (
	_ resource.ResourceWithConfigure      = (*clusterResource)(nil)
	_ resource.ResourceWithIdentity       = (*clusterResource)(nil)
	_ resource.ResourceWithImportState    = (*clusterResource)(nil)
	_ list.ListResourceWithConfigure      = (*clusterResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*clusterResource)(nil)
	_ resource.ResourceWithValidateConfig = (*clusterResource)(nil)
)

// services is what this resource needs of the provider.
type services interface {
	// Hosts returns the far side.
	Hosts(ctx context.Context) (host.Backend, error)
	// HostDefaults are the values that a host falls back to.
	HostDefaults() host.Defaults
	// Nodes returns connections to machines, and what counts where a connection says nothing.
	Nodes(ctx context.Context) (*remote.Pool, remote.Config, error)
	// ClusterDial is how endpoints of clusters are reached; nil: over the network.
	ClusterDial() func(ctx context.Context, network, address string) (net.Conn, error)
	// UnknownDefaults names the attributes of the provider block that are not known yet.
	UnknownDefaults() []string
}

type clusterResource struct{ far services }

// NewResource returns the resource metal3_cluster.
func NewResource() resource.Resource { return &clusterResource{} }

// Metadata implements [resource.Resource].
func (r *clusterResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_cluster"
}

// Configure implements [resource.ResourceWithConfigure].
func (r *clusterResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	value.Offered("The resource metal3_cluster", req.ProviderData, &r.far, &resp.Diagnostics)
}

// identity names a cluster.
type identity struct {
	ID types.String `tfsdk:"id"`
}

// IdentitySchema implements [resource.ResourceWithIdentity].
func (r *clusterResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true, Description: "Namespace and name of the cluster: NAMESPACE/NAME."},
	}}
}
