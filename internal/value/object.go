// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// Object reads a nested object into a struct; false where it is null, unknown, or no object.
func Object[T any](ctx context.Context, v attr.Value, diags *diag.Diagnostics) (T, bool) {
	var out T

	o, ok := v.(types.Object)
	if !ok || !Known(o) {
		return out, false
	}

	d := o.As(ctx, &out, basetypes.ObjectAsOptions{})
	diags.Append(d...)

	return out, !d.HasError()
}

// Objects reads a map of objects; those that are not known as a whole are left out.
func Objects[T any](ctx context.Context, m types.Map, diags *diag.Diagnostics) map[string]T {
	out := map[string]T{}

	if !Known(m) {
		return out
	}

	for name, v := range m.Elements() {
		if one, ok := Object[T](ctx, v, diags); ok {
			out[name] = one
		}
	}

	return out
}
