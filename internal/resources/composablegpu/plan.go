// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// ModifyPlan implements [resource.ResourceWithModifyPlan]: devices are open in a plan that
// touches devices, and in no other; and the plan tells what is detached.
func (r *gpuResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	defer value.Guard(ctx, "plan", "composable GPU resource", &resp.Diagnostics)

	var plan, state model

	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}

	if req.Plan.Raw.IsNull() {
		state.priceOfDelete(ctx, &resp.Diagnostics)

		return
	}

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)

	if resp.Diagnostics.HasError() {
		return
	}

	if req.State.Raw.IsNull() {
		if value.Known(plan.Size) {
			r.foresee(ctx, plan, int(plan.Size.ValueInt64()), nil, &resp.Diagnostics)
		}

		return // the framework has opened all that is computed
	}

	r.planUpdate(ctx, &plan, state, &resp.Diagnostics)

	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	}
}

// planUpdate opens what the change may touch, and closes all else.
func (r *gpuResource) planUpdate(ctx context.Context, plan *model, state model, diags *diag.Diagnostics) {
	have := state.records(ctx, diags)

	if plan.replaces(state) {
		plan.open()
		plan.priceOfReplacement(ctx, state, have, diags)

		return
	}

	if !plan.touches(ctx, state, have) {
		plan.Devices, plan.Unmanaged, plan.Placement = state.Devices, state.Unmanaged, state.Placement
		plan.State = state.State

		// As many as wanted by now, because fewer are wanted.
		if online(have) && plan.Size.ValueInt64() == int64(len(have)) {
			plan.State = types.StringValue(device.Running)
		}

		return
	}

	plan.open()
	plan.price(ctx, state, have, diags)

	if grow := plan.Size.ValueInt64() - int64(attached(have)); value.Known(plan.Size) && grow > 0 {
		r.foresee(ctx, *plan, int(grow), have, diags)
	}
}

// replaces reports whether a change makes another resource of it. The framework says so to
// Terraform, which plans the create by itself.
func (m model) replaces(state model) bool {
	return !m.Type.Equal(state.Type) || !m.Model.Equal(state.Model) ||
		!m.AllocationPolicy.Equal(state.AllocationPolicy) && against(state.Placement, m.AllocationPolicy)
}

// touches reports whether an update has anything to do on the fabric: another size, other
// machines, or what an earlier apply left undone. (A create that was kept has the size that
// was planned in the state until it is refreshed.)
func (m model) touches(ctx context.Context, state model, have []device.Record) bool {
	return !m.Size.Equal(state.Size) || !m.sameMachines(ctx, state) || pending(have) || m.Size.ValueInt64() != int64(attached(have))
}

// open marks as unknown what an update of devices moves.
func (m *model) open() {
	m.Devices = types.ListUnknown(deviceType())
	m.Unmanaged = types.ListUnknown(types.StringType)
	m.Placement = types.MapUnknown(types.Int64Type)
	m.State = types.StringUnknown()
}

// against reports whether the devices that there are lie as the policy does not want them. A
// policy that they fit, as after an import, which cannot know it, moves nothing.
func against(placement types.Map, policy types.String) bool {
	if policy.ValueString() == string(device.SameNode) {
		return len(placement.Elements()) > 1
	}

	for _, n := range placement.Elements() {
		if n, ok := n.(types.Int64); ok && n.ValueInt64() > 1 {
			return true
		}
	}

	return false
}
