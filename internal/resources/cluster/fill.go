// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// fill copies a record into the computed attributes.
func (m *model) fill(ctx context.Context, r cluster.Record, diags *diag.Diagnostics) {
	all := make(map[string]machineModel, len(r.Machines))
	for name, one := range r.Machines {
		all[name] = modelOf(one)
	}

	conditions := make([]conditionModel, 0, len(r.Conditions))
	for _, c := range r.Conditions {
		conditions = append(conditions, conditionModel{value.String(c.Type), value.String(c.Status), value.String(c.Reason), value.String(c.Message)})
	}

	m.Machines = machinesOf(ctx, all, diags)
	m.Ready, m.State = types.BoolValue(r.Ready), value.String(r.State)
	m.Drift = value.StringListOrEmpty(r.Drift)
	m.Kubeconfig, m.ClusterCA = value.String(r.Kubeconfig), value.String(r.ClusterCA)

	list, d := types.ListValueFrom(ctx, conditionType, conditions)
	diags.Append(d...)

	m.Conditions = list
}

// settle fills a record in where the plan left something open. What the plan knows stays as it
// was planned: Terraform calls the result inconsistent otherwise, and taints it.
func (m *model) settle(ctx context.Context, r cluster.Record, diags *diag.Diagnostics) {
	planned := m.moving

	m.fill(ctx, r, diags)

	m.Machines, _ = reconcile(ctx, planned.Machines, m.Machines).(types.Map)
	m.Ready, _ = reconcile(ctx, planned.Ready, m.Ready).(types.Bool)
	m.State, _ = reconcile(ctx, planned.State, m.State).(types.String)
	m.Conditions, _ = reconcile(ctx, planned.Conditions, m.Conditions).(types.List)
	m.Drift, _ = reconcile(ctx, planned.Drift, m.Drift).(types.List)
	m.Kubeconfig, _ = reconcile(ctx, planned.Kubeconfig, m.Kubeconfig).(types.String)
	m.ClusterCA, _ = reconcile(ctx, planned.ClusterCA, m.ClusterCA).(types.String)
}

// reconcile takes what is known from the plan and all else from what there is.
func reconcile(ctx context.Context, planned, now attr.Value) attr.Value {
	if planned.IsUnknown() {
		return now
	}

	switch p := planned.(type) {
	case types.Map:
		have, _ := now.(types.Map)
		if p.IsNull() {
			return p
		}

		out := make(map[string]attr.Value, len(p.Elements()))
		for key, v := range p.Elements() {
			out[key] = reconcile(ctx, v, orNothing(ctx, have.Elements()[key], v))
		}

		return types.MapValueMust(p.ElementType(ctx), out)
	case types.Object:
		have, _ := now.(types.Object)
		if p.IsNull() {
			return p
		}

		out := make(map[string]attr.Value, len(p.Attributes()))
		for name, v := range p.Attributes() {
			out[name] = reconcile(ctx, v, orNothing(ctx, have.Attributes()[name], v))
		}

		return types.ObjectValueMust(p.AttributeTypes(ctx), out)
	default:
		return planned
	}
}

// orNothing is a value, or the null of what was planned in its place.
func orNothing(ctx context.Context, have, planned attr.Value) attr.Value {
	if have != nil {
		return have
	}

	return at.Null(ctx, planned.Type(ctx))
}
