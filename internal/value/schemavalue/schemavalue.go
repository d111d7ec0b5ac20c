// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package schemavalue makes attributes of resources in the forms that many of them have:
// texts, choices, flags and numbers with their defaults, and sections.
package schemavalue

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Text is a string that may be left out, and is not empty.
func Text(description string, checks ...validator.String) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, MarkdownDescription: description, Validators: append([]validator.String{stringvalidator.LengthAtLeast(1)}, checks...),
	}
}

// Secret is a Text that is kept out of what people see.
func Secret(description string, checks ...validator.String) schema.StringAttribute {
	a := Text(description, checks...)
	a.Sensitive = true

	return a
}

// WriteOnly is a Secret that is never stored.
func WriteOnly(description string, checks ...validator.String) schema.StringAttribute {
	a := Secret(description, checks...)
	a.WriteOnly = true

	return a
}

// TextOr is a string with a default.
func TextOr(otherwise, description string, checks ...validator.String) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(otherwise), MarkdownDescription: description, Validators: checks,
	}
}

// Choice is one of some words; the first argument is the default.
func Choice(otherwise, description string, values ...string) schema.StringAttribute {
	return TextOr(otherwise, description, stringvalidator.OneOf(values...))
}

// ChoiceOrNone is one of some words, or left out.
func ChoiceOrNone(description string, values ...string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description, Validators: []validator.String{stringvalidator.OneOf(values...)}}
}

// Flag is a truth with a default.
func Flag(otherwise bool, description string) schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(otherwise), MarkdownDescription: description}
}

// Number is a number with a default, between two others.
func Number(otherwise, lowest, highest int64, description string) schema.Int64Attribute {
	return schema.Int64Attribute{
		Optional: true, Computed: true, Default: int64default.StaticInt64(otherwise), MarkdownDescription: description,
		Validators: []validator.Int64{int64validator.Between(lowest, highest)},
	}
}

// NumberOrNone is a number between two others, or left out.
func NumberOrNone(lowest, highest int64, description string) schema.Int64Attribute {
	return schema.Int64Attribute{
		Optional: true, MarkdownDescription: description, Validators: []validator.Int64{int64validator.Between(lowest, highest)},
	}
}

// Duration is a duration with a default.
func Duration(otherwise, description string) schema.StringAttribute {
	return TextOr(otherwise, description, value.Duration())
}

// DurationOrNone is a duration, or left out.
func DurationOrNone(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description, Validators: []validator.String{value.Duration()}}
}

// Texts is a list of strings that may be left out.
func Texts(description string, checks ...validator.List) schema.ListAttribute {
	return schema.ListAttribute{
		Optional: true, ElementType: types.StringType, MarkdownDescription: description, Validators: append([]validator.List{listvalidator.NoNullValues()}, checks...),
	}
}

// TextMap is a map of strings that may be left out.
func TextMap(description string, checks ...validator.Map) schema.MapAttribute {
	return schema.MapAttribute{
		Optional: true, ElementType: types.StringType, MarkdownDescription: description, Validators: append([]validator.Map{mapvalidator.NoNullValues()}, checks...),
	}
}

// Said is a string that the far side tells.
func Said(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// Shown is a truth that the far side tells.
func Shown(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
}

// Counted is a number that the far side tells.
func Counted(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
}

// Types are the types of attributes.
func Types(all map[string]schema.Attribute) map[string]attr.Type {
	out := make(map[string]attr.Type, len(all))
	for name, a := range all {
		out[name] = a.GetType()
	}

	return out
}

// ObjectType is the type of an object with some attributes.
func ObjectType(parts map[string]schema.Attribute) types.ObjectType {
	return types.ObjectType{AttrTypes: Types(parts)}
}
