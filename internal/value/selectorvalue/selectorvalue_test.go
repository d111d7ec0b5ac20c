// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package selectorvalue_test

import (
	"context"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/selectorvalue"
)

type values = map[string]attr.Value

func text(s string) types.String { return types.StringValue(s) }

// object is an object of whatever it holds.
func object(m values) types.Object {
	kinds := map[string]attr.Type{}
	for name, v := range m {
		kinds[name] = v.Type(context.Background())
	}

	return types.ObjectValueMust(kinds, m)
}

func tuple(all ...attr.Value) types.Tuple {
	kinds := make([]attr.Type, 0, len(all))
	for _, v := range all {
		kinds = append(kinds, v.Type(context.Background()))
	}

	return types.TupleValueMust(kinds, all)
}

func texts(all ...attr.Value) types.Set { return types.SetValueMust(types.StringType, all) }

func TestRead(t *testing.T) {
	t.Parallel()

	label := map[string]string{"rack": "r1"}
	none := object(values{"match_labels": types.MapNull(types.StringType), "match_expressions": types.ListNull(types.StringType)})

	for name, c := range map[string]struct {
		from attr.Value
		want choose.Selector
	}{
		"nothing":            {types.ObjectNull(nil), choose.Selector{}},
		"no value at all":    {nil, choose.Selector{}},
		"parts that are not": {none, choose.Selector{MatchLabels: map[string]string{}}},
		"labels as a map":    {object(values{"match_labels": types.MapValueMust(types.StringType, values{"rack": text("r1")})}), choose.Selector{MatchLabels: label}},
		"labels as an object": {
			object(values{"match_labels": object(values{"rack": text("r1")})}), choose.Selector{MatchLabels: label},
		},
		"behind a type that is not known": {
			types.DynamicValue(object(values{"match_labels": types.DynamicValue(object(values{"rack": text("r1")}))})), choose.Selector{MatchLabels: label},
		},
		"numbers and truth": {
			object(values{"match_labels": object(values{"a": types.NumberValue(big.NewFloat(7)), "b": types.BoolValue(true)})}),
			choose.Selector{MatchLabels: map[string]string{"a": "7", "b": "true"}},
		},
		"an expression": {
			object(values{"match_expressions": tuple(object(values{"key": text("a"), "operator": text("In"), "values": texts(text("1"), text("2"))}))}),
			choose.Selector{MatchExpressions: []choose.Expression{{Key: "a", Operator: "In", Values: []string{"1", "2"}}}},
		},
		"an expression without values": {
			object(values{"match_expressions": tuple(object(values{"key": text("a"), "operator": text("!"), "values": types.SetNull(types.StringType)}))}),
			choose.Selector{MatchExpressions: []choose.Expression{{Key: "a", Operator: "!"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := selectorvalue.Read(c.from)

			if len(got.MatchLabels) == 0 && len(c.want.MatchLabels) == 0 {
				got.MatchLabels, c.want.MatchLabels = nil, nil
			}

			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestRead_refuses(t *testing.T) {
	t.Parallel()

	key, operator := text("a"), text("In")
	expressions := func(all ...attr.Value) attr.Value { return object(values{"match_expressions": tuple(all...)}) }

	for name, c := range map[string]struct {
		from attr.Value
		says string
	}{
		"a text":                     {text("x"), "the selector must be an object"},
		"one that is not known":      {types.ObjectUnknown(nil), "the selector is not known yet"},
		"labels that are not known":  {object(values{"match_labels": types.MapUnknown(types.StringType)}), "match_labels is not known yet"},
		"a label that is not known":  {object(values{"match_labels": object(values{"rack": types.StringUnknown()})}), `match_labels["rack"] is not known yet`},
		"a label that is null":       {object(values{"match_labels": object(values{"rack": types.StringNull()})}), `match_labels["rack"] is null`},
		"another part":               {object(values{"labels": text("x")}), `a part "labels"`},
		"labels as a list":           {object(values{"match_labels": tuple(text("x"))}), "match_labels must be an object"},
		"expressions as an object":   {object(values{"match_expressions": object(values{})}), "match_expressions must be a list"},
		"a key that is not known":    {expressions(object(values{"key": types.StringUnknown(), "operator": operator})), "match_expressions[0].key is not known yet"},
		"the second key is null":     {expressions(object(values{"key": key, "operator": text("!")}), object(values{"key": types.StringNull(), "operator": operator})), "match_expressions[1].key is null"},
		"a value that is not known":  {expressions(object(values{"key": key, "operator": operator, "values": texts(types.StringUnknown())})), "values[0] is not known yet"},
		"values that are not known":  {expressions(object(values{"key": key, "operator": operator, "values": types.SetUnknown(types.StringType)})), "values is not known yet"},
		"another part of expression": {expressions(object(values{"name": key})), "match_expressions[0].name is no part of an expression"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := selectorvalue.Read(c.from)
			if err == nil || !strings.Contains(err.Error(), c.says) || !reflect.DeepEqual(got, choose.Selector{}) {
				t.Errorf("got %+v, %v, want %q", got, err, c.says)
			}
		})
	}
}
