// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// document is a JSON object with the path that led to it, for warnings.
type document struct {
	path   string
	fields map[string]any
	log    *[]string
}

// parse reads raw as a JSON object. Anything else gives an empty one and a warning.
func parse(raw []byte, log *[]string) document {
	d := document{log: log}

	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()

	if err := decoder.Decode(&d.fields); err != nil {
		*log = append(*log, "the inventory is not a JSON object")
	}

	return d
}

func (d document) warn(key, want string) {
	*d.log = append(*d.log, fmt.Sprintf("%s is not %s and was left out", d.at(key), want))
}

func (d document) at(key string) string {
	if d.path == "" {
		return key
	}

	return d.path + "." + key
}

func (d document) has(key string) bool {
	_, there := d.fields[key]

	return there
}

// object returns the object below key, an empty one where there is none.
func (d document) object(key string) document {
	fields, ok := d.fields[key].(map[string]any)
	if !ok && d.fields[key] != nil {
		d.warn(key, "an object")
	}

	return document{d.at(key), fields, d.log}
}

// objects returns the objects of the list below key; what is no object is skipped.
func (d document) objects(key string) []document {
	var found []document

	for i, v := range d.list(key) {
		name := fmt.Sprintf("%s[%d]", key, i)

		fields, ok := v.(map[string]any)
		if !ok {
			d.warn(name, "an object")

			continue
		}

		found = append(found, document{d.at(name), fields, d.log})
	}

	return found
}

func (d document) list(key string) []any {
	list, ok := d.fields[key].([]any)
	if !ok && d.fields[key] != nil {
		d.warn(key, "a list")
	}

	return list
}

// strings returns the text values of a list.
func (d document) strings(key string) []string {
	var found []string

	for i, v := range d.list(key) {
		s, ok := v.(string)
		if !ok {
			d.warn(fmt.Sprintf("%s[%d]", key, i), "text")

			continue
		}

		found = append(found, s)
	}

	return found
}

// text returns a text, or a number as text.
func (d document) text(key string) string {
	switch v := d.fields[key].(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	default:
		d.warn(key, "text")

		return ""
	}
}

func (d document) bool(key string) bool {
	switch v := d.fields[key].(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			return b
		}
	}

	d.warn(key, "true or false")

	return false
}

// number returns a whole number, rounded; a number written as text counts. What is
// negative or no number is 0: an unknown speed is reported as -1 by some drivers.
func (d document) number(key string) int64 {
	var s string

	switch v := d.fields[key].(type) {
	case nil:
		return 0
	case json.Number:
		s = v.String()
	case string:
		s = strings.TrimSpace(v)
		if s == "" {
			return 0
		}
	default:
		d.warn(key, "a number")

		return 0
	}

	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return max(n, 0)
	}

	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f >= math.MaxInt64 {
		d.warn(key, "a number")

		return 0
	}

	return max(int64(math.Round(f)), 0)
}
