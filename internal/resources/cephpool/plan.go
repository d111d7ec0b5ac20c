// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// ModifyPlan implements [resource.ResourceWithModifyPlan]: it opens what a change moves, and
// refuses to plan what deletion_protection forbids.
func (r *poolResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	defer value.Guard(ctx, "plan", "Ceph pool", &resp.Diagnostics)

	if req.State.Raw.IsNull() {
		return // the framework has opened all that is computed
	}

	var plan, state, config model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	if req.Plan.Raw.IsNull() {
		state.protected(&resp.Diagnostics)
		state.priceOfDelete(&resp.Diagnostics)

		return
	}

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	if resp.Diagnostics.HasError() {
		return
	}

	if plan.replaces(ctx, state, &resp.Diagnostics) {
		state.protected(&resp.Diagnostics)
		state.priceOfDelete(&resp.Diagnostics)

		return
	}

	plan.open(state, config)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// replaces reports whether a change makes another pool of it.
func (m model) replaces(ctx context.Context, state model, diags *diag.Diagnostics) bool {
	return !cephvalue.SameCluster(state.ClusterID, m.ClusterID) || !m.Type.Equal(state.Type) || !sameCode(ctx, state.Erasure, m.Erasure, diags) ||
		state.Type.ValueString() == pool.Erasure && m.moves(state)
}

// moves reports whether another place is asked for. What nobody asks for is no opinion.
func (m model) moves(state model) bool {
	for _, one := range []struct {
		now, was  types.String
		otherwise string
	}{
		{m.FailureDomain, state.FailureDomain, pool.DefaultDomain}, {m.DeviceClass, state.DeviceClass, ""}, {m.CrushRoot, state.CrushRoot, pool.DefaultRoot},
	} {
		if otherPlace(one.was, one.now, one.otherwise) {
			return true
		}
	}

	return false
}

// otherPlace reports whether a part of a place is asked for that is not so. A state without it
// has what Ceph takes then.
func otherPlace(was, now types.String, otherwise string) bool {
	switch {
	case now.IsNull():
		return false
	case was.IsNull():
		return !now.Equal(types.StringValue(otherwise))
	default:
		return !now.Equal(was)
	}
}

func (m model) samePlace(o model) bool {
	return m.FailureDomain.Equal(o.FailureDomain) && m.DeviceClass.Equal(o.DeviceClass) && m.CrushRoot.Equal(o.CrushRoot)
}

// open marks as unknown what an update moves.
func (m *model) open(state, config model) {
	switch {
	case m.ClusterID.Equal(state.ClusterID) && m.Name.Equal(state.Name):
	case value.Known(m.ClusterID) && value.Known(m.Name):
		m.ID = cephvalue.JoinID(m.ClusterID, m.Name)
	default:
		m.ID = types.StringUnknown()
	}

	if !m.Name.Equal(state.Name) || !m.samePlace(state) {
		m.CrushRule = types.StringUnknown()
	}

	if !m.Size.Equal(state.Size) && config.MinSize.IsNull() {
		m.MinSize = types.Int64Unknown() // Ceph chooses another one
	}

	if !m.PGNum.Equal(state.PGNum) || !m.Autoscale.Equal(state.Autoscale) {
		m.PGs = types.Int64Unknown()
	}
}

// protected refuses to delete what is protected.
func (m model) protected(diags *diag.Diagnostics) bool {
	return pools.Protected(m.label(), m.DeletionProtection, diags)
}

// priceOfDelete says what a delete would destroy, as far as the last refresh knows.
func (m model) priceOfDelete(diags *diag.Diagnostics) {
	if m.Objects.ValueInt64() == 0 {
		return
	}

	held := fmt.Sprintf("At the last refresh it held %d objects, which take %d bytes on the disks.", m.Objects.ValueInt64(), m.UsedBytes.ValueInt64())

	if m.AllowDeleteWithData.ValueBool() {
		diags.AddWarning(m.label()+" is deleted with its data", held+" (allow_delete_with_data = true)")

		return
	}

	diags.AddWarning(m.label()+" holds data", held+" The apply will refuse to delete it unless it is empty by then: empty it, or apply allow_delete_with_data = true first.")
}
