// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/defaults"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// This file makes attributes. A section is an object in which everything has a default, or
// is null: it is in the state in full, so that a configuration that says nothing, one that
// spells the default out and an import agree.

func section(description string, parts map[string]schema.Attribute) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true, Computed: true, Default: inFull{parts}, Attributes: parts, MarkdownDescription: description,
	}
}

// inFull is the default of a section: the defaults of its parts.
type inFull struct{ parts map[string]schema.Attribute }

func (inFull) Description(context.Context) string               { return "the defaults of its parts" }
func (d inFull) MarkdownDescription(ctx context.Context) string { return d.Description(ctx) }

func (d inFull) DefaultObject(ctx context.Context, _ defaults.ObjectRequest, resp *defaults.ObjectResponse) {
	resp.PlanValue = defaultObject(ctx, d.parts)
}

// defaultObject is a section of which a configuration says nothing.
func defaultObject(ctx context.Context, parts map[string]schema.Attribute) types.Object {
	kinds, values := attrTypes(parts), make(map[string]attr.Value, len(parts))
	for name, a := range parts {
		values[name] = defaultOf(ctx, a)
	}

	return types.ObjectValueMust(kinds, values)
}

// defaultOf is the default of an attribute, null where it has none.
func defaultOf(ctx context.Context, a schema.Attribute) attr.Value {
	switch a := a.(type) {
	case schema.StringAttribute:
		if a.Default != nil {
			var resp defaults.StringResponse

			a.Default.DefaultString(ctx, defaults.StringRequest{}, &resp)

			return resp.PlanValue
		}
	case schema.BoolAttribute:
		if a.Default != nil {
			var resp defaults.BoolResponse

			a.Default.DefaultBool(ctx, defaults.BoolRequest{}, &resp)

			return resp.PlanValue
		}
	case schema.Int64Attribute:
		if a.Default != nil {
			var resp defaults.Int64Response

			a.Default.DefaultInt64(ctx, defaults.Int64Request{}, &resp)

			return resp.PlanValue
		}
	case schema.SingleNestedAttribute:
		if a.Default != nil {
			return defaultObject(ctx, a.Attributes)
		}
	}

	return null(ctx, a.GetType())
}

// null is the null of a type.
func null(ctx context.Context, t attr.Type) attr.Value {
	v, err := t.ValueFromTerraform(ctx, tftypes.NewValue(t.TerraformType(ctx), nil))
	if err != nil {
		return types.DynamicNull() // no type of ours refuses null
	}

	return v
}

func text(description string, checks ...validator.String) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description, Validators: checks}
}

func textOr(otherwise, description string, checks ...validator.String) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(otherwise), MarkdownDescription: description, Validators: checks,
	}
}

func choice(otherwise, description string, values ...string) schema.StringAttribute {
	return textOr(otherwise, description, stringvalidator.OneOf(values...))
}

func flag(otherwise bool, description string) schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(otherwise), MarkdownDescription: description}
}

func number(otherwise, highest int64, description string) schema.Int64Attribute {
	return schema.Int64Attribute{
		Optional: true, Computed: true, Default: int64default.StaticInt64(otherwise), MarkdownDescription: description,
		Validators: []validator.Int64{int64validator.Between(1, highest)},
	}
}

func numberOrNone(highest int64, description string) schema.Int64Attribute {
	return schema.Int64Attribute{
		Optional: true, MarkdownDescription: description, Validators: []validator.Int64{int64validator.Between(1, highest)},
	}
}

func duration(otherwise, description string) schema.StringAttribute {
	return textOr(otherwise, description, value.Duration())
}

func names(description string, checks ...validator.List) schema.ListAttribute {
	return schema.ListAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description, Validators: checks}
}

func attrTypes(all map[string]schema.Attribute) map[string]attr.Type {
	out := make(map[string]attr.Type, len(all))
	for name, a := range all {
		out[name] = a.GetType()
	}

	return out
}

func objectType(parts map[string]schema.Attribute) types.ObjectType {
	return types.ObjectType{AttrTypes: attrTypes(parts)}
}
