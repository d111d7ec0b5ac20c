// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// ImportState implements [resource.ResourceWithImportState]. The id is CLUSTER_ID#NAME, and the
// fsid may be left out of it.
func (r *poolResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	defer value.Guard(ctx, "import", "Ceph pool", &resp.Diagnostics)

	cluster, name := pools.Imported(ctx, req, &resp.Diagnostics)

	reach := cephvalue.Reach(ctx, r.Far, cluster, cephvalue.NoConnection(), &resp.Diagnostics)
	if reach == nil {
		return
	}

	seen, err := pool.Look(ctx, reach.Cluster, pool.Which{Name: name.ValueString()})
	if err != nil {
		resp.Diagnostics.AddError("Pool "+name.ValueString()+" cannot be imported", value.Sentence(err))

		return
	}

	r.record(ctx, imported(seen, reach.Location), &resp.State, resp.Identity, &resp.Diagnostics)
}

// imported is the state of a pool that was found: all that Ceph tells, and every default of the schema.
func imported(seen pool.Seen, at ceph.Location) model {
	m := model{
		ClusterID: types.StringValue(at.String()), Erasure: types.ObjectNull(erasureTypes), Parameters: types.MapNull(types.StringType),
		AllowSizeOne: types.BoolValue(seen.Size == 1 && seen.Type == pool.Replicated), DeletionProtection: types.BoolValue(false), AllowDeleteWithData: types.BoolValue(false),
		Connection: cephvalue.NoConnection(), Timeouts: timeouts.Null(),
	}

	m.follow(seen, at.FSID)

	if seen.PGAutoscaleMode != "on" {
		m.PGNum = types.Int64Value(int64(seen.PGNum))
	}

	// A rule of its own was asked for; the place of an erasure coded pool is part of its code.
	if seen.Rule.Own || seen.Type == pool.Erasure {
		m.FailureDomain = value.String(seen.Rule.Place.Domain)
		m.DeviceClass = value.String(seen.Rule.Place.Class)

		if seen.Rule.Place.Root != pool.DefaultRoot {
			m.CrushRoot = value.String(seen.Rule.Place.Root)
		}
	}

	if seen.Code.K > 0 { // a list does not ask for it
		m.Erasure = code(seen.Code)
	}

	return m
}

// code is an erasure code as a configuration would say it.
func code(c pool.Code) types.Object {
	plugin, technique := value.String(c.Plugin), value.String(c.Technique)

	if c.Plugin == pool.DefaultPlugin {
		plugin = types.StringNull()
	}

	if c.Technique == pool.DefaultTechnique {
		technique = types.StringNull()
	}

	return types.ObjectValueMust(erasureTypes, map[string]attr.Value{
		"k": types.Int64Value(int64(c.K)), "m": types.Int64Value(int64(c.M)), "plugin": plugin, "technique": technique,
	})
}
