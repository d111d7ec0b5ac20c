// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Update implements [resource.Resource]. It never taints: after a failure the state says
// what was reached, and the next plan goes on.
func (r *clusterResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer value.Guard(ctx, "update", "Ceph cluster", &resp.Diagnostics)

	var plan, state, config model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	if resp.Diagnostics.HasError() {
		return
	}

	// Settings alone: the plan said that nothing of the cluster changes, so nobody is asked.
	if !plan.Phase.IsUnknown() {
		plan.settleID(ctx)
		r.record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)

		return
	}

	was := state.record(ctx, &resp.Diagnostics)

	life, ok := r.life(ctx, plan, &config, was, &state, &resp.Diagnostics)
	if !ok {
		return
	}

	bounded, cancel, limit := plan.limited(ctx, func(t timeoutsModel) types.String { return t.Update }, 6*time.Hour)
	defer cancel()

	res := life.Update(bounded, was)
	stopped, expired := value.Interrupted(ctx), value.Reached(bounded, limit)
	ctx = context.WithoutCancel(ctx) // it may have ended; what is known is recorded all the same

	remark(plan.label(), res.Warnings, &resp.Diagnostics)

	if !res.Known {
		res.Record = was
	}

	plan.settle(ctx, res.Record, &resp.Diagnostics)

	if res.Err != nil || stopped {
		how := "The state says what was reached; the next apply goes on in place"
		if stopped {
			how = "The run was interrupted. " + how
		}

		plan.notReady(res.Record.Phase)
		failure{plan.label(), "update", res.Err, res.Stands, how, expired}.error(&resp.Diagnostics)
	}

	r.record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)
}

// notReady leaves a mark of what was not finished, so that it is planned again.
func (m *model) notReady(phase string) {
	m.IsReady = types.BoolValue(false)

	if phase == ceph.PhaseReady || phase == ceph.PhaseConnected {
		m.Phase = types.StringValue(ceph.PhaseProgressing)
	}
}
