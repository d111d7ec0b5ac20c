// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Selector says which hosts are meant, by their labels. All of its terms must match; one
// without terms matches every host.
type Selector struct {
	MatchLabels      map[string]string
	MatchExpressions []Expression
}

// Expression is one term of a selector.
type Expression struct {
	Key      string
	Operator string // see [Operators]; upper and lower case are the same
	Values   []string
}

// operation is what an operator means, however it is spelled.
type operation int

const (
	opIn operation = iota + 1
	opNotIn
	opExists
	opAbsent
	opGreater
	opLess
)

// operators are the spellings: those of Cluster API Provider Metal3, which knows neither
// "DoesNotExist" nor a name for "!", and those of Kubernetes.
var operators = map[string]operation{
	"in": opIn, "=": opIn, "==": opIn,
	"notin": opNotIn, "not_in": opNotIn, "!=": opNotIn,
	"exists": opExists,
	"!":      opAbsent, "doesnotexist": opAbsent, "does_not_exist": opAbsent,
	"gt": opGreater, "lt": opLess,
}

// Operators names the operators of expressions, for messages and descriptions.
const Operators = "in, notin, =, ==, !=, gt, lt, exists and does_not_exist (or !)"

func (e Expression) operation() operation { return operators[strings.ToLower(e.Operator)] }

// Validate returns everything that is wrong with the selector.
func (s Selector) Validate() []error {
	var wrong []error

	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		if why := keyFault(key); why != "" {
			wrong = append(wrong, fmt.Errorf("match_labels: %s", why))
		}
	}

	for i, e := range s.MatchExpressions {
		if why := keyFault(e.Key); why != "" {
			wrong = append(wrong, fmt.Errorf("match_expressions[%d]: %s", i, why))
		}

		if why := e.fault(); why != "" {
			wrong = append(wrong, fmt.Errorf("match_expressions[%d]: %s", i, why))
		}
	}

	return wrong
}

func keyFault(key string) string {
	switch {
	case key == "":
		return "the key is empty; it must be the name of a label"
	case strings.TrimSpace(key) != key:
		return fmt.Sprintf("the key %q begins or ends with a space, so that no label has it", key)
	default:
		return ""
	}
}

// fault says what is wrong with operator and values; empty: nothing.
func (e Expression) fault() string {
	op, n := e.operation(), len(e.Values)

	switch op {
	case opIn, opNotIn:
		if single := strings.ContainsRune(e.Operator, '='); single && n != 1 {
			return fmt.Sprintf("the operator %s of key %q takes exactly one value, not %d", e.Operator, e.Key, n)
		}

		if n == 0 {
			return fmt.Sprintf("the operator %s of key %q needs at least one value", e.Operator, e.Key)
		}
	case opGreater, opLess:
		if n != 1 {
			return fmt.Sprintf("the operator %s of key %q takes exactly one value, not %d", e.Operator, e.Key, n)
		}

		if _, err := strconv.ParseInt(e.Values[0], 10, 64); err != nil {
			return fmt.Sprintf("the operator %s of key %q compares whole numbers, and %q is none", e.Operator, e.Key, e.Values[0])
		}
	case opExists, opAbsent:
		if n != 0 {
			return fmt.Sprintf("the operator %s of key %q takes no values, not %d", e.Operator, e.Key, n)
		}
	default:
		return fmt.Sprintf("the operator %q of key %q is not known; there are %s", e.Operator, e.Key, Operators)
	}

	return ""
}

// Matches reports whether all terms match. A term that [Selector.Validate] refuses matches nothing.
func (s Selector) Matches(labels map[string]string) bool { return all(s.terms(), labels) }

// Why returns the first term that does not match, in words; empty where all match.
func (s Selector) Why(labels map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		want := s.MatchLabels[key]

		switch got, there := labels[key]; {
		case !there:
			return fmt.Sprintf("it has no label %s (wanted is %q)", key, want)
		case got != want:
			return fmt.Sprintf("its label %s is %q, not %q", key, got, want)
		}
	}

	for _, e := range s.MatchExpressions {
		if t := e.term(); !t.matches(labels) {
			return e.why(labels)
		}
	}

	return ""
}

func (e Expression) why(labels map[string]string) string {
	if why := e.fault(); why != "" || e.Key == "" {
		return "the selector is wrong: " + strings.TrimSpace(keyFault(e.Key)+" "+why)
	}

	got, there := labels[e.Key]

	switch op := e.operation(); {
	case op == opAbsent:
		return fmt.Sprintf("it has a label %s (%q), and must have none", e.Key, got)
	case op == opNotIn:
		return fmt.Sprintf("its label %s is %q, which is ruled out", e.Key, got)
	case !there:
		return "it has no label " + e.Key
	case op == opIn && len(e.Values) == 1:
		return fmt.Sprintf("its label %s is %q, not %q", e.Key, got, e.Values[0])
	case op == opIn:
		return fmt.Sprintf("its label %s is %q, not one of %s", e.Key, got, quotedList(e.Values))
	case op == opGreater:
		return fmt.Sprintf("its label %s is %q, not a whole number above %s", e.Key, got, e.Values[0])
	default:
		return fmt.Sprintf("its label %s is %q, not a whole number below %s", e.Key, got, e.Values[0])
	}
}

func quotedList(all []string) string {
	out := make([]string, 0, len(all))
	for _, s := range all {
		out = append(out, strconv.Quote(s))
	}

	return strings.Join(out, ", ")
}
