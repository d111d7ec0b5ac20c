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

// Value makes a Terraform value of a type out of nil, Unknown, a string, bool, int, float64, Map or
// []any. It panics where the two do not go together: that is a mistake in a test.
func Value(t tftypes.Type, v any) tftypes.Value {
	if t.Is(tftypes.DynamicPseudoType) && v != nil {
		t = guess(v)
	}

	switch v := v.(type) {
	case nil:
		return tftypes.NewValue(t, nil)
	case Unknown:
		return tftypes.NewValue(t, tftypes.UnknownValue)
	case int:
		return tftypes.NewValue(t, big.NewFloat(float64(v)))
	case float64:
		return tftypes.NewValue(t, big.NewFloat(v))
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

// guess is the type that Terraform gives a value where the schema leaves it open.
func guess(v any) tftypes.Type {
	switch v := v.(type) {
	case Map:
		all := make(map[string]tftypes.Type, len(v))
		for key, one := range v {
			all[key] = guess(one)
		}

		return tftypes.Object{AttributeTypes: all}
	case []any:
		all := make([]tftypes.Type, 0, len(v))
		for _, one := range v {
			all = append(all, guess(one))
		}

		return tftypes.Tuple{ElementTypes: all}
	case string:
		return tftypes.String
	case bool:
		return tftypes.Bool
	case int, float64:
		return tftypes.Number
	default:
		return tftypes.DynamicPseudoType
	}
}

func list(t tftypes.Type, v []any) tftypes.Value {
	var element tftypes.Type

	switch t := t.(type) {
	case tftypes.List:
		element = t.ElementType
	case tftypes.Set:
		element = t.ElementType
	case tftypes.Tuple:
		element = tftypes.DynamicPseudoType
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

// Plain turns a Terraform value back into what [Value] takes; numbers become int64, or
// float64 where they have a fraction.
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
		if i, accuracy := n.Int64(); accuracy == big.Exact {
			return i
		}

		f, _ := n.Float64()

		return f
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
