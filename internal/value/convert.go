// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// String returns s, null where it is empty: what a service does not say is null, never "".
func String(s string) types.String {
	if s == "" {
		return types.StringNull()
	}

	return types.StringValue(s)
}

// Int64 returns n, null where it is zero.
func Int64(n int64) types.Int64 {
	if n == 0 {
		return types.Int64Null()
	}

	return types.Int64Value(n)
}

// Bool returns what b points to, null where it points to nothing.
func Bool(b *bool) types.Bool { return types.BoolPointerValue(b) }

// StringMap returns m, null where it is empty.
func StringMap(m map[string]string) types.Map {
	if len(m) == 0 {
		return types.MapNull(types.StringType)
	}

	elements := make(map[string]attr.Value, len(m))
	for key, v := range m {
		elements[key] = types.StringValue(v)
	}

	return types.MapValueMust(types.StringType, elements)
}

// StringList returns all in their order, null where there are none.
func StringList(all []string) types.List {
	if len(all) == 0 {
		return types.ListNull(types.StringType)
	}

	return types.ListValueMust(types.StringType, stringValues(all))
}

// StringMapOrEmpty is [StringMap] for what is read and never configured: expressions go
// over an empty map, and fail over null.
func StringMapOrEmpty(m map[string]string) types.Map {
	if len(m) == 0 {
		return types.MapValueMust(types.StringType, map[string]attr.Value{})
	}

	return StringMap(m)
}

// StringListOrEmpty is [StringList] for what is read and never configured.
func StringListOrEmpty(all []string) types.List {
	return types.ListValueMust(types.StringType, stringValues(all))
}

// StringSet returns all once each, null where there are none.
func StringSet(all []string) types.Set {
	if len(all) == 0 {
		return types.SetNull(types.StringType)
	}

	unique := slices.Clone(all)
	slices.Sort(unique)

	return types.SetValueMust(types.StringType, stringValues(slices.Compact(unique)))
}

func stringValues(all []string) []attr.Value {
	elements := make([]attr.Value, 0, len(all))
	for _, s := range all {
		elements = append(elements, types.StringValue(s))
	}

	return elements
}

// GoMap returns the known entries of a map of strings, nil where it is null or unknown.
func GoMap(m types.Map) map[string]string {
	if m.IsNull() || m.IsUnknown() {
		return nil
	}

	out := make(map[string]string, len(m.Elements()))

	for key, v := range m.Elements() {
		if s, ok := v.(types.String); ok && Known(s) {
			out[key] = s.ValueString()
		}
	}

	return out
}

// collection is a list or a set.
type collection interface {
	IsNull() bool
	IsUnknown() bool
	Elements() []attr.Value
}

// GoStrings returns the known members of a list or set of strings, nil where it is null or unknown.
func GoStrings(c collection) []string {
	if c.IsNull() || c.IsUnknown() {
		return nil
	}

	out := make([]string, 0, len(c.Elements()))

	for _, v := range c.Elements() {
		if s, ok := v.(types.String); ok && Known(s) {
			out = append(out, s.ValueString())
		}
	}

	return out
}

// HasUnknown reports whether v or anything in it is not known yet. Nulls are known.
func HasUnknown(v attr.Value) bool {
	if v == nil || v.IsUnknown() {
		return v != nil
	}

	switch v := v.(type) {
	case interface{ Attributes() map[string]attr.Value }:
		for _, one := range v.Attributes() {
			if HasUnknown(one) {
				return true
			}
		}
	case interface{ Elements() map[string]attr.Value }:
		for _, one := range v.Elements() {
			if HasUnknown(one) {
				return true
			}
		}
	case collection:
		return slices.ContainsFunc(v.Elements(), HasUnknown)
	}

	return false
}

// Known reports whether a value is neither null nor unknown.
func Known(v attr.Value) bool { return !v.IsNull() && !v.IsUnknown() }
