// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package functions_test

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/functions"
)

// dynamic makes of a Go value what Terraform makes of the same in HCL: objects and tuples.
func dynamic(ctx context.Context, v any) attr.Value {
	switch v := v.(type) {
	case nil:
		return types.StringNull()
	case string:
		return types.StringValue(v)
	case bool:
		return types.BoolValue(v)
	case int:
		return types.NumberValue(big.NewFloat(float64(v)))
	case []any:
		kinds, values := []attr.Type{}, []attr.Value{}

		for _, one := range v {
			made := dynamic(ctx, one)
			kinds, values = append(kinds, made.Type(ctx)), append(values, made)
		}

		return types.TupleValueMust(kinds, values)
	case map[string]any:
		kinds, values := map[string]attr.Type{}, map[string]attr.Value{}

		for key, one := range v {
			values[key] = dynamic(ctx, one)
			kinds[key] = values[key].Type(ctx)
		}

		return types.ObjectValueMust(kinds, values)
	default:
		panic("no such value")
	}
}

func match(t *testing.T, selector any, labels types.Map) (bool, *function.FuncError) {
	t.Helper()

	resp := function.RunResponse{Result: function.NewResultData(types.BoolUnknown())}
	functions.NewMatchLabels().Run(t.Context(), function.RunRequest{
		Arguments: function.NewArgumentsData([]attr.Value{types.DynamicValue(dynamic(t.Context(), selector)), labels}),
	}, &resp)

	result, ok := resp.Result.Value().(types.Bool)
	if resp.Error == nil && (!ok || result.IsUnknown()) {
		t.Fatalf("the result is %v", resp.Result.Value())
	}

	return result.ValueBool(), resp.Error
}

func TestMatchLabels(t *testing.T) {
	t.Parallel()

	type block = map[string]any

	labels := types.MapValueMust(types.StringType, map[string]attr.Value{
		"rack": types.StringValue("r1"), "units": types.StringValue("4"), "gpu": types.StringValue("true"), "none": types.StringNull(),
	})
	expressions := func(all ...any) block { return block{"match_expressions": all} }

	for name, c := range map[string]struct {
		selector any
		want     bool
	}{
		"null matches everything":             {nil, true},
		"an empty object matches everything":  {block{}, true},
		"parts that are null":                 {block{"match_labels": nil, "match_expressions": nil}, true},
		"a label":                             {block{"match_labels": block{"rack": "r1"}}, true},
		"another label":                       {block{"match_labels": block{"rack": "r2"}}, false},
		"numbers and truth values are texts":  {block{"match_labels": block{"units": 4, "gpu": true}}, true},
		"an expression":                       {expressions(block{"key": "rack", "operator": "In", "values": []any{"r2", "r1"}}), true},
		"an expression over a number":         {expressions(block{"key": "units", "operator": "gt", "values": []any{4}}), false},
		"expressions of two forms":            {expressions(block{"key": "rack", "operator": "exists"}, block{"key": "row", "operator": "!", "values": nil}), true},
		"a label that is null is none":        {expressions(block{"key": "none", "operator": "Exists"}), false},
		"terms of both kinds must both match": {block{"match_labels": block{"rack": "r1"}, "match_expressions": []any{block{"key": "rack", "operator": "!"}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := match(t, c.selector, labels)
			if err != nil || got != c.want {
				t.Errorf("got %v, error %v", got, err)
			}
		})
	}

	if got, err := match(t, block{"match_labels": block{"rack": "r1"}}, types.MapNull(types.StringType)); err != nil || got {
		t.Errorf("labels that are null match: %v, error %v", got, err)
	}
}

func TestMatchLabels_refusals(t *testing.T) {
	t.Parallel()

	type block = map[string]any

	for want, selector := range map[string]any{
		"must be an object":                        "rack=r1",
		`a part "matchLabels"`:                     block{"matchLabels": block{}},
		"match_labels must be an object":           block{"match_labels": []any{"rack"}},
		`match_labels["rack"] is null`:             block{"match_labels": block{"rack": nil}},
		`match_labels["rack"] must be a text`:      block{"match_labels": block{"rack": []any{}}},
		"match_expressions must be a list":         block{"match_expressions": block{}},
		"match_expressions[0] must be an object":   block{"match_expressions": []any{"rack"}},
		"match_expressions[0].name is no part":     block{"match_expressions": []any{block{"name": "rack"}}},
		"match_expressions[0].values must be a":    block{"match_expressions": []any{block{"key": "rack", "operator": "in", "values": "r1"}}},
		"match_expressions[0].values[1] is null":   block{"match_expressions": []any{block{"key": "rack", "operator": "in", "values": []any{"r1", nil}}}},
		"match_expressions[0].operator is null":    block{"match_expressions": []any{block{"key": "rack", "operator": nil}}},
		"match_expressions[1]: the operator In of": block{"match_expressions": []any{block{"key": "a", "operator": "?"}, block{"key": "b", "operator": "In"}}},
	} {
		_, err := match(t, selector, types.MapNull(types.StringType))
		checkError(t, err, want)
	}

	_, err := match(t, block{"match_expressions": []any{block{"key": "a", "operator": "?"}, block{"key": "b", "operator": "In"}}}, types.MapNull(types.StringType))
	if err == nil || !strings.Contains(err.Text, `operator "?"`) {
		t.Errorf("the first of two faults is not told: %v", err)
	}
}
