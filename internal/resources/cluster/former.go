// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

// This file is about pools that a state has and a configuration no longer has: how their machines
// leave is said nowhere else.

// former gives a run the pools that are no longer configured, with the ways to their machines.
func (r *clusterResource) former(ctx context.Context, run *cluster.Run, plan, state model) {
	var ignored diag.Diagnostics // it was applied once

	roles, _ := plan.roles(ctx, &ignored)
	there := map[string]bool{}

	for _, one := range roles {
		there[one.pool] = true
	}

	before, _ := state.roles(ctx, &ignored)
	for _, one := range before {
		if there[one.pool] {
			continue
		}

		roles = append(roles, one)
		run.Wanted.Former = append(run.Wanted.Former, state.poolOf(ctx, one, types.StringNull(), &ignored))
	}

	if len(run.Wanted.Former) > 0 {
		run.Hook = r.hook(ctx, roles, run.Wanted.Reach, &ignored)
	}
}

// remember keeps pools in the state that are no longer configured, as long as machines of theirs are
// there: after an update that failed the next one has to know how they leave, too.
func (m *model) remember(ctx context.Context, state model, r cluster.Record) {
	all := maps.Clone(m.Workers.Elements())
	if all == nil {
		all = map[string]attr.Value{}
	}

	for _, one := range r.Machines {
		if one.Role == cluster.ControlPlane {
			if m.ControlPlane.IsNull() {
				m.ControlPlane = state.ControlPlane
			}

			continue
		}

		if was, there := state.Workers.Elements()[one.Pool]; there && all[one.Pool] == nil {
			all[one.Pool] = was
		}
	}

	if len(all) > len(m.Workers.Elements()) {
		m.Workers = types.MapValueMust(state.Workers.ElementType(ctx), all)
	}
}
