// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// Create implements [resource.Resource].
func (r *clusterResource) Create(_ context.Context, _ resource.CreateRequest, resp *resource.CreateResponse) {
	resp.Diagnostics.AddError("Not built yet", "Clusters cannot be made yet.")
}

// Read implements [resource.Resource].
func (r *clusterResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update implements [resource.Resource].
func (r *clusterResource) Update(_ context.Context, _ resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.Diagnostics.AddError("Not built yet", "Clusters cannot be changed yet.")
}

// Delete implements [resource.Resource].
func (r *clusterResource) Delete(_ context.Context, _ resource.DeleteRequest, resp *resource.DeleteResponse) {
	resp.Diagnostics.AddError("Not built yet", "Clusters cannot be ended yet.")
}
