// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Read implements [resource.Resource]. Hosts that do not answer change nothing: the cluster
// leaves the state only when every host of a monitor answered and none has anything of it.
func (r *clusterResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer value.Guard(ctx, "refresh", "Ceph cluster", &resp.Diagnostics)

	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	state.identify(ctx, resp.Identity, &resp.Diagnostics)

	if resp.Diagnostics.HasError() {
		return
	}

	var mishap diag.Diagnostics

	was := state.record(ctx, &resp.Diagnostics)

	life, ok := r.life(ctx, state, nil, was, nil, &mishap)
	if !ok {
		state.notRefreshed(mishap, &resp.Diagnostics)

		return
	}

	resp.Diagnostics.Append(mishap...)

	bounded, cancel, limit := state.limited(ctx, func(t timeoutsModel) types.String { return t.Read }, time.Minute)
	defer cancel()

	res := life.Refresh(bounded, was)
	remark(state.label(), res.Warnings, &resp.Diagnostics)

	switch {
	case errors.Is(res.Err, ceph.ErrUnreachable):
		resp.Diagnostics.AddWarning(state.label()+" is not refreshed", value.Sentence(res.Err)+" The state is kept as it was.")
	case res.Err != nil:
		failure{state.label(), "read", res.Err, "", "The state is kept as it was", value.Reached(bounded, limit)}.error(&resp.Diagnostics)
	case res.Gone:
		resp.Diagnostics.AddWarning(state.label()+" is gone", "All hosts of its monitors answered, and none has anything of a cluster with the fsid "+was.FSID+
			" in "+state.DataDir.ValueString()+". It is taken out of the state; the next apply makes a new one.")
		resp.State.RemoveResource(ctx)
	case res.Known:
		state.renew(res.Record)
		state.fill(ctx, res.Record, &resp.Diagnostics)

		// A plan keeps the id.
		if id := state.id(ctx); value.Known(id) {
			state.ID = id
		}

		r.record(ctx, state, &resp.State, resp.Identity, &resp.Diagnostics)
	}
}

// notRefreshed says why nobody looked.
func (m model) notRefreshed(mishap diag.Diagnostics, diags *diag.Diagnostics) {
	var why []string
	for _, d := range mishap.Errors() {
		why = append(why, d.Summary()+": "+d.Detail())
	}

	diags.AddWarning(m.label()+" is not refreshed", strings.Join(why, "\n")+"\nThe state is kept as it is until apply.")
}
