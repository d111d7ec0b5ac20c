// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ErrUnknown says that a value is not known yet.
var ErrUnknown = errors.New("a value is not known yet")

// Plain returns a value as encoding/json would read it: objects and maps are map[string]any, lists,
// sets and tuples []any, numbers json.Number. Attributes of objects that are null are left out.
func Plain(v attr.Value) (any, error) {
	if d, ok := v.(types.Dynamic); ok {
		if d.IsUnknown() {
			return nil, ErrUnknown
		}

		v = d.UnderlyingValue()
	}

	switch {
	case v == nil || v.IsNull():
		return nil, nil //nolint:nilnil // null is nil
	case v.IsUnknown():
		return nil, ErrUnknown
	}

	switch v := v.(type) {
	case interface{ Attributes() map[string]attr.Value }:
		return plainMap(v.Attributes(), false)
	case interface{ Elements() map[string]attr.Value }:
		return plainMap(v.Elements(), true)
	case interface{ Elements() []attr.Value }:
		out := make([]any, 0, len(v.Elements()))

		for _, one := range v.Elements() {
			plain, err := Plain(one)
			if err != nil {
				return nil, err
			}

			out = append(out, plain)
		}

		return out, nil
	case types.Bool:
		return v.ValueBool(), nil
	case types.Int64:
		return json.Number(v.String()), nil
	case types.Number:
		return json.Number(v.ValueBigFloat().Text('f', -1)), nil
	case interface{ ValueString() string }:
		return v.ValueString(), nil
	}

	return nil, fmt.Errorf("a value of type %T has no plain form", v)
}

func plainMap(all map[string]attr.Value, nulls bool) (any, error) {
	out := make(map[string]any, len(all))

	for key, one := range all {
		plain, err := Plain(one)
		if err != nil {
			return nil, err
		}

		if plain != nil || nulls {
			out[key] = plain
		}
	}

	return out, nil
}

// PlainJSON is [Plain] as a JSON document. A string that holds JSON already is that document.
func PlainJSON(v attr.Value) ([]byte, error) {
	plain, err := Plain(v)
	if err != nil {
		return nil, err
	}

	if text, ok := plain.(string); ok && json.Valid([]byte(text)) {
		return []byte(text), nil
	}

	document, err := json.Marshal(plain)
	if err != nil {
		return nil, fmt.Errorf("a value has no JSON form: %w", err)
	}

	return document, nil
}
