// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Read implements [resource.Resource]. It costs one list of hosts, which all readers share, and
// one of claims; and one of nodes, where the cluster's API answers.
func (r *clusterResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer value.Guard(ctx, "refresh", "cluster", &resp.Diagnostics)

	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	if resp.Identity != nil && value.Known(state.ID) {
		resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{state.ID})...)
	}

	if resp.Diagnostics.HasError() {
		return
	}

	if _, err := r.far.Hosts(ctx); errors.Is(err, host.ErrUnknown) {
		resp.Diagnostics.AddWarning(state.label()+" is not refreshed", value.Sentence(err)+" The state is kept as it is until apply.")

		return
	}

	was := state.record(ctx, &resp.Diagnostics)
	pki, _ := state.keys(ctx, nil, made(ctx, req.Private, &resp.Diagnostics), false, &resp.Diagnostics)

	life, ok := r.life(ctx, state, nil, pki, &resp.Diagnostics)
	if !ok {
		return
	}

	limited, budget, cancel, limit := state.limited(ctx, func(t timeoutsModel) types.String { return t.Read }, readTimeout)
	defer cancel()

	res := bounded(life, budget).Refresh(limited, was)
	remark(state.label(), res.Warnings, &resp.Diagnostics)

	if res.Err != nil {
		failure{state.label(), "read", res.Err, "", "The state is kept as it was", value.Reached(limited, limit)}.error(&resp.Diagnostics)

		return
	}

	if state.imported() && !res.Known {
		resp.State.RemoveResource(ctx) // Terraform says that there is nothing to import

		return
	}

	state.Ironic = types.StringValue(life.Far.Endpoint())
	state.fill(ctx, res.Record, &resp.Diagnostics)

	record(ctx, state, &resp.State, resp.Identity, &resp.Diagnostics)
}

// imported reports whether the state is what an import began: it knows no endpoint, which every
// configuration has.
func (m model) imported() bool { return m.Endpoint.IsNull() }
