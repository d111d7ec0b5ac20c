// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephfilesystem

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/fs"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// ImportState implements [resource.ResourceWithImportState]. The id is CLUSTER_ID#NAME, and the
// fsid may be left out of it.
func (r *fsResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	defer value.Guard(ctx, "import", "Ceph file system", &resp.Diagnostics)

	cluster, name := filesystems.Imported(ctx, req, &resp.Diagnostics)

	reach := cephvalue.Reach(ctx, r.Far, cluster, cephvalue.NoConnection(), &resp.Diagnostics)
	if reach == nil {
		return
	}

	seen, err := fs.Look(ctx, reach.Cluster, name.ValueString())
	if err != nil {
		resp.Diagnostics.AddError("File system "+name.ValueString()+" cannot be imported", value.Sentence(err))

		return
	}

	imported(ctx, seen, reach.Location, &resp.Diagnostics).record(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
}

// imported is the state of a file system that was found, with every default of the schema.
// Pools are named where their names are not those that we give.
func imported(ctx context.Context, seen fs.Seen, at ceph.Location, diags *diag.Diagnostics) model {
	m := model{
		ClusterID: types.StringValue(at.String()), Name: types.StringValue(seen.Name),
		MetadataPool: types.ObjectNull(poolTypes()), DataPools: types.ListNull(types.ObjectType{AttrTypes: poolTypes()}),
		MDS: types.ObjectNull(attrTypes(mdsAttribute().Attributes)), DeletionProtection: types.BoolValue(false), AllowDeleteWithData: types.BoolValue(false),
		Connection: cephvalue.NoConnection(), Timeouts: timeouts.Null(),
	}

	m.fill(seen, at.FSID, true)

	if seen.Meta.Name != m.metaName(poolModel{}) {
		m.MetadataPool = poolModel{Name: types.StringValue(seen.Meta.Name)}.value(ctx, diags)
	}

	if usual := len(seen.Data) == 1 && seen.Data[0].Name == m.dataName(poolModel{}, 0); !usual {
		m.DataPools = m.named(ctx, seen.Data, diags)
	}

	if seen.Active != 1 || seen.Standby {
		mds := mdsModel{Active: types.Int64Value(int64(seen.Active)), Hosts: types.MapNull(hostsType())}
		if seen.Standby {
			mds.StandbyReplay = types.BoolValue(true)
		}

		o, d := types.ObjectValueFrom(ctx, attrTypes(mdsAttribute().Attributes), mds)
		diags.Append(d...)

		m.MDS = o
	}

	return m
}

func (m model) named(ctx context.Context, data []pool.Seen, diags *diag.Diagnostics) types.List {
	var all []attr.Value

	for i, p := range data {
		one := poolModel{}
		if p.Name != m.dataName(one, i) {
			one.Name = types.StringValue(p.Name)
		}

		all = append(all, one.value(ctx, diags))
	}

	list, d := types.ListValue(types.ObjectType{AttrTypes: poolTypes()}, all)
	diags.Append(d...)

	return list
}

// hostsType is the type of one of mds.hosts.
func hostsType() attr.Type {
	if of, ok := mdsAttribute().Attributes["hosts"].GetType().(types.MapType); ok {
		return of.ElemType
	}

	return types.ObjectType{}
}
