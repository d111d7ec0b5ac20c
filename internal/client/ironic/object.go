// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// object is a JSON object whose fields are read one by one: a field of an unexpected type
// reads as empty and does no harm to the others.
type object map[string]json.RawMessage

func parseObject(raw []byte) (object, bool) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, false
	}

	return o, o != nil
}

// text reads a string. Numbers and booleans come as their spelling: proxies and old
// releases disagree about such things.
func (o object) text(key string) string {
	raw := bytes.TrimSpace(o[key])
	if len(raw) == 0 {
		return ""
	}

	var s string

	switch raw[0] {
	case '"':
		if json.Unmarshal(raw, &s) != nil {
			return ""
		}

		return s
	case '{', '[', 'n':
		return ""
	default:
		return string(raw)
	}
}

// flag reads a boolean; nil where there is none.
func (o object) flag(key string) *bool {
	b, err := strconv.ParseBool(strings.ToLower(o.text(key)))
	if err != nil {
		return nil
	}

	return &b
}

func (o object) is(key string) bool {
	b := o.flag(key)

	return b != nil && *b
}

// dict reads an object with anything in it; nil where there is none or an empty one.
func (o object) dict(key string) map[string]any {
	raw := bytes.TrimSpace(o[key])
	if len(raw) < 3 || raw[0] != '{' {
		return nil
	}

	var m map[string]any
	if json.Unmarshal(raw, &m) != nil || len(m) == 0 {
		return nil
	}

	return m
}

// list reads an array; false where there is none.
func (o object) list(key string) ([]json.RawMessage, bool) {
	var l []json.RawMessage
	if json.Unmarshal(o[key], &l) != nil || l == nil {
		return nil, false
	}

	return l, true
}

// texts reads the strings of an array.
func (o object) texts(key string) []string {
	l, _ := o.list(key)

	var out []string

	for _, raw := range l {
		if s := (object{"": raw}).text(""); s != "" {
			out = append(out, s)
		}
	}

	return out
}

// at reads a time, with or without a zone; Ironic means UTC.
func (o object) at(key string) time.Time {
	s := o.text(key)

	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}

	return time.Time{}
}
