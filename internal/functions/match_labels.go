// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/selectorvalue"
)

// matchLabels is the function match_labels.
type matchLabels struct{}

// NewMatchLabels returns the function match_labels.
func NewMatchLabels() function.Function { return matchLabels{} }

// Metadata names the function.
func (matchLabels) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "match_labels"
}

// Definition describes the function.
func (matchLabels) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Hold a selector against labels",
		MarkdownDescription: "Returns whether all terms of a selector match some labels, by the rules by which a cluster chooses its hosts (`host_selector`). " +
			"A selector that the cluster would refuse is an error here too, with everything that is wrong with it.",
		Parameters: []function.Parameter{
			function.DynamicParameter{
				Name: "selector", AllowNullValue: true,
				MarkdownDescription: "An object with `match_labels` (labels and their values) and `match_expressions` (a list of `key`, `operator` and `values`); both may be left out. " +
					"Without terms, or where it is null, it matches everything. Operators: " + selectorvalue.Operators,
			},
			function.MapParameter{
				Name: "labels", ElementType: types.StringType, AllowNullValue: true,
				MarkdownDescription: "The labels. Null is none; a label whose value is null does not count.",
			},
		},
		Return: function.BoolReturn{},
	}
}

// Run calls the function.
func (matchLabels) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var (
		given  types.Dynamic
		labels types.Map
	)

	if resp.Error = req.Arguments.Get(ctx, &given, &labels); resp.Error != nil {
		return
	}

	selector, err := selectorvalue.Read(given)
	if err == nil {
		err = errors.Join(selector.Validate()...)
	}

	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, err.Error())

		return
	}

	resp.Error = resp.Result.Set(ctx, selector.Matches(value.GoMap(labels)))
}
