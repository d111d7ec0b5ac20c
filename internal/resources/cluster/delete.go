// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Delete implements [resource.Resource]. It returns without an error only when Ironic shows
// nothing of the cluster any more.
func (r *clusterResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer value.Guard(ctx, "delete", "cluster", &resp.Diagnostics)

	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	if state.DeletionProtection.ValueBool() {
		state.protected(&resp.Diagnostics)
	}

	was := state.record(ctx, &resp.Diagnostics)
	pki, _ := state.keys(ctx, nil, made(ctx, req.Private, &resp.Diagnostics), false, &resp.Diagnostics)

	life, ok := r.life(ctx, state, nil, pki, &resp.Diagnostics)
	if !ok {
		return
	}

	limited, budget, cancel, limit := state.limited(ctx, func(t timeoutsModel) types.String { return t.Delete }, deleteTimeout)
	defer cancel()

	res := bounded(life, budget).Delete(limited, was)
	stopped, expired := value.Interrupted(ctx), value.Reached(limited, limit)

	ctx = context.WithoutCancel(ctx) // it may have ended; what is known is recorded all the same

	remark(state.label(), res.Warnings, &resp.Diagnostics)

	if res.Gone {
		return
	}

	next := "What is left stays in the state, and the next destroy goes on"
	if stopped {
		next = "The run was interrupted. " + next
	}

	failure{state.label(), "delete", res.Err, res.Stands, next, expired}.error(&resp.Diagnostics)

	if res.Known {
		state.fill(ctx, res.Record, &resp.Diagnostics)
		state.Ready = types.BoolValue(false)
	}

	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}
