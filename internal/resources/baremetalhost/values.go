// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"reflect"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The framework checks the name of each field of a model with a regular expression that it
// compiles for it, at each conversion. All our fields are framework values of the very types
// of the schema, so they are assigned here; whatever does not fit is left to the framework,
// which has the words.

// layouts holds the attribute names of the fields of a struct, by its type.
var layouts sync.Map

func layout(t reflect.Type) []string {
	if known, ok := layouts.Load(t); ok {
		return known.([]string) //nolint:forcetypeassert // only layouts are stored
	}

	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Tag.Get("tfsdk")
	}

	layouts.Store(t, names)

	return names
}

// assign sets the fields of a struct; false where the two do not go together.
func assign(to any, from map[string]attr.Value) bool {
	v := reflect.ValueOf(to).Elem()
	names := layout(v.Type())

	if len(names) != len(from) {
		return false
	}

	for i, name := range names {
		one := reflect.ValueOf(from[name])
		if !one.IsValid() || one.Type() != v.Field(i).Type() {
			return false
		}

		v.Field(i).Set(one)
	}

	return true
}

// attributes are the fields of a struct by name; false where one is no framework value.
func attributes(of any) (map[string]attr.Value, bool) {
	v := reflect.Indirect(reflect.ValueOf(of))
	names := layout(v.Type())
	out := make(map[string]attr.Value, len(names))

	for i, name := range names {
		one, ok := v.Field(i).Interface().(attr.Value)
		if !ok {
			return nil, false
		}

		out[name] = one
	}

	return out, true
}

// read decodes a nested object that is known; false where it is null or unknown.
func read[T any](ctx context.Context, o types.Object, diags *diag.Diagnostics) (T, bool) {
	var v T

	if o.IsNull() || o.IsUnknown() {
		return v, false
	}

	if !assign(&v, o.Attributes()) {
		diags.Append(o.As(ctx, &v, basetypes.ObjectAsOptions{})...)
	}

	return v, !diags.HasError()
}

// object encodes a struct as a nested object of the types that the schema has at its place.
func object[T any](ctx context.Context, like types.Object, v T, diags *diag.Diagnostics) types.Object {
	if all, ok := attributes(v); ok {
		if o, d := types.ObjectValue(like.AttributeTypes(ctx), all); !d.HasError() {
			return o
		}
	}

	o, d := types.ObjectValueFrom(ctx, like.AttributeTypes(ctx), v)
	diags.Append(d...)

	return o
}

// source is a state, a plan or a configuration.
type source interface {
	Get(ctx context.Context, target any) diag.Diagnostics
}

// load decodes a state, a plan or a configuration.
func load(ctx context.Context, s source, kind attr.Type, raw tftypes.Value, m *model) diag.Diagnostics {
	if !raw.IsNull() {
		v, err := kind.ValueFromTerraform(ctx, raw)
		if o, ok := v.(types.Object); ok && err == nil && assign(m, o.Attributes()) {
			return nil
		}
	}

	return s.Get(ctx, m)
}

// encode makes the value of a state or plan; false where that is left to the framework.
func (m *model) encode(ctx context.Context, kind attr.Type) (tftypes.Value, bool) {
	o, ok := kind.(types.ObjectType)
	if !ok {
		return tftypes.Value{}, false
	}

	all, ok := attributes(m)
	if !ok {
		return tftypes.Value{}, false
	}

	v, diags := types.ObjectValue(o.AttrTypes, all)
	if diags.HasError() {
		return tftypes.Value{}, false
	}

	raw, err := v.ToTerraformValue(ctx)

	return raw, err == nil
}
