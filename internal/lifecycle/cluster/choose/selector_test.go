// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
)

type labels = map[string]string

func expr(key, operator string, values ...string) choose.Selector {
	return choose.Selector{MatchExpressions: []choose.Expression{{Key: key, Operator: operator, Values: values}}}
}

// TestOCL02_selectorExpressions holds hosts with the label, with an empty one, without it and
// without any labels against each operator.
func TestOCL02_selectorExpressions(t *testing.T) {
	t.Parallel()

	hosts := []labels{{"a": "1"}, {"a": ""}, {}, nil}

	for name, c := range map[string]struct {
		selector choose.Selector
		matches  string // one letter a host: y or n
	}{
		"In":                           {expr("a", "In", "1"), "ynnn"},
		"in, in lower case":            {expr("a", "in", "1"), "ynnn"},
		"In with an empty value":       {expr("a", "In", ""), "nynn"},
		"In with two values":           {expr("a", "IN", "2", "1"), "ynnn"},
		"=":                            {expr("a", "=", "1"), "ynnn"},
		"==":                           {expr("a", "==", "1"), "ynnn"},
		"NotIn holds without the key":  {expr("a", "NotIn", "1"), "nyyy"},
		"notin with an empty value":    {expr("a", "notin", ""), "ynyy"},
		"!= holds without the key":     {expr("a", "!=", "1"), "nyyy"},
		"Exists with an empty value":   {expr("a", "Exists"), "yynn"},
		"!":                            {expr("a", "!"), "nnyy"},
		"DoesNotExist":                 {expr("a", "DoesNotExist"), "nnyy"},
		"does_not_exist":               {expr("a", "does_not_exist"), "nnyy"},
		"Gt":                           {expr("a", "Gt", "0"), "ynnn"},
		"gt is no >=":                  {expr("a", "gt", "1"), "nnnn"},
		"lt":                           {expr("a", "lt", "2"), "ynnn"},
		"nothing":                      {choose.Selector{}, "yyyy"},
		"empty collections":            {choose.Selector{MatchLabels: labels{}, MatchExpressions: []choose.Expression{}}, "yyyy"},
		"a label":                      {choose.Selector{MatchLabels: labels{"a": "1"}}, "ynnn"},
		"an empty label must be there": {choose.Selector{MatchLabels: labels{"a": ""}}, "nynn"},
		"all terms must match":         {choose.Selector{MatchLabels: labels{"a": "1"}, MatchExpressions: expr("b", "exists").MatchExpressions}, "nnnn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if wrong := c.selector.Validate(); len(wrong) > 0 {
				t.Errorf("refused: %v", wrong)
			}

			for i, h := range hosts {
				want := c.matches[i] == 'y'
				if got := c.selector.Matches(h); got != want {
					t.Errorf("host %d: %v, want %v", i, got, want)
				}

				if why := c.selector.Why(h); (why == "") != want {
					t.Errorf("host %d: matches is %v and why is %q", i, want, why)
				}
			}
		})
	}
}

func TestOCL02_selectorsThatAreRefused(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		selector choose.Selector
		says     string
	}{
		"In without values":      {expr("a", "In"), "at least one value"},
		"NotIn without values":   {expr("a", "NotIn"), "at least one value"},
		"= without a value":      {expr("a", "="), "exactly one value, not 0"},
		"!= with two values":     {expr("a", "!=", "1", "2"), "exactly one value, not 2"},
		"gt with a word":         {expr("a", "gt", "many"), `"many" is none`},
		"lt with two values":     {expr("a", "lt", "1", "2"), "exactly one value"},
		"exists with a value":    {expr("a", "exists", "1"), "takes no values"},
		"! with a value":         {expr("a", "!", "1"), "takes no values"},
		"an empty key":           {expr("", "exists"), "key is empty"},
		"an empty label":         {choose.Selector{MatchLabels: labels{"": "1"}}, "match_labels: the key is empty"},
		"a key with a space":     {choose.Selector{MatchLabels: labels{"rack ": "1"}}, "space"},
		"an operator of nowhere": {expr("a", "like", "1"), `"like"`},
		"no operator":            {expr("a", "", "1"), "is not known; there are in, notin"},
	} {
		t.Run(name+" is refused and matches nothing", func(t *testing.T) {
			t.Parallel()

			wrong := c.selector.Validate()
			if len(wrong) != 1 || !strings.Contains(wrong[0].Error(), c.says) {
				t.Errorf("got %v, want one error with %q", wrong, c.says)
			}

			for _, h := range []labels{nil, {"b": ""}} {
				if c.selector.Matches(h) || c.selector.Why(h) == "" {
					t.Errorf("matches %v", h)
				}
			}
		})
	}

	t.Run("everything wrong is told at once", func(t *testing.T) {
		t.Parallel()

		s := choose.Selector{MatchLabels: labels{"": "x"}, MatchExpressions: []choose.Expression{{Operator: "in"}, {Key: "a", Operator: "?"}}}
		if wrong := s.Validate(); len(wrong) != 4 || !strings.HasPrefix(wrong[3].Error(), "match_expressions[1]: ") {
			t.Errorf("got %v", wrong)
		}
	})
}

func TestSelector_Why(t *testing.T) {
	t.Parallel()

	for want, s := range map[string]choose.Selector{
		`it has no label row (wanted is "x")`:                                     {MatchLabels: labels{"rack": "r1", "row": "x"}},
		`its label rack is "r1", not "r2"`:                                        expr("rack", "=", "r2"),
		`its label rack is "r1", not one of "r2", "r3"`:                           expr("rack", "in", "r2", "r3"),
		`its label rack is "r1", which is ruled out`:                              expr("rack", "notin", "r1"),
		`it has a label rack ("r1"), and must have none`:                          expr("rack", "!"),
		`it has no label row`:                                                     expr("row", "gt", "1"),
		`its label rack is "r1", not a whole number above 1`:                      expr("rack", "gt", "1"),
		`its label unit is "7", not a whole number below 7`:                       expr("unit", "lt", "7"),
		`the selector is wrong: the key is empty; it must be the name of a label`: expr("", "exists"),
	} {
		if got := s.Why(labels{"rack": "r1", "unit": "7"}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzSelector holds that why and matches agree, and that nothing refused matches.
func FuzzSelector(f *testing.F) {
	f.Add("a", "In", "1", "a", "1")
	f.Add("a", "gt", "-9223372036854775809", "a", "9999999999999999999")
	f.Add("", "!", "", "", "")
	f.Fuzz(func(t *testing.T, key, operator, v, label, has string) {
		for _, s := range []choose.Selector{expr(key, operator), expr(key, operator, v), {MatchLabels: labels{key: v}}} {
			matches := s.Matches(labels{label: has})
			if matches != (s.Why(labels{label: has}) == "") {
				t.Errorf("%v: why and matches differ", s)
			}

			if matches && s.MatchExpressions != nil && len(s.Validate()) > 0 && strings.TrimSpace(key) == key {
				t.Errorf("%v is refused and matches", s)
			}
		}
	})
}
