// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Update implements [resource.Resource]. It never taints: after a failure the state says what was
// reached, and the next plan goes on.
func (r *clusterResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer value.Guard(ctx, "update", "cluster", &resp.Diagnostics)

	var plan, state, config model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	if resp.Diagnostics.HasError() {
		return
	}

	plan.complete(r.far.HostDefaults())
	plan.immutable(state, &resp.Diagnostics) // what was not known when the plan was made is by now

	// Settings alone: the plan said that nothing of the cluster changes, so nobody is asked.
	if !plan.Ready.IsUnknown() {
		record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)

		return
	}

	was := state.record(ctx, &resp.Diagnostics)
	pki, fresh := plan.keys(ctx, &config, made(ctx, req.Private, &resp.Diagnostics), true, &resp.Diagnostics)

	life, ok := r.life(ctx, plan, &config, pki, &resp.Diagnostics)
	if !ok {
		return
	}

	r.former(ctx, life, plan, state)

	limited, budget, cancel, limit := plan.limited(ctx, func(t timeoutsModel) types.String { return t.Update }, updateTimeout)
	defer cancel()

	res := bounded(life, budget).Update(limited, was)
	stopped, expired := value.Interrupted(ctx), value.Reached(limited, limit)

	ctx = context.WithoutCancel(ctx) // it may have ended; what is known is recorded all the same

	remark(plan.label(), res.Warnings, &resp.Diagnostics)

	if res.Err != nil && len(res.Record.Machines) == 0 {
		res.Record = was // it could not even look
	}

	plan.Ironic = keepKnown(plan.Ironic, life.Far.Endpoint())
	keepUnless(ctx, res.Err, resp.Private, fresh, &resp.Diagnostics)

	if res.Err == nil && !stopped {
		plan.settle(ctx, res.Record, &resp.Diagnostics)
		record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)

		return
	}

	plan.unfinishedUpdate(ctx, state, res, stopped, expired, &resp.Diagnostics)
	record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)
}

// unfinishedUpdate says what an update did not reach, and takes over what it did.
func (m *model) unfinishedUpdate(ctx context.Context, state model, res cluster.Result, stopped bool, expired time.Duration, diags *diag.Diagnostics) {
	res.Record.Ready = false
	m.fill(ctx, res.Record, diags)
	m.remember(ctx, state, res.Record)

	how := "The state says what was reached; the next apply goes on in place"
	if stopped {
		how = "The run was interrupted. " + how
	}

	failure{m.label(), "update", res.Err, res.Stands, how, expired}.error(diags)
}

// keepKnown is a value that a plan has promised, or the one of now.
func keepKnown(have types.String, now string) types.String {
	if have.IsNull() || have.IsUnknown() {
		return types.StringValue(now)
	}

	return have
}
