// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package providertest drives the provider through the plugin protocol from Go values, so
// that tests need neither Terraform nor a configuration language. Only tests use it.
package providertest

import (
	"fmt"
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Unknown stands for a value that is not known before apply.
type Unknown struct{}

// Map is the value of an object or a map; an object's attributes that are left out are null.
type Map = map[string]any

// Value makes a Terraform value of a type out of nil, Unknown, a string, bool, int, Map or
// []any. It panics where the two do not go together: that is a mistake in a test.
func Value(t tftypes.Type, v any) tftypes.Value {
	switch v := v.(type) {
	case nil:
		return tftypes.NewValue(t, nil)
	case Unknown:
		return tftypes.NewValue(t, tftypes.UnknownValue)
	case int:
		return tftypes.NewValue(t, big.NewFloat(float64(v)))
	case string, bool:
		return tftypes.NewValue(t, v)
	case []any:
		return list(t, v)
	case Map:
		return mapping(t, v)
	default:
		panic(fmt.Sprintf("no Terraform value is made of %T", v))
	}
}

func list(t tftypes.Type, v []any) tftypes.Value {
	var element tftypes.Type

	switch t := t.(type) {
	case tftypes.List:
		element = t.ElementType
	case tftypes.Set:
		element = t.ElementType
	default:
		panic(fmt.Sprintf("%s is no list", t))
	}

	all := make([]tftypes.Value, 0, len(v))
	for _, one := range v {
		all = append(all, Value(element, one))
	}

	return tftypes.NewValue(t, all)
}

func mapping(t tftypes.Type, v Map) tftypes.Value {
	all := make(map[string]tftypes.Value, len(v))

	switch t := t.(type) {
	case tftypes.Map:
		for key, one := range v {
			all[key] = Value(t.ElementType, one)
		}
	case tftypes.Object:
		for key := range v {
			if _, known := t.AttributeTypes[key]; !known {
				panic(fmt.Sprintf("there is no attribute %q", key))
			}
		}

		for key, attribute := range t.AttributeTypes {
			all[key] = Value(attribute, v[key])
		}
	default:
		panic(fmt.Sprintf("%s is no map and no object", t))
	}

	return tftypes.NewValue(t, all)
}

// Plain turns a Terraform value back into what [Value] takes; numbers become int64.
func Plain(v tftypes.Value) any {
	switch {
	case v.IsNull():
		return nil
	case !v.IsKnown():
		return Unknown{}
	}

	var (
		s   string
		b   bool
		n   *big.Float
		all []tftypes.Value
		m   map[string]tftypes.Value
	)

	switch {
	case v.As(&s) == nil:
		return s
	case v.As(&b) == nil:
		return b
	case v.As(&n) == nil:
		i, _ := n.Int64()

		return i
	case v.As(&all) == nil:
		out := make([]any, 0, len(all))
		for _, one := range all {
			out = append(out, Plain(one))
		}

		return out
	case v.As(&m) == nil:
		out := make(Map, len(m))
		for key, one := range m {
			out[key] = Plain(one)
		}

		return out
	default:
		panic("a value of an unknown kind")
	}
}
