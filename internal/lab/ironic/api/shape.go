// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "slices"

// Links are the self and bookmark links of a resource.
func Links(base, path string) []any {
	return []any{
		map[string]any{"href": base + "/v1/" + path, "rel": "self"},
		map[string]any{"href": base + "/" + path, "rel": "bookmark"},
	}
}

// NonNil is a list; none is an empty one.
func NonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}

	return list
}

// NonNilMap is an object; none is an empty one.
func NonNilMap(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}

	return m
}

// Shape is a resource as the API shows it at the version of the request: since says which
// version a field needs. Fields limits it; nil shows everything. The links are there either
// way.
func (c *Call) Shape(path string, all map[string]any, since map[string]int, fields []string) map[string]any {
	doc := map[string]any{"links": Links(c.Base(), path)}

	for field, v := range all {
		if since[field] <= c.Minor && (fields == nil || slices.Contains(fields, field)) {
			doc[field] = v
		}
	}

	return doc
}
