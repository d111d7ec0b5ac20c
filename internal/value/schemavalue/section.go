// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package schemavalue

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/defaults"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Section is an object in which everything has a default, or is null: it is in the state in
// full, so that a configuration that says nothing, one that spells the default out and an
// import agree.
func Section(description string, parts map[string]schema.Attribute) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true, Computed: true, Default: inFull{parts}, Attributes: parts, MarkdownDescription: description,
	}
}

// inFull is the default of a section: the defaults of its parts.
type inFull struct{ parts map[string]schema.Attribute }

func (inFull) Description(context.Context) string               { return "the defaults of its parts" }
func (d inFull) MarkdownDescription(ctx context.Context) string { return d.Description(ctx) }

func (d inFull) DefaultObject(ctx context.Context, _ defaults.ObjectRequest, resp *defaults.ObjectResponse) {
	resp.PlanValue = DefaultObject(ctx, d.parts)
}

// DefaultObject is a section of which a configuration says nothing.
func DefaultObject(ctx context.Context, parts map[string]schema.Attribute) types.Object {
	kinds, values := Types(parts), make(map[string]attr.Value, len(parts))
	for name, a := range parts {
		values[name] = DefaultOf(ctx, a)
	}

	return types.ObjectValueMust(kinds, values)
}

// DefaultOf is the default of an attribute, null where it has none.
func DefaultOf(ctx context.Context, a schema.Attribute) attr.Value {
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
			return DefaultObject(ctx, a.Attributes)
		}
	}

	return Null(ctx, a.GetType())
}

// Null is the null of a type.
func Null(ctx context.Context, t attr.Type) attr.Value {
	v, err := t.ValueFromTerraform(ctx, tftypes.NewValue(t.TerraformType(ctx), nil))
	if err != nil {
		return types.DynamicNull() // no type of ours refuses null
	}

	return v
}
