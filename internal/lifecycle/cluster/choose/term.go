// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"slices"
	"strconv"
)

// term is one term of a selector, made ready to be held against many hosts.
type term struct {
	op     operation // 0: matches nothing
	key    string
	values []string
	limit  int64
}

func (s Selector) terms() []term {
	out := make([]term, 0, len(s.MatchLabels)+len(s.MatchExpressions))

	for key, v := range s.MatchLabels {
		out = append(out, term{op: opIn, key: key, values: []string{v}})
	}

	for _, e := range s.MatchExpressions {
		out = append(out, e.term())
	}

	return out
}

func (e Expression) term() term {
	if keyFault(e.Key) != "" || e.fault() != "" {
		return term{}
	}

	t := term{op: e.operation(), key: e.Key, values: e.Values}

	if t.op == opGreater || t.op == opLess {
		limit, err := strconv.ParseInt(e.Values[0], 10, 64)
		if err != nil {
			return term{} // cannot happen: fault has read it
		}

		t.limit = limit
	}

	return t
}

func all(terms []term, labels map[string]string) bool {
	for i := range terms {
		if !terms[i].matches(labels) {
			return false
		}
	}

	return true
}

// matches follows Kubernetes: without the label, NotIn and DoesNotExist hold and all else
// does not; an empty value is a value.
func (t *term) matches(labels map[string]string) bool {
	got, there := labels[t.key]

	return t.holds(got, there)
}

// holds is the same for the one label that the term is about.
func (t *term) holds(got string, there bool) bool {
	switch t.op {
	case opIn:
		return there && slices.Contains(t.values, got)
	case opNotIn:
		return !there || !slices.Contains(t.values, got)
	case opExists:
		return there
	case opAbsent:
		return !there
	case opGreater, opLess:
		have, err := strconv.ParseInt(got, 10, 64)

		return err == nil && have != t.limit && (have > t.limit) == (t.op == opGreater)
	default:
		return false
	}
}
