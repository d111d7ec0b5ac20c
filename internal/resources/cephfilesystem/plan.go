// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephfilesystem

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// ValidateConfig implements [resource.ResourceWithValidateConfig].
func (r *fsResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model

	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	if !resp.Diagnostics.HasError() {
		config.validate(ctx, &resp.Diagnostics)
	}
}

// validate holds the rules between attributes. It passes over what is not known yet.
func (m model) validate(ctx context.Context, diags *diag.Diagnostics) {
	if mds, ok := value.Object[mdsModel](ctx, m.MDS, diags); ok && value.Known(mds.Active) && value.Known(mds.Hosts) && int(mds.Active.ValueInt64()) > len(mds.Hosts.Elements()) {
		diags.AddAttributeError(pathHosts, "Not enough hosts for the MDS of "+m.label(),
			fmt.Sprintf("mds.active is %d, and mds.hosts has %d: each host gets one MDS.", mds.Active.ValueInt64(), len(mds.Hosts.Elements())))
	}

	if value.HasUnknown(m.Name) || value.HasUnknown(m.MetadataPool) || value.HasUnknown(m.DataPools) {
		return
	}

	meta, _ := value.Object[poolModel](ctx, m.MetadataPool, diags)
	taken := map[string]string{m.metaName(meta): "metadata_pool"}

	for i, p := range m.pools(ctx, diags) {
		name := m.dataName(p, i)

		if other := taken[name]; other != "" {
			diags.AddAttributeError(path.Root("data_pools").AtListIndex(i), "Pool "+name+" is named twice", "It is "+other+", too.")
		}

		taken[name] = fmt.Sprintf("data_pools[%d]", i)
	}
}

// ModifyPlan implements [resource.ResourceWithModifyPlan]: it opens what a change moves, and
// refuses what deletion_protection forbids and what cannot be changed.
func (r *fsResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	defer value.Guard(ctx, "plan", "Ceph file system", &resp.Diagnostics)

	if req.State.Raw.IsNull() {
		return // the framework has opened all that is computed
	}

	var plan, state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	if req.Plan.Raw.IsNull() {
		state.protected(&resp.Diagnostics)

		return
	}

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)

	if resp.Diagnostics.HasError() {
		return
	}

	if !cephvalue.SameCluster(state.ClusterID, plan.ClusterID) || !plan.Name.Equal(state.Name) {
		state.protected(&resp.Diagnostics)

		return
	}

	plan.ID = cephvalue.JoinID(plan.ClusterID, plan.Name)

	if !plan.MDS.Equal(state.MDS) || !plan.ClusterID.Equal(state.ClusterID) {
		plan.Daemons = types.MapUnknown(types.ObjectType{AttrTypes: daemonTypes})
	}

	switch lack := plan.lack(ctx, state.Daemons, closed(ctx, req.Private, &resp.Diagnostics), &resp.Diagnostics); {
	case len(left(ctx, req.Private, &resp.Diagnostics)) > 0:
		// Only its pools are left: they go, and all is made anew.
		plan.Daemons, plan.FilesystemID = types.MapUnknown(types.ObjectType{AttrTypes: daemonTypes}), types.Int64Unknown()
		resp.RequiresReplace.Append(path.Root("filesystem_id"))
		state.protected(&resp.Diagnostics)
	case lack != "":
		resp.Diagnostics.AddWarning("MDS of "+plan.label()+" are missing", "At the last refresh: "+lack+". The apply starts those on the hosts that are wanted, and lets them take the file system.")

		plan.Daemons = types.MapUnknown(types.ObjectType{AttrTypes: daemonTypes})
	}

	plan.fixed(ctx, state, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// fixed refuses other pools in place of those that stay for ever.
func (m model) fixed(ctx context.Context, state model, diags *diag.Diagnostics) {
	if value.HasUnknown(m.MetadataPool) || value.HasUnknown(m.DataPools) {
		return
	}

	now, _ := value.Object[poolModel](ctx, m.MetadataPool, diags)
	was, _ := value.Object[poolModel](ctx, state.MetadataPool, diags)

	if m.metaName(now) != state.metaName(was) {
		diags.AddAttributeError(path.Root("metadata_pool"), "Pool for metadata of "+m.label()+" cannot change",
			"It is "+state.metaName(was)+", and the plan says "+m.metaName(now)+". A file system keeps its pool for metadata for ever.")
	}

	data, before := m.pools(ctx, diags), state.pools(ctx, diags)
	if len(data) > 0 && len(before) > 0 && m.dataName(data[0], 0) != state.dataName(before[0], 0) {
		diags.AddAttributeError(path.Root("data_pools").AtListIndex(0), "First pool for data of "+m.label()+" cannot change",
			"It is "+state.dataName(before[0], 0)+", and the plan says "+m.dataName(data[0], 0)+". A file system keeps its first pool for data for ever.")
	}
}

// protected refuses to delete what is protected.
func (m model) protected(diags *diag.Diagnostics) bool {
	return filesystems.Protected(m.label(), m.DeletionProtection, diags)
}

// dropped are the pools that the state has and the plan has no more.
func (m model) dropped(ctx context.Context, state model, diags *diag.Diagnostics) []string {
	keep := map[string]bool{}
	for i, p := range m.pools(ctx, diags) {
		keep[m.dataName(p, i)] = true
	}

	var out []string

	for i, p := range state.pools(ctx, diags) {
		if name := state.dataName(p, i); !keep[name] {
			out = append(out, name)
		}
	}

	return out
}
