// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Text is a JSON value that should be a string, and is kept as text whatever it is: null is
// empty, an object or a list is its JSON.
type Text string

// UnmarshalJSON implements json.Unmarshaler; it takes every value.
func (t *Text) UnmarshalJSON(raw []byte) error {
	raw = bytes.TrimSpace(raw)

	switch {
	case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
		*t = ""
	case raw[0] == '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = ""
		}

		*t = Text(s)
	default:
		*t = Text(raw)
	}

	return nil
}

// Trim is the text without blanks around it.
func (t Text) Trim() string { return strings.TrimSpace(string(t)) }

// Number is a JSON value that should be a whole number: numbers arrive as 13, 13.0, "13" and 1.3e1.
type Number struct {
	Int   int
	Known bool   // false: missing, null, or nothing that reads as a number
	Raw   string // as it arrived, without quotes
}

// UnmarshalJSON implements json.Unmarshaler; it takes every value.
func (n *Number) UnmarshalJSON(raw []byte) error {
	var t Text

	_ = t.UnmarshalJSON(raw) // takes everything

	*n = NumberOf(string(t))

	return nil
}

// NumberOf reads a number from its text.
func NumberOf(s string) Number {
	n := Number{Raw: strings.TrimSpace(s)}

	if i, err := strconv.Atoi(n.Raw); err == nil {
		n.Int, n.Known = i, true

		return n
	}

	// The bound keeps the conversion defined; no count, code or time is near it.
	f, err := strconv.ParseFloat(n.Raw, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1<<52 {
		return n
	}

	n.Int, n.Known = int(f), true

	return n
}

// List is a JSON list of which single entries may be odd. It never fails as a whole.
type List[T any] struct {
	Items   []T
	Present bool // there was a list, be it empty
	Null    bool // there was null instead
	Odd     int  // entries that were skipped, as they were no T; null entries do not count
	Nulls   int  // null entries, which were skipped too
}

// Whole reports whether there was a list, and every entry of it is in Items.
func (l List[T]) Whole() bool { return l.Present && l.Odd == 0 && l.Nulls == 0 }

// UnmarshalJSON implements json.Unmarshaler; it takes every value.
func (l *List[T]) UnmarshalJSON(raw []byte) error {
	*l = List[T]{}

	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil || entries == nil {
		if l.Null = bytes.Equal(bytes.TrimSpace(raw), []byte("null")); !l.Null {
			l.Odd = 1
		}

		return nil
	}

	l.Present = true

	for _, entry := range entries {
		if bytes.Equal(bytes.TrimSpace(entry), []byte("null")) {
			l.Nulls++

			continue
		}

		var item T
		if json.Unmarshal(entry, &item) != nil {
			l.Odd++

			continue
		}

		l.Items = append(l.Items, item)
	}

	return nil
}

// Maybe is a JSON value that may be missing, null or of another kind than T.
type Maybe[T any] struct {
	Value   T
	Present bool // there was a T
}

// UnmarshalJSON implements json.Unmarshaler; it takes every value.
func (m *Maybe[T]) UnmarshalJSON(raw []byte) error {
	*m = Maybe[T]{}

	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return nil
	}

	var value T
	if json.Unmarshal(raw, &value) != nil {
		return nil //nolint:nilerr // an odd value is one that is not there
	}

	m.Value, m.Present = value, true

	return nil
}
