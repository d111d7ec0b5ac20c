// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// SemanticString is a value of which several spellings mean the same.
type SemanticString interface {
	attr.Value
	SameMeaning(other string) bool
}

// KeepSpelling plans the spelling in the state where the configuration means the same.
//
// The framework compares meanings when a verb answers, but not when it plans: without this,
// another spelling of the same value would show as an update of nothing.
func KeepSpelling(of SemanticString) planmodifier.String { return keepSpelling{of} }

type keepSpelling struct{ of SemanticString }

func (k keepSpelling) Description(context.Context) string {
	return "another spelling of the same value is no change"
}

func (k keepSpelling) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (k keepSpelling) PlanModifyString(ctx context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.StateValue.IsNull() || req.PlanValue.IsNull() || req.PlanValue.IsUnknown() {
		return
	}

	planned, err := k.typed(ctx, req.PlanValue)
	if err != nil {
		return // the value is refused elsewhere, in words
	}

	if planned.SameMeaning(req.StateValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}

func (k keepSpelling) typed(ctx context.Context, v basetypes.StringValue) (SemanticString, error) {
	typable, ok := k.of.Type(ctx).(basetypes.StringTypable)
	if !ok {
		return nil, fmt.Errorf("%s holds no string", k.of.Type(ctx))
	}

	typed, diags := typable.ValueFromString(ctx, v)
	if diags.HasError() {
		return nil, fmt.Errorf("%s: %s", diags[0].Summary(), diags[0].Detail())
	}

	semantic, ok := typed.(SemanticString)
	if !ok {
		return nil, fmt.Errorf("%s has one spelling only", k.of.Type(ctx))
	}

	return semantic, nil
}

func stringFromTerraform(ctx context.Context, in tftypes.Value) (basetypes.StringValue, error) {
	v, err := basetypes.StringType{}.ValueFromTerraform(ctx, in)
	if err != nil {
		return basetypes.StringValue{}, fmt.Errorf("read a string: %w", err)
	}

	s, ok := v.(basetypes.StringValue)
	if !ok {
		return basetypes.StringValue{}, fmt.Errorf("read a string: got %T", v)
	}

	return s, nil
}

// Sentence makes an error readable as the detail of a diagnostic. The name of an attribute at its
// beginning stays as it is spelled.
func Sentence(err error) string {
	text := strings.TrimSpace(err.Error())
	if text == "" {
		return text
	}

	if word, _, _ := strings.Cut(text, " "); !strings.ContainsAny(word, "_[") {
		first, size := utf8.DecodeRuneInString(text)
		text = string(unicode.ToUpper(first)) + text[size:]
	}

	if strings.HasSuffix(text, ".") {
		return text
	}

	return text + "."
}
