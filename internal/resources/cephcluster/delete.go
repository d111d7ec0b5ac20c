// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Delete implements [resource.Resource]. It returns without an error only when all hosts
// confirmed what the cleanup policy asks for.
func (r *clusterResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer value.Guard(ctx, "delete", "Ceph cluster", &resp.Diagnostics)

	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	if state.DeletionProtection.ValueBool() {
		state.protected(&resp.Diagnostics)
	}

	was := state.record(ctx, &resp.Diagnostics)
	how := state.cleanup(ctx, &resp.Diagnostics)

	life, ok := r.life(ctx, state, nil, was, nil, &resp.Diagnostics)
	if !ok {
		return
	}

	bounded, cancel, limit := state.limited(ctx, func(t timeoutsModel) types.String { return t.Delete }, 30*time.Minute)
	defer cancel()

	res := life.Delete(bounded, was, how)
	stopped, expired := value.Interrupted(ctx), value.Reached(bounded, limit)
	ctx = context.WithoutCancel(ctx) // it may have ended; what is known is recorded all the same

	remark(state.label(), res.Warnings, &resp.Diagnostics)

	if res.Err == nil && (res.Gone || !stopped) {
		return
	}

	next := "What is left stays in the state, and the next destroy goes on. To leave it where it is, use `terraform state rm` with the address shown above"
	if stopped {
		next = "The run was interrupted. " + next
	}

	failure{state.label(), "delete", res.Err, res.Stands, next, expired}.error(&resp.Diagnostics)

	if res.Known {
		state.fill(ctx, res.Record, &resp.Diagnostics)
		state.IsReady = types.BoolValue(false)
	}

	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}
