// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// ModifyPlan implements [resource.ResourceWithModifyPlan].
func (r *clusterResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model

	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}

	if req.Plan.Raw.IsNull() || resp.Diagnostics.HasError() {
		return
	}

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)

	if resp.Diagnostics.HasError() {
		return
	}

	var config model

	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	r.identify(&plan, config)

	if !req.State.Raw.IsNull() {
		plan.immutable(state, &resp.Diagnostics)
	}

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
		if one.was.IsUnknown() || value.HasUnknown(one.now) || one.now.Equal(one.was) {
			continue
		}

		if _, ok := one.was.(types.String); one.was.IsNull() && ok && one.name != "machine_name_format" {
			continue // an import did not know it
		}

		diags.AddAttributeError(path.Root(one.name), state.label()+" cannot get another "+one.name, "It cannot be changed in place, as "+one.why+
			", and a replacement would end the cluster. Take the change back; or make a second resource, and destroy this one when it is no longer needed.")
	}
}
