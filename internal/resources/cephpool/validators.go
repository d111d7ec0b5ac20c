// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// poolPattern is what Ceph's tools can name.
var poolPattern = regexp.MustCompile(`^[^\s/@[:cntrl:]]+$`)

// poolName refuses what Ceph's tools could not name a pool by.
func poolName() validator.String {
	return stringvalidator.RegexMatches(poolPattern, "must be a name without blanks, / and @")
}

// ownAttributes are parameters that have an attribute of their own, or follow from one.
var ownAttributes = map[string]string{
	"size": "size", "min_size": "min_size", "pg_num": "pg_num", "pgp_num": "pg_num", "pg_autoscale_mode": "pg_autoscale_mode",
	"crush_rule": "failure_domain", "compression_mode": "compression_mode", "allow_ec_overwrites": "type",
}

// parameterName refuses parameters that have an attribute of their own.
func parameterName() validator.String { return parameterCheck{} }

type parameterCheck struct{}

func (parameterCheck) Description(context.Context) string {
	return "a parameter that has no attribute of its own"
}

func (c parameterCheck) MarkdownDescription(ctx context.Context) string { return c.Description(ctx) }

func (parameterCheck) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	name := req.ConfigValue.ValueString()

	if own := ownAttributes[name]; own != "" {
		resp.Diagnostics.AddAttributeError(req.Path, "Parameter "+name+" has an attribute of its own", "Use the attribute "+own+" instead of the parameter.")
	} else if value.Known(req.ConfigValue) && !namePattern.MatchString(name) {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid parameter", fmt.Sprintf("%q is no name of a parameter.", name))
	}
}

// replacesErasure replaces an erasure coded pool: its place is part of its code. Without an
// opinion on it, it stays where it is.
func replacesErasure(otherwise string) planmodifier.String {
	const about = "of an erasure coded pool, another place replaces it"

	return stringplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
		var kind types.String

		resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("type"), &kind)...)
		resp.RequiresReplace = kind.ValueString() == pool.Erasure && otherPlace(req.StateValue, req.PlanValue, otherwise)
	}, about, about)
}

// replacesCode replaces a pool of another code. One that spells out what Ceph takes anyway, as
// after an import, is the same.
func replacesCode() planmodifier.Object {
	const about = "another code replaces the pool"

	return objectplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.ObjectRequest, resp *objectplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !sameCode(ctx, req.StateValue, req.PlanValue, &resp.Diagnostics)
	}, about, about)
}

func sameCode(ctx context.Context, a, b types.Object, diags *diag.Diagnostics) bool {
	one, isOne := value.Object[erasureModel](ctx, a, diags)
	other, isOther := value.Object[erasureModel](ctx, b, diags)

	if !isOne || !isOther {
		return a.Equal(b)
	}

	full := func(s types.String, otherwise string) types.String {
		if s.IsNull() {
			return types.StringValue(otherwise)
		}

		return s
	}

	return one.K.Equal(other.K) && one.M.Equal(other.M) &&
		full(one.Plugin, pool.DefaultPlugin).Equal(full(other.Plugin, pool.DefaultPlugin)) &&
		full(one.Technique, pool.DefaultTechnique).Equal(full(other.Technique, pool.DefaultTechnique))
}

// ValidateConfig implements [resource.ResourceWithValidateConfig].
func (r *poolResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model

	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	if !resp.Diagnostics.HasError() {
		config.validate(ctx, &resp.Diagnostics)
	}
}

// validate holds the rules between attributes. It passes over what is not known yet.
func (m model) validate(ctx context.Context, diags *diag.Diagnostics) {
	erasure := m.Type.ValueString() == pool.Erasure

	switch {
	case m.Type.IsUnknown():
	case erasure && m.Erasure.IsNull():
		diags.AddAttributeError(pathErasure, "Code of "+m.label()+" is missing", "A pool of type erasure needs erasure = { k, m }.")
	case erasure && value.Known(m.Size):
		diags.AddAttributeError(pathSize, "Size of "+m.label()+" follows from its code", "An erasure coded pool has k + m chunks of each object: remove size.")
	case !erasure && value.Known(m.Erasure):
		diags.AddAttributeError(pathErasure, "Code of "+m.label()+" has no effect", "Only a pool of type erasure has one: set type = \"erasure\", or remove erasure.")
	}

	if value.Known(m.Size) && m.Size.ValueInt64() == 1 && !m.AllowSizeOne.IsUnknown() && !m.AllowSizeOne.ValueBool() {
		diags.AddAttributeError(pathSize, m.label()+" would have no second copy", "With size = 1 one lost disk loses data. If that is meant, set allow_size_one = true.")
	}

	if value.Known(m.Size) && value.Known(m.MinSize) && m.MinSize.ValueInt64() > m.Size.ValueInt64() {
		diags.AddAttributeError(path.Root("min_size"), "More copies needed than there are", fmt.Sprintf("min_size is %d and size %d: nothing could ever be written.", m.MinSize.ValueInt64(), m.Size.ValueInt64()))
	}

	if q, ok := value.Object[quotaModel](ctx, m.Quota, diags); ok && q.MaxBytes.IsNull() && q.MaxObjects.IsNull() {
		diags.AddAttributeError(path.Root("quota"), "Quota of "+m.label()+" says nothing", "Give max_bytes, max_objects or both, or remove quota.")
	}
}

// removed are the parameters that the state has and the plan has no more.
func removed(state, plan types.Map) []string {
	var out []string

	for name := range state.Elements() {
		if _, there := plan.Elements()[name]; !there {
			out = append(out, name)
		}
	}

	slices.Sort(out)

	return out
}
