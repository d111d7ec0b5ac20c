// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// ModifyPlan implements [resource.ResourceWithModifyPlan]: names and addresses of machines are
// planned, what moves is open in a plan that has work for the cluster, and in no other; and the
// plan tells the price.
func (r *clusterResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	defer value.Guard(ctx, "plan", "cluster", &resp.Diagnostics)

	var plan, state, config model

	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}

	if req.Plan.Raw.IsNull() {
		state.planDelete(ctx, &resp.Diagnostics)

		return
	}

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	if resp.Diagnostics.HasError() {
		return
	}

	r.identify(&plan, config)

	p := planner{plan: &plan, config: &config, state: state, create: req.State.Raw.IsNull(), far: r.far}
	p.do(ctx, &resp.Diagnostics)

	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// identify plans namespace and id, where they are known.
func (r *clusterResource) identify(m *model, config model) {
	if m.Namespace.IsUnknown() && config.Namespace.IsNull() && !slices.Contains(r.far.UnknownDefaults(), "namespace") {
		m.Namespace = types.StringValue(r.far.HostDefaults().Namespace)
	}

	if m.ID.IsUnknown() && value.Known(m.Namespace) && value.Known(m.Name) {
		m.ID = types.StringValue(m.Namespace.ValueString() + "/" + m.Name.ValueString())
	}
}

// planDelete refuses the end of a protected cluster, and tells the price of any other's.
func (m model) planDelete(ctx context.Context, diags *diag.Diagnostics) {
	if m.DeletionProtection.ValueBool() {
		m.protected(diags)

		return
	}

	m.priceOfDelete(ctx, diags)
}

func (m model) protected(diags *diag.Diagnostics) {
	diags.AddAttributeError(path.Root("deletion_protection"), m.label()+" is protected",
		"The plan destroys the cluster, and deletion_protection is set in the state. Set it to false and apply that first.")
}

// immutable refuses changes of what makes this cluster this one. A replacement would destroy
// the cluster, which nobody asks for who writes another name.
func (m model) immutable(state model, diags *diag.Diagnostics) {
	for _, one := range []struct {
		name     string
		now, was attr.Value
		why      string
	}{
		{"name", m.Name, state.Name, "names of machines, claims and provider ids follow from it"},
		{"namespace", m.Namespace, state.Namespace, "claims and provider ids follow from it"},
		{"control_plane_endpoint", m.Endpoint, state.Endpoint, "every machine and every certificate has it"},
		{"machine_name_format", m.NameFormat, state.NameFormat, "the machines are called as it said"},
	} {
		// An import knows neither the endpoint nor the format.
		if one.was.IsUnknown() || value.HasUnknown(one.now) || one.now.Equal(one.was) || state.Endpoint.IsNull() && one.was.IsNull() {
			continue
		}

		diags.AddAttributeError(path.Root(one.name), state.label()+" cannot get another "+one.name, "It cannot be changed in place, as "+one.why+
			", and a replacement would end the cluster. Take the change back; or make a second resource, and destroy this one when it is no longer needed.")
	}
}

// touches reports whether an update has anything to do with the cluster besides its machines:
// what is set in place changed, or an earlier apply did not finish, or a refresh found that
// something is not as configured.
func (m model) touches(ctx context.Context, state model) bool {
	if !state.Ready.ValueBool() || len(value.GoStrings(state.Drift)) > 0 || m.renews(state) {
		return true
	}

	for _, pair := range [][2]attr.Value{
		{m.CloudProvider, state.CloudProvider},
		{m.LabelPrefixes, state.LabelPrefixes},
		{m.Bootstrap, state.Bootstrap},
		{m.WorkloadAPI, state.WorkloadAPI},
		{m.Wait, state.Wait},
		{without(ctx, m.ControlPlane), without(ctx, state.ControlPlane)},
	} {
		if value.HasUnknown(pair[0]) || !pair[0].Equal(pair[1]) {
			return true
		}
	}

	return m.Workers.IsUnknown() || m.touchesWorkers(ctx, state)
}

func (m model) touchesWorkers(ctx context.Context, state model) bool {
	for name, v := range m.Workers.Elements() {
		now, _ := v.(types.Object)
		was, there := state.Workers.Elements()[name].(types.Object)

		if !there || value.HasUnknown(without(ctx, now)) || !without(ctx, now).Equal(without(ctx, was)) {
			return true
		}
	}

	return len(m.Workers.Elements()) != len(state.Workers.Elements())
}

// later are attributes of a role that say how machines come and go: a change matters to the next
// machine, and changes none that is there.
var later = []string{
	"replicas", "host_selector", "min_hardware", "host_selection", "spread", "failure_domain", "resource_class", "traits", "hooks", "ip_index_offset",
	"node_reuse", "rollout", "scale_in_policy", "keep_power",
}

// without is a role without what matters to the next machine only.
func without(ctx context.Context, o types.Object) types.Object {
	if !value.Known(o) {
		return o
	}

	all, kinds := map[string]attr.Value{}, map[string]attr.Type{}

	for name, v := range o.Attributes() {
		if !slices.Contains(later, name) {
			all[name], kinds[name] = v, v.Type(ctx)
		}
	}

	return types.ObjectValueMust(kinds, all)
}

// renews reports whether the kubeconfig of the state is past half of its life.
func (m model) renews(state model) bool {
	return !m.Bootstrap.IsNull() && value.Known(state.Kubeconfig) && bootstrap.NeedsRenewal([]byte(state.Kubeconfig.ValueString()), time.Now())
}

// open marks as unknown what an update can move, besides the machines.
func (m *model) open(state model, create bool) {
	m.Ready, m.State = types.BoolUnknown(), types.StringUnknown()
	m.Conditions, m.Drift = types.ListUnknown(conditionType), types.ListUnknown(types.StringType)

	switch {
	case m.Bootstrap.IsNull():
		m.Kubeconfig, m.ClusterCA = types.StringNull(), types.StringNull()
	case create || m.renews(state) || !value.Known(state.Kubeconfig) || !m.Bootstrap.Equal(state.Bootstrap):
		m.Kubeconfig, m.ClusterCA = types.StringUnknown(), types.StringUnknown()
	default:
		m.Kubeconfig, m.ClusterCA = state.Kubeconfig, state.ClusterCA
	}
}
