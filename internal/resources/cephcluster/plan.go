// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// ModifyPlan implements [resource.ResourceWithModifyPlan]: what moves is open in a plan that
// has work for the cluster, and in no other; and the plan tells the price.
func (r *clusterResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	defer value.Guard(ctx, "plan", "Ceph cluster", &resp.Diagnostics)

	var plan, state model

	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}

	if req.Plan.Raw.IsNull() {
		state.planDelete(ctx, &resp.Diagnostics)

		return
	}

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)

	if resp.Diagnostics.HasError() {
		return
	}

	if e, ok := value.Object[externalModel](ctx, plan.External, &resp.Diagnostics); ok && plan.FSID.IsUnknown() {
		plan.FSID = e.FSID
	}

	if req.State.Raw.IsNull() {
		plan.ID = plan.id(ctx)
		plan.priceOfCreate(ctx, &resp.Diagnostics)
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)

		return // the framework has opened all else that is computed
	}

	plan.planUpdate(ctx, state, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// planDelete refuses the end of a protected cluster, and tells the price of any other's.
func (m model) planDelete(ctx context.Context, diags *diag.Diagnostics) {
	if m.DeletionProtection.ValueBool() {
		m.protected(diags)

		return
	}

	m.priceOfDelete(ctx, diags)
}

func (m model) protected(diags *diag.Diagnostics) {
	diags.AddError(m.label()+" is protected", "The plan destroys the cluster, and deletion_protection is set in the state. Set it to false and apply that first.")
}

// planUpdate opens what the change may touch, and closes all else.
func (m *model) planUpdate(ctx context.Context, state model, diags *diag.Diagnostics) {
	if m.replaces(state) {
		if state.DeletionProtection.ValueBool() {
			state.protected(diags)
		}

		// The framework says to Terraform that it is another cluster, which plans the create by itself.
		state.priceOfDelete(ctx, diags)
		m.open()
		m.ID = types.StringUnknown()

		return
	}

	// An id that became unknown would replace all that is in the cluster. And one that follows the
	// hosts only where their addresses are known would be another one in the final plan, which
	// Terraform refuses. So the next refresh tells the new one: it is another way to the same cluster.
	if m.ID = state.ID; !value.Known(m.ID) {
		m.ID = m.id(ctx)
	}

	m.priceOfCleanup(ctx, state, diags)
	m.priceOfPools(state, diags)

	if !m.touches(ctx, state) {
		m.moving = state.moving

		return
	}

	m.open()

	if m.Dashboard.Equal(state.Dashboard) && (value.Known(state.DashboardPassword) || m.Dashboard.IsNull()) {
		m.DashboardPassword = state.DashboardPassword
	}

	if value.Known(m.External) {
		return
	}

	m.price(ctx, state, diags)
}

// replaces reports whether a change makes another cluster of it.
func (m model) replaces(state model) bool {
	return !m.Name.Equal(state.Name) || !m.DataDir.Equal(state.DataDir) || !m.FSID.IsUnknown() && !m.FSID.Equal(state.FSID)
}

// touches reports whether an update has anything to do with the cluster: its configuration
// changed in more than how it is reached and what a destroy does, or a refresh found that it
// is not as configured, or an earlier apply did not finish.
func (m model) touches(ctx context.Context, state model) bool {
	if len(value.GoStrings(state.Drift)) > 0 || state.unfinished() {
		return true
	}

	same := m.CephVersion.Equal(state.CephVersion) && m.AllowUnsupported.Equal(state.AllowUnsupported) && m.Packages.Equal(state.Packages) &&
		m.Supervision.Equal(state.Supervision) && m.Config.Equal(state.Config) && m.Mon.Equal(state.Mon) && m.Mgr.Equal(state.Mgr) &&
		m.Network.Equal(state.Network) && m.Storage.Equal(state.Storage) && m.Upgrade.Equal(state.Upgrade) && m.Ready.Equal(state.Ready) &&
		m.Dashboard.Equal(state.Dashboard) && m.External.Equal(state.External)

	return !same || !m.sameHosts(ctx, state)
}

// unfinished reports whether an apply stopped before the cluster was ready, and no refresh has
// found since that it is.
func (m model) unfinished() bool {
	phase := m.Phase.ValueString()

	return !m.IsReady.ValueBool() && (phase == ceph.PhaseProgressing || phase == ceph.PhaseConnecting || phase == ceph.PhaseFailure || phase == "")
}

// sameHosts reports whether two states have the same hosts with the same roles and places, in
// whatever way they are reached.
func (m model) sameHosts(ctx context.Context, state model) bool {
	var ignored diag.Diagnostics

	a, names := m.hosts(ctx, &ignored)
	b, before := state.hosts(ctx, &ignored)

	if !value.Known(m.Hosts) || len(names) != len(before) {
		return false
	}

	for _, name := range names {
		x, ok := a[name]
		y, there := b[name]

		if !ok || !there || !x.Roles.Equal(y.Roles) || !x.CrushLocation.Equal(y.CrushLocation) || !x.address().Equal(y.address()) || x.address().IsUnknown() {
			return false
		}
	}

	return true
}

// open marks as unknown what an update can move.
func (m *model) open() {
	kinds := schemavalue.Types(computedAttributes())
	text := types.StringUnknown()

	of := func(name string) attr.Type {
		switch t := kinds[name].(type) {
		case types.MapType:
			return t.ElemType
		case types.ListType:
			return t.ElemType
		default:
			return t
		}
	}

	capacity, _ := kinds["capacity"].(types.ObjectType)

	m.moving = moving{
		MonEndpoints: text, MgrActive: text, Health: text, Conf: text, DashboardURL: text, DashboardPassword: text, Phase: text,
		IsReady: types.BoolUnknown(), MaxMonID: types.Int64Unknown(), Capacity: types.ObjectUnknown(capacity.AttrTypes),
		Mons: types.MapUnknown(of("mons")), Mgrs: types.MapUnknown(of("mgrs")), OSDs: types.MapUnknown(of("osds")),
		HealthChecks: types.MapUnknown(of("health_checks")), Versions: types.MapUnknown(of("versions")),
		DevicesRejected: types.MapUnknown(of("devices_rejected")), OwnedConfig: types.MapUnknown(of("owned_config")),
		Conditions: types.ListUnknown(of("conditions")), Drift: types.ListUnknown(of("drift")),
	}
}
