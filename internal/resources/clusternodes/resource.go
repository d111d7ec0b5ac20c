// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package clusternodes is the resource metal3_cluster_nodes: the Nodes of a cluster whose kubeconfig
// comes from somebody who needs its machines first.
package clusternodes

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

var (
	_ resource.ResourceWithConfigure      = (*nodesResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*nodesResource)(nil)
	_ resource.ResourceWithValidateConfig = (*nodesResource)(nil)
)

// services is what this resource needs of the provider, and only with cluster_id.
type services interface {
	// Hosts returns the far side that has the cluster's hosts.
	Hosts(ctx context.Context) (host.Backend, error)
}

type nodesResource struct{ far services }

// NewResource returns the resource metal3_cluster_nodes.
func NewResource() resource.Resource { return &nodesResource{} }

// Metadata implements [resource.Resource].
func (r *nodesResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_cluster_nodes"
}

// Configure implements [resource.ResourceWithConfigure].
func (r *nodesResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	value.Offered("The resource metal3_cluster_nodes", req.ProviderData, &r.far, &resp.Diagnostics)
}
