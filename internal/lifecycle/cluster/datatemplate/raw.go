// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import "maps"

// merge puts raw fields over rendered network data, and keeps the raw ones as they are.
func merge(out, raw object) {
	for field, value := range raw {
		more, isList := value.([]any)
		rendered, known := out[field].([]any)

		switch {
		case value == nil: // not written
		case isList && known:
			for _, one := range more {
				rendered = mergeOne(rendered, clone(one), field != "services")
			}

			out[field] = rendered
		default:
			out[field] = clone(value)
		}
	}
}

// mergeOne adds the fields of an element to the one with its id, or appends it.
func mergeOne(rendered []any, one any, byID bool) []any {
	if id := idOf(one); byID && id != "" {
		for _, before := range rendered {
			if idOf(before) == id {
				have, _ := before.(object)
				fields, _ := one.(object)
				maps.Copy(have, fields)

				return rendered
			}
		}
	}

	return append(rendered, one)
}

// idOf returns the id of a link or a network, "" where it has none.
func idOf(element any) string {
	fields, _ := element.(object)
	id, _ := fields["id"].(string)

	return id
}

func clone(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for name, one := range v {
			out[name] = clone(one)
		}

		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, one := range v {
			out = append(out, clone(one))
		}

		return out
	}

	return v
}

// rawIDs returns the ids of the links or networks that are raw.
func (n *NetworkData) rawIDs(field string) []string {
	var out []string

	all, _ := n.Raw[field].([]any)
	for _, one := range all {
		if id := idOf(one); id != "" {
			out = append(out, id)
		}
	}

	return out
}
