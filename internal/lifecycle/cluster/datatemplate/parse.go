// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// The values of what is not written.
const (
	defaultMTU  = 1500
	defaultType = "phy"
)

// Parse reads a template from JSON. Fields that it does not know are errors, all of them at once. It
// does not judge what the template says: that does [Template.Validate].
func Parse(document []byte) (Template, error) {
	var t Template

	if err := decode(document, "data template", &t); err != nil {
		return Template{}, err
	}

	t.fill()

	return t, nil
}

// decode reads JSON strictly into a struct.
func decode(document []byte, what string, to any) error {
	plain, err := plainJSON(document)
	if err != nil {
		return fmt.Errorf("this is no %s: %w", what, err)
	}

	if unknown := unknownFields("", reflect.TypeOf(to), plain); len(unknown) > 0 {
		return fmt.Errorf("the %s has fields that nobody knows: %s", what, strings.Join(unknown, "; "))
	}

	if err := json.Unmarshal(document, to); err != nil {
		return fmt.Errorf("this is no %s: %w", what, err)
	}

	return nil
}

// plainJSON reads one JSON value; numbers keep their digits.
func plainJSON(document []byte) (any, error) {
	var plain any

	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()

	if err := d.Decode(&plain); err != nil {
		return nil, err
	}

	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}

	return plain, nil
}

// unknownFields lists the fields of a JSON value that a type has not, spelled exactly: the decoder
// would take them in any case, and names only the first without its place.
func unknownFields(path string, t reflect.Type, v any) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	var all []string

	switch v := v.(type) {
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return nil
		}

		known := map[string]reflect.Type{}

		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			known[name] = t.Field(i).Type
		}

		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner, ok := known[name]
			if !ok {
				all = append(all, fmt.Sprintf("%s (there are %s)", join(path, name), strings.Join(slices.Sorted(maps.Keys(known)), ", ")))

				continue
			}

			all = append(all, unknownFields(join(path, name), inner, v[name])...)
		}
	case []any:
		if t.Kind() != reflect.Slice {
			return nil
		}

		for i, one := range v {
			all = append(all, unknownFields(fmt.Sprintf("%s[%d]", path, i), t.Elem(), one)...)
		}
	}

	return all
}

func join(path, name string) string {
	if path == "" {
		return name
	}

	return path + "." + name
}

// JSON returns the template in its one form: what was not written has its default value.
func (t Template) JSON() []byte {
	t.fill()

	// Only a parameter's value can be no JSON, and fill has seen to those.
	document, _ := json.Marshal(t)

	return document
}

// fill writes the defaults. It leaves alone what the template shares with others.
func (t *Template) fill() {
	if t.MetaData != nil {
		m := *t.MetaData
		m.Indexes = slices.Clone(m.Indexes)

		for i := range m.Indexes {
			orDefault(&m.Indexes[i].Step, 1)
		}

		t.MetaData = &m
	}

	if t.NetworkData == nil || t.NetworkData.Links == nil {
		return
	}

	n, l := *t.NetworkData, *t.NetworkData.Links
	l.Ethernets, l.Bonds, l.VLANs = slices.Clone(l.Ethernets), slices.Clone(l.Bonds), slices.Clone(l.VLANs)

	for i := range l.Ethernets {
		orDefault(&l.Ethernets[i].MTU, defaultMTU)
		orDefault(&l.Ethernets[i].Type, defaultType)
	}

	for i := range l.Bonds {
		orDefault(&l.Bonds[i].MTU, defaultMTU)
		l.Bonds[i].Parameters = slices.Clone(l.Bonds[i].Parameters)

		for k := range l.Bonds[i].Parameters {
			value := &l.Bonds[i].Parameters[k].Value
			*value = compact(*value)
		}
	}

	for i := range l.VLANs {
		orDefault(&l.VLANs[i].MTU, defaultMTU)
	}

	n.Links = &l
	t.NetworkData = &n
}

func orDefault[T comparable](v *T, to T) {
	var zero T

	if *v == zero {
		*v = to
	}
}

// compact returns JSON without spaces, and null for what is none.
func compact(document json.RawMessage) json.RawMessage {
	var b bytes.Buffer

	if err := json.Compact(&b, document); err != nil {
		return json.RawMessage("null")
	}

	return b.Bytes()
}

// Literal returns the JSON value of an option as people write it: a number, true, a list … where it
// is JSON, and otherwise the text itself.
func Literal(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return compact(json.RawMessage(text))
	}

	quoted, _ := json.Marshal(text) // a string always has a JSON form

	return quoted
}
