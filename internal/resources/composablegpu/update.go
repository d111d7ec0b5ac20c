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

// Update implements [resource.Resource]. It never taints: after a failure the state says
// what was reached, and the next plan shows the rest again.
func (r *gpuResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer value.Guard(ctx, "update", "composable GPU resource", &resp.Diagnostics)

	var plan, state model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	if resp.Diagnostics.HasError() {
		return
	}

	// Settings alone: the plan said that no device changes, so the fabric is not asked.
	if !plan.Devices.IsUnknown() {
		plan.settle(state)
		r.record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)

		return
	}

	plan.check(ctx, &resp.Diagnostics)

	have := state.records(ctx, &resp.Diagnostics)
	w := r.wantedUpdate(ctx, plan, state, have, &resp.Diagnostics)

	desk, ok := r.reach(ctx, &resp.Diagnostics)
	if !ok || !state.same(ctx, desk, have, &resp.Diagnostics) {
		return
	}

	label := plan.label(ctx)
	run := &device.Run{Desk: desk, Wanted: w, Log: progress(label)}
	res := run.Update(ctx, have)
	stopped := value.Interrupted(ctx)
	ctx = context.WithoutCancel(ctx) // it may have ended; what is known is recorded all the same

	remark(label, res.Warnings, &resp.Diagnostics)

	wanted := plan
	plan.Unmanaged = state.Unmanaged
	plan.fill(ctx, res.Devices, res.Unmanaged, &resp.Diagnostics)
	plan.State = types.StringValue(stateOf(plan.Size.ValueInt64(), res.Devices))
	plan.settle(state)

	if res.Err() != nil || stopped {
		how := "The state says what was reached; the next apply goes on in place."
		if stopped {
			how = "The run was interrupted. " + how
		}

		// What was planned and not reached must differ from the plan, so that it is planned again.
		plan.Size = types.Int64Value(int64(attached(res.Devices)))
		plan.State = types.StringValue(device.Degraded)

		if plan.strays(ctx, res.Devices) {
			plan.Hosts = state.Hosts
		}

		report{label: label, failures: res.Failures, closing: wanted.stands(ctx, res, how)}.errors(&resp.Diagnostics)
	}

	r.record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)
}

// settle takes from the state what was planned unknown although nothing decides it here.
func (m *model) settle(state model) {
	if m.ID.IsUnknown() {
		m.ID = state.ID
	}

	if m.Endpoint.IsUnknown() {
		m.Endpoint = state.Endpoint
	}

	if m.State.IsUnknown() {
		m.State = state.State
	}

	if m.Placement.IsUnknown() {
		m.Placement = state.Placement
	}

	if m.Unmanaged.IsUnknown() {
		m.Unmanaged = state.Unmanaged
	}
}

// strays reports whether a device is on a machine that hosts no longer has.
func (m model) strays(ctx context.Context, devices []device.Record) bool {
	var on []string
	for _, d := range devices {
		on = append(on, d.MachineID)
	}

	listed, _ := m.machines(ctx)

	return len(minus(on, listed)) > 0
}

// wantedUpdate adds the hosts that were taken out of the list: devices on them go, and are
// drained over the connections that the state has.
func (r *gpuResource) wantedUpdate(ctx context.Context, plan, state model, have []device.Record, diags *diag.Diagnostics) device.Wanted {
	w := r.wanted(ctx, plan, have, true, diags)
	if diags.HasError() {
		return w
	}

	listed, _ := plan.machines(ctx)
	was := state
	was.Type, was.SkipDrain, was.ForceDetach = plan.Type, plan.SkipDrain, plan.ForceDetach

	if !plan.Workload.IsNull() {
		was.Workload = plan.Workload // a kubeconfig may have been made anew
	}

	for _, h := range r.hosts(ctx, was, have, true, diags) {
		if len(minus([]string{h.MachineID}, listed)) > 0 {
			w.Former = append(w.Former, h)
		}
	}

	return w
}

// same reports whether the fabric that the provider asks is the one that had the devices.
// Another one knows nothing of their machines, and "not found" means nothing there.
func (m model) same(ctx context.Context, desk *device.Desk, have []device.Record, diags *diag.Diagnostics) bool {
	if diags.HasError() {
		return false
	}

	if !m.elsewhere(desk) {
		return true
	}

	seen, err := desk.Refresh(ctx, m.reading(ctx, have))
	if err != nil {
		diags.AddError("Machines of "+m.label(ctx)+" could not be read", sentence(err)+" Nothing was changed.")

		return false
	}

	if len(seen.Gone) > 0 {
		m.anotherFabric(ctx, desk, seen.Gone, diags)

		return false
	}

	return true
}

// elsewhere reports whether the devices were last seen in another fabric.
func (m model) elsewhere(desk *device.Desk) bool {
	return value.Known(m.Endpoint) && m.Endpoint.ValueString() != desk.Fabric.Endpoint()
}
