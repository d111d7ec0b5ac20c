// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusternodes

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// ValidateConfig implements [resource.ResourceWithValidateConfig]: what no cluster would take is told
// before one is asked.
func (r *nodesResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if !resp.Diagnostics.HasError() {
		m.check(ctx, &resp.Diagnostics)
	}
}

func (m model) check(ctx context.Context, diags *diag.Diagnostics) {
	prefixes, _ := nodes.CheckSyncPrefixes(value.GoStrings(m.Prefixes))

	taints, known := m.taints(ctx, diags)
	if !known {
		taints = nil
	}

	refuse(diags, path.Empty(), m.label(), nodes.Want{
		SyncPrefixes: value.GoStrings(m.Prefixes), Labels: value.GoMap(m.Labels), Annotations: value.GoMap(m.Annotations), Taints: taints,
	}.Check())

	for name, v := range m.Machines.Elements() {
		machine, ok := value.Object[machineModel](ctx, v, diags)
		if !ok {
			continue
		}

		refuse(diags, path.Root("machines").AtMapKey(name), "Node of machine "+name, nodes.Want{
			SyncPrefixes: prefixes, Labels: value.GoMap(machine.Labels), HostLabels: value.GoMap(machine.HostLabels), Host: machine.HostName.ValueString(),
		}.Check())
	}
}

// refuse tells everything that is wrong, in one error.
func refuse(diags *diag.Diagnostics, where path.Path, label string, err error) {
	if err == nil {
		return
	}

	all := []error{err}

	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		all = many.Unwrap()
	}

	parts := make([]string, 0, len(all))
	for _, one := range all {
		parts = append(parts, value.Sentence(one))
	}

	diags.AddAttributeError(where, label+": this cannot be set", strings.Join(parts, "\n"))
}

// ModifyPlan implements [resource.ResourceWithModifyPlan]: what a refresh found to differ is mended by
// an update, although the configuration is the same.
func (r *nodesResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return
	}

	var plan, state model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	if resp.Diagnostics.HasError() || len(state.Drift.Elements()) == 0 && state.Ready.ValueBool() {
		return
	}

	plan.ID, plan.Ready = types.StringUnknown(), types.BoolUnknown()
	plan.Drift = types.ListUnknown(types.StringType)
	plan.Nodes = types.MapUnknown(types.ObjectType{AttrTypes: at.Types(nodeAttributes())})

	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// sorted is a list in order, each once.
func sorted(all []string) []string {
	slices.Sort(all)

	return slices.Compact(all)
}
