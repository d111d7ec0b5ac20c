// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Deadlines of the verbs where the user names none.
const (
	createTimeout = 2 * time.Hour
	updateTimeout = 4 * time.Hour
	deleteTimeout = 2 * time.Hour
	readTimeout   = 5 * time.Minute
)

// Create implements [resource.Resource].
func (r *clusterResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer value.Guard(ctx, "create", "cluster", &resp.Diagnostics)

	var plan, config model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	if resp.Diagnostics.HasError() {
		return
	}

	plan.complete(r.far.HostDefaults())

	pki, fresh := plan.keys(ctx, &config, bootstrap.PKI{}, true, &resp.Diagnostics)

	life, ok := r.life(ctx, plan, &config, pki, &resp.Diagnostics)
	if !ok {
		return
	}

	limited, budget, cancel, limit := plan.limited(ctx, func(t timeoutsModel) types.String { return t.Create }, createTimeout)
	defer cancel()

	res := bounded(life, budget).Create(limited)
	stopped, expired := value.Interrupted(ctx), value.Reached(limited, limit)

	ctx = context.WithoutCancel(ctx) // it may have ended; what is known is recorded all the same

	remark(plan.label(), res.Warnings, &resp.Diagnostics)

	f := failure{plan.label(), "create", res.Err, res.Stands, "", expired}

	if !res.Known && res.Err != nil {
		// Without a machine there is no cluster, and nothing to taint.
		f.how = "Nothing is in the state; apply again when the cause is removed"
		f.error(&resp.Diagnostics)

		return
	}

	plan.Ironic = types.StringValue(life.Far.Endpoint())
	keep(ctx, resp.Private, fresh, &resp.Diagnostics)

	unfinished := res.Err != nil || stopped
	if unfinished {
		res.Record.Ready = false
	}

	plan.settle(ctx, res.Record, &resp.Diagnostics)
	record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)

	if unfinished {
		plan.unfinishedCreate(f, stopped, &resp.Diagnostics)
	}
}

// unfinishedCreate says what a create did not reach, as on_create_failure wants it said.
func (m model) unfinishedCreate(f failure, stopped bool, diags *diag.Diagnostics) {
	const cost = "Terraform marks the resource as tainted: the next apply undeploys its machines and makes the cluster again. " +
		"To go on from here instead, run `terraform untaint` with the address shown above, then apply: the plan is an update in place that does only what is missing"

	switch policy := m.OnCreateFailure.ValueString(); {
	case stopped:
		f.how = "The run was interrupted. What stands is in the state, and the next apply goes on in place"
		f.warning(diags)
	case policy == failureTaint:
		f.how = cost
		f.error(diags)
	case policy == failureRollback:
		f.how = "Not everything could be given back (on_create_failure = \"rollback\"). " + cost
		f.error(diags)
	default:
		f.how = "The cluster stays in the state with ready = false (on_create_failure = \"keep\"), and the next apply goes on in place. " +
			"A postcondition on self.ready makes a run like this one fail"
		f.warning(diags)
	}
}
