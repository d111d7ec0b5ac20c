// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package document reads JSON objects of fabric managers field by field: a field of an
// unexpected type reads as empty and does no harm to the others. It is for the managers
// whose answers are wide and of which we need little (CDIM, Redfish).
package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrPartial says that a list is not what it says it is: an entry is no object, or there
// are more or fewer entries than its count says. A partial list is no list.
var ErrPartial = errors.New("the list is not complete")

// Object is a JSON object.
type Object map[string]any

// Parse reads an object; false where the bytes are none.
func Parse(raw []byte) (Object, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // ids that are numbers stay what they are

	var o Object
	if dec.Decode(&o) != nil || o == nil {
		return nil, false
	}

	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}

	return o, true
}

// Has reports whether there is such a field, and it is not null.
func (o Object) Has(key string) bool { return o[key] != nil }

// Text reads a string without the blanks around it; numbers and booleans come as spelled.
func (o Object) Text(key string) string { return text(o[key]) }

func text(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	default:
		return ""
	}
}

// Bool reads a boolean, also one in quotes; otherwise it is what the caller expects.
func (o Object) Bool(key string, otherwise bool) bool {
	b, err := strconv.ParseBool(strings.ToLower(o.Text(key)))
	if err != nil {
		return otherwise
	}

	return b
}

// Int reads a whole number, also one in quotes.
func (o Object) Int(key string) (int, bool) {
	n, err := strconv.Atoi(o.Text(key))

	return n, err == nil
}

// Object reads an object in an object; nil, which reads as empty, where there is none.
func (o Object) Object(keys ...string) Object {
	for _, key := range keys {
		m, _ := o[key].(map[string]any)
		o = m
	}

	return o
}

// Texts reads a list of strings and passes over what is none.
func (o Object) Texts(key string) []string {
	list, _ := o[key].([]any)

	var out []string

	for _, v := range list {
		if s := text(v); s != "" {
			out = append(out, s)
		}
	}

	return out
}

// Objects reads a list of objects. A list that is missing or null is empty; what is no
// list, or holds something else than objects, is an error.
func (o Object) Objects(key string) ([]Object, error) {
	if !o.Has(key) {
		return nil, nil
	}

	list, ok := o[key].([]any)
	if !ok {
		return nil, fmt.Errorf("%w: %s is no list", ErrPartial, key)
	}

	out := make([]Object, 0, len(list))

	for i, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%w: entry %d of %s is no object", ErrPartial, i+1, key)
		}

		out = append(out, m)
	}

	return out, nil
}

// Counted is [Object.Objects] for a list whose length another field tells, if it is there.
func (o Object) Counted(key, count string) ([]Object, error) {
	list, err := o.Objects(key)
	if err != nil {
		return nil, err
	}

	if n, ok := o.Int(count); ok && n != len(list) {
		return nil, fmt.Errorf("%w: %s has %d entries, and %s says %d", ErrPartial, key, len(list), count, n)
	}

	return list, nil
}
