// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package selectorvalue is a selector of hosts in the framework's words: read from an
// attribute, or from whatever object a function is given, and its attribute in data sources.
package selectorvalue

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
)

// Read reads a selector: an object, or a map, with match_labels and match_expressions. Null
// is the selector that matches everything. Its error says what has another form; what
// has a wrong content is for [choose.Selector.Validate].
func Read(v attr.Value) (choose.Selector, error) {
	var s choose.Selector

	parts, err := object(v, "the selector")
	if err != nil {
		return s, err
	}

	for _, name := range slices.Sorted(maps.Keys(parts)) {
		switch name {
		case "match_labels":
			s.MatchLabels, err = texts(parts[name], name)
		case "match_expressions":
			s.MatchExpressions, err = expressions(parts[name])
		default:
			err = fmt.Errorf("the selector has a part %q, and may have match_labels and match_expressions", name)
		}

		if err != nil {
			return choose.Selector{}, err
		}
	}

	return s, nil
}

func expressions(v attr.Value) ([]choose.Expression, error) {
	all, err := members(v, "match_expressions")
	if err != nil {
		return nil, err
	}

	var out []choose.Expression

	for i, one := range all {
		e, err := expression(one, fmt.Sprintf("match_expressions[%d]", i))
		if err != nil {
			return nil, err
		}

		out = append(out, e)
	}

	return out, nil
}

func expression(v attr.Value, where string) (choose.Expression, error) {
	var e choose.Expression

	parts, err := object(v, where)
	if err != nil {
		return e, err
	}

	for _, name := range slices.Sorted(maps.Keys(parts)) {
		at := where + "." + name

		switch name {
		case "key":
			e.Key, err = text(parts[name], at)
		case "operator":
			e.Operator, err = text(parts[name], at)
		case "values":
			e.Values, err = textList(parts[name], at)
		default:
			err = fmt.Errorf("%s is no part of an expression; there are key, operator and values", at)
		}

		if err != nil {
			return e, err
		}
	}

	return e, nil
}

// plain takes a value out of what hides its type; nil is null.
func plain(v attr.Value, where string) (attr.Value, error) {
	if d, ok := v.(types.Dynamic); ok {
		v = d.UnderlyingValue()
	}

	switch {
	case v == nil || v.IsNull():
		return nil, nil //nolint:nilnil // null is no error
	case v.IsUnknown():
		return nil, fmt.Errorf("%s is not known yet", where)
	default:
		return v, nil
	}
}

func object(v attr.Value, where string) (map[string]attr.Value, error) {
	v, err := plain(v, where)
	if v == nil || err != nil {
		return nil, err
	}

	switch v := v.(type) {
	case types.Object:
		return v.Attributes(), nil
	case types.Map:
		return v.Elements(), nil
	default:
		return nil, fmt.Errorf("%s must be an object", where)
	}
}

func members(v attr.Value, where string) ([]attr.Value, error) {
	v, err := plain(v, where)
	if v == nil || err != nil {
		return nil, err
	}

	switch v := v.(type) {
	case types.List:
		return v.Elements(), nil
	case types.Set:
		return v.Elements(), nil
	case types.Tuple:
		return v.Elements(), nil
	default:
		return nil, fmt.Errorf("%s must be a list", where)
	}
}

func texts(v attr.Value, where string) (map[string]string, error) {
	parts, err := object(v, where)
	if err != nil {
		return nil, err
	}

	out := make(map[string]string, len(parts))

	for _, key := range slices.Sorted(maps.Keys(parts)) {
		if out[key], err = text(parts[key], fmt.Sprintf("%s[%q]", where, key)); err != nil {
			return nil, err
		}
	}

	return out, nil
}

func textList(v attr.Value, where string) ([]string, error) {
	all, err := members(v, where)
	if err != nil {
		return nil, err
	}

	var out []string

	for i, one := range all {
		s, err := text(one, fmt.Sprintf("%s[%d]", where, i))
		if err != nil {
			return nil, err
		}

		out = append(out, s)
	}

	return out, nil
}

// text reads a text; numbers and truth values become texts as Terraform makes them.
func text(v attr.Value, where string) (string, error) {
	v, err := plain(v, where)
	if err != nil {
		return "", err
	}

	switch v := v.(type) {
	case nil:
		return "", fmt.Errorf("%s is null, and must be a text", where)
	case types.String:
		return v.ValueString(), nil
	case types.Bool:
		return strconv.FormatBool(v.ValueBool()), nil
	case types.Number:
		return v.ValueBigFloat().Text('f', -1), nil
	default:
		return "", fmt.Errorf("%s must be a text", where)
	}
}
