// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Delete implements [resource.Resource]. It returns without an error only when no device of
// ours is left on the fabric.
func (r *gpuResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer value.Guard(ctx, "delete", "composable GPU resource", &resp.Diagnostics)

	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	desk, ok := r.reach(ctx, &resp.Diagnostics)
	if !ok {
		return
	}

	have := state.records(ctx, &resp.Diagnostics)

	// Where no host is to be asked, a connection that no longer works is none of our business.
	w := r.wanted(ctx, state, have, state.SkipDrain.ValueString() != string(device.SkipAlways), &resp.Diagnostics)
	w.Size = 0

	if !state.same(ctx, desk, have, &resp.Diagnostics) {
		return
	}

	label := state.label(ctx)
	run := &device.Run{Desk: desk, Wanted: w, Log: progress(label)}
	res := run.Delete(ctx, have)
	stopped := value.Interrupted(ctx)
	ctx = context.WithoutCancel(ctx) // it may have ended; what is known is recorded all the same

	remark(label, res.Warnings, &resp.Diagnostics)

	if res.Err() == nil && len(res.Devices) == 0 {
		return
	}

	how := "What is still attached stays in the state, and the next destroy goes on. To leave the devices where they are, use `terraform state rm` with the address shown above."
	if stopped {
		how = "The run was interrupted. " + how
	}

	state.Size = types.Int64Value(0) // of what is wanted now, for the words
	said := report{label: label, failures: res.Failures, closing: state.stands(ctx, res, how)}

	state.fill(ctx, res.Devices, res.Unmanaged, &resp.Diagnostics)
	state.Size = types.Int64Value(int64(attached(res.Devices)))
	state.State = types.StringValue(device.Degraded)

	said.errors(&resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}
