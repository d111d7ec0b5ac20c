// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package selectorvalue

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Attribute is a selector that users may write in a data source.
func Attribute(about string) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true, Validators: []validator.Object{valid{}},
		MarkdownDescription: about + " " + Terms,
		Attributes: map[string]schema.Attribute{
			"match_labels": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: MatchLabels,
			},
			"match_expressions": schema.ListNestedAttribute{
				Optional:            true,
				MarkdownDescription: MatchExpressions,
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"key":      schema.StringAttribute{Optional: true, MarkdownDescription: Key},
					"operator": schema.StringAttribute{Optional: true, MarkdownDescription: Operators + " Required."},
					"values": schema.SetAttribute{
						Optional: true, ElementType: types.StringType, Validators: []validator.Set{setvalidator.NoNullValues()},
						MarkdownDescription: Values,
					},
				}},
			},
		},
	}
}

// What a selector and its parts are, for the schemas that have one. Key and operator are optional in
// them, and missed by [Read]: the framework misses what is required also where a whole expression is
// not known yet.
const (
	Terms = "All terms must match. Besides the host's `labels` there are `" + choose.LabelName + "`, `" + choose.LabelUUID + "`, `" + choose.LabelArch + "`, `" +
		choose.LabelResourceClass + "`, `" + choose.LabelFailureDomain + "` and `" + choose.LabelTraitPrefix + "TRAIT` (\"true\")."
	MatchLabels      = "Labels and the values that they must have."
	MatchExpressions = "Other terms."
	Key              = "Name of a label. Required."
	Operators        = "`In`, `NotIn`, `=`, `==`, `!=`, `Exists`, `DoesNotExist` (or `!`), `Gt` or `Lt`, in upper or lower case. " +
		"`NotIn` and `!=` let hosts without the label through; `Gt` and `Lt` compare whole numbers."
	Values = "What the label is compared with: some values for `In` and `NotIn`, one for the other comparisons, none for `Exists` and `DoesNotExist`."
)

// valid refuses selectors that could never work.
type valid struct{}

func (valid) Description(context.Context) string               { return "a selector that can match something" }
func (v valid) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (valid) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if value.HasUnknown(req.ConfigValue) {
		return
	}

	selector, err := Read(req.ConfigValue)
	if err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid selector", value.Sentence(err))

		return
	}

	for _, err := range selector.Validate() {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid selector", value.Sentence(err))
	}
}
