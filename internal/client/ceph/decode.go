// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// shaped is a document that knows whether it is what was asked for: an answer may have text
// before and after it, and that text may hold brackets.
type shaped[T any] interface {
	*T
	fits() bool
}

// decode reads the first complete JSON value of the wanted shape in an answer.
//
// Values at the start of a line come first. A value that is cut off ends the search: its
// inner values are not the answer.
func decode[T any, P shaped[T]](out []byte) (T, bool) {
	doc, _, ok := decodeFirst[T, P](out)

	return doc, ok
}

// decodeFirst is decode that says where the value ends, for answers of several values.
func decodeFirst[T any, P shaped[T]](out []byte) (T, int, bool) {
	budget := 4*len(out) + 4096 // of bytes to scan: garbage must not cost more than its size

	for _, lines := range []bool{true, false} {
		for at := 0; at < len(out) && budget > 0; {
			at = next(out, at, lines)
			if at == len(out) {
				break
			}

			var doc T

			size, end := value(out[at:], &doc)

			switch {
			case end == cut:
				return *new(T), 0, false
			case end == broken:
				at++
			case P(&doc).fits():
				return doc, at + size, true
			default:
				at += max(size, 1)
			}

			budget -= max(size, 64)
		}
	}

	return *new(T), 0, false
}

// next is where the next JSON value may begin: at the start of a line, or anywhere.
func next(out []byte, at int, lines bool) int {
	for at < len(out) {
		i := bytes.IndexAny(out[at:], "{[")
		if i < 0 {
			return len(out)
		}

		at += i
		if !lines {
			return at
		}

		start := bytes.LastIndexByte(out[:at], '\n') + 1
		if len(bytes.TrimSpace(out[start:at])) == 0 {
			return at
		}

		end := bytes.IndexByte(out[at:], '\n')
		if end < 0 {
			return len(out)
		}

		at += end
	}

	return len(out)
}

// ending says how a value ends.
type ending int

const (
	whole  ending = iota
	broken        // it is no JSON
	cut           // it goes on after the end of the answer
)

// value reads one value, and says how many bytes were looked at. A field of another type than
// expected stays empty.
func value(text []byte, into any) (size int, end ending) {
	dec := json.NewDecoder(bytes.NewReader(text))
	err := dec.Decode(into)

	var (
		otherType *json.UnmarshalTypeError
		syntax    *json.SyntaxError
	)

	switch {
	case err == nil, errors.As(err, &otherType):
		return int(dec.InputOffset()), whole
	case errors.As(err, &syntax):
		return int(syntax.Offset), broken
	default:
		return len(text), cut
	}
}

// num is a number, or text that holds one.
type num int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *num) UnmarshalJSON(b []byte) error {
	f, i, ok := number(b)

	switch {
	case ok:
		*n = num(i)
	case math.IsNaN(f):
		*n = 0
	default:
		*n = num(max(min(f, 1<<62), -1<<62))
	}

	return nil
}

// fraction is a number with a fraction, or text that holds one.
type fraction float64

// UnmarshalJSON implements json.Unmarshaler.
func (r *fraction) UnmarshalJSON(b []byte) error {
	f, i, ok := number(b)
	if ok {
		f = float64(i)
	}

	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}

	*r = fraction(f)

	return nil
}

// number reads a whole number, or else a fraction; NaN where there is none.
func number(b []byte) (f float64, i int64, whole bool) {
	s := scalar(b)

	i, err := strconv.ParseInt(s, 10, 64)
	if err == nil {
		return 0, i, true
	}

	f, err = strconv.ParseFloat(s, 64)

	switch {
	case s == "true":
		return 0, 1, true
	case err != nil:
		return math.NaN(), 0, false
	default:
		return f, 0, false
	}
}

// osdID is the id of an OSD; what is none is -1, so that it is never taken for osd.0.
type osdID int

// UnmarshalJSON implements json.Unmarshaler.
func (o *osdID) UnmarshalJSON(b []byte) error {
	*o = -1
	if _, i, ok := number(b); ok && i >= 0 && i < math.MaxInt32 {
		*o = osdID(i)
	}

	return nil
}

// nodeID is the id of a node of the CRUSH tree: buckets are below 0. What is none is the lowest
// number, for 0 is an OSD.
type nodeID int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *nodeID) UnmarshalJSON(b []byte) error {
	*n = math.MinInt64
	if _, i, ok := number(b); ok {
		*n = nodeID(i)
	}

	return nil
}

// text is a string, or a scalar as it is written.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(b []byte) error {
	*t = text(scalar(b))

	return nil
}

// flag is true, 1 or a word that says so.
type flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *flag) UnmarshalJSON(b []byte) error {
	switch strings.ToLower(scalar(b)) {
	case "true", "1", "yes", "on":
		*f = true
	default:
		*f = false
	}

	return nil
}

// scalar is a scalar as text; null, lists and objects are empty.
func scalar(b []byte) string {
	b = bytes.TrimSpace(b)

	switch {
	case len(b) == 0, b[0] == '{', b[0] == '[', bytes.Equal(b, []byte("null")):
		return ""
	case b[0] == '"':
		var s string
		if json.Unmarshal(b, &s) != nil {
			return ""
		}

		return s
	default:
		return string(b)
	}
}

// texts are the strings of a list that says something; never nil.
func texts(list []text) []string {
	out := make([]string, 0, len(list))

	for _, t := range list {
		if t != "" {
			out = append(out, string(t))
		}
	}

	return out
}

// decimal is a number that Ceph takes for a fraction: a monitor refuses 1 where it wants 1.0
// ("bad or missing field", tried with 16.2.15).
type decimal float64

// MarshalJSON implements json.Marshaler.
func (d decimal) MarshalJSON() ([]byte, error) {
	s := strconv.FormatFloat(float64(d), 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}

	return []byte(s), nil
}
