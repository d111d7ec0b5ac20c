// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value_test

import (
	"errors"
	"math/big"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

func objectOf(t *testing.T, all map[string]attr.Value) types.Object {
	t.Helper()

	kinds := map[string]attr.Type{}
	for name, v := range all {
		kinds[name] = v.Type(t.Context())
	}

	return types.ObjectValueMust(kinds, all)
}

func TestPlainJSON(t *testing.T) {
	t.Parallel()

	text := types.StringValue("x")
	precise, _, _ := big.ParseFloat("0.1", 10, 512, big.ToNearestEven)

	for name, c := range map[string]struct {
		v    attr.Value
		want string
	}{
		"a text":                       {text, `"x"`},
		"a text of a type of its own":  {value.NewMAC("02:00:00:00:00:01"), `"02:00:00:00:00:01"`},
		"a document is itself":         {types.StringValue(`{"a": 1}`), `{"a": 1}`},
		"a number":                     {types.NumberValue(big.NewFloat(24)), `24`},
		"a fraction":                   {types.NumberValue(precise), `0.1`},
		"a whole number":               {types.Int64Value(-7), `-7`},
		"a truth value":                {types.BoolValue(true), `true`},
		"null":                         {types.StringNull(), `null`},
		"what hides its type":          {types.DynamicValue(text), `"x"`},
		"null that hides its type":     {types.DynamicNull(), `null`},
		"an object leaves nulls out":   {objectOf(t, map[string]attr.Value{"a": text, "b": types.StringNull()}), `{"a":"x"}`},
		"a map keeps them":             {types.MapValueMust(types.StringType, map[string]attr.Value{"a": types.StringNull()}), `{"a":null}`},
		"a list":                       {types.ListValueMust(types.StringType, []attr.Value{text, types.StringNull()}), `["x",null]`},
		"a set":                        {types.SetValueMust(types.StringType, []attr.Value{text}), `["x"]`},
		"a tuple with what is in it":   {types.TupleValueMust([]attr.Type{types.BoolType, types.DynamicType}, []attr.Value{types.BoolValue(false), types.DynamicValue(text)}), `[false,"x"]`},
		"an empty list is not nothing": {types.ListValueMust(types.StringType, []attr.Value{}), `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got, err := value.PlainJSON(c.v); err != nil || string(got) != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}

	for name, v := range map[string]attr.Value{
		"a text":               types.StringUnknown(),
		"what hides its type":  types.DynamicUnknown(),
		"hidden":               types.DynamicValue(types.StringUnknown()),
		"deep in an object":    objectOf(t, map[string]attr.Value{"a": types.ListValueMust(types.StringType, []attr.Value{types.StringUnknown()})}),
		"in a map":             types.MapValueMust(types.StringType, map[string]attr.Value{"a": types.StringUnknown()}),
		"a list that is to be": types.ListUnknown(types.StringType),
	} {
		if got, err := value.PlainJSON(v); !errors.Is(err, value.ErrUnknown) {
			t.Errorf("%s that is not known is %s, %v", name, got, err)
		}
	}

	if _, err := value.PlainJSON(types.Float64Value(1)); err == nil {
		t.Error("a type that no attribute of ours has was taken")
	}
}
