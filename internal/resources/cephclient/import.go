// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephclient

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/user"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// ImportState implements [resource.ResourceWithImportState]. The id is CLUSTER_ID#ENTITY, and
// the fsid may be left out of it.
func (r *clientResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	defer value.Guard(ctx, "import", "Ceph client", &resp.Diagnostics)

	cluster, name := users.Imported(ctx, req, &resp.Diagnostics)
	if err := user.CheckEntity(name.ValueString()); err != nil && !resp.Diagnostics.HasError() {
		resp.Diagnostics.AddError("Import id "+req.ID+" names no Ceph user", value.Sentence(err)+" Write CLUSTER_ID#ENTITY.")
	}

	reach := cephvalue.Reach(ctx, r.Far, cluster, cephvalue.NoConnection(), &resp.Diagnostics)
	if reach == nil {
		return
	}

	u, err := user.Look(ctx, reach.Cluster, name.ValueString())
	if err != nil {
		resp.Diagnostics.AddError("Ceph user "+name.ValueString()+" cannot be imported", value.Sentence(err))

		return
	}

	imported(u, reach.Location).record(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
}

// imported is the state of a user that was found: all that Ceph tells, and every default of the schema.
func imported(u api.User, at ceph.Location) model {
	m := model{
		ClusterID: types.StringValue(at.String()), Entity: types.StringValue(u.Entity), StoreKey: types.BoolValue(false),
		KeyVersion: types.Int64Null(), Connection: cephvalue.NoConnection(),
	}
	m.follow(u, at.FSID)

	return m
}

func entity() validator.String {
	return value.Check("Invalid Ceph user", "a user of a client, such as client.backup", user.CheckEntity)
}

func oneLine() validator.String {
	return value.Check("Invalid caps", "one line without quotation marks", user.CheckCaps)
}
