// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// object is JSON of an API server. It is read field by field: what is missing or has another type
// than expected is empty.
type object map[string]any

func parse(body []byte) (object, bool) {
	var o object
	if json.Unmarshal(body, &o) != nil || o == nil {
		return nil, false
	}

	return o, true
}

// at follows a path of fields.
func (o object) at(path ...string) any {
	var value any = map[string]any(o)

	for _, field := range path {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}

		value = inner[field]
	}

	return value
}

func (o object) str(path ...string) string {
	text, _ := o.at(path...).(string)

	return text
}

func (o object) truth(path ...string) bool {
	yes, _ := o.at(path...).(bool)

	return yes
}

func (o object) inner(path ...string) object {
	inner, _ := o.at(path...).(map[string]any)

	return inner
}

// list returns the objects of a list.
func (o object) list(path ...string) []object {
	values, _ := o.at(path...).([]any)
	objects := make([]object, 0, len(values))

	for _, value := range values {
		if inner, ok := value.(map[string]any); ok {
			objects = append(objects, inner)
		}
	}

	return objects
}

// texts returns a map of strings; numbers and truth values in it are written out.
func (o object) texts(path ...string) map[string]string {
	inner := o.inner(path...)
	texts := make(map[string]string, len(inner))

	for key, value := range inner {
		if text, ok := plain(value); ok {
			texts[key] = text
		}
	}

	return texts
}

func (o object) moment(path ...string) time.Time {
	at, _ := time.Parse(time.RFC3339, o.str(path...))

	return at
}

func (o object) number(path ...string) (int64, bool) {
	value, ok := o.at(path...).(float64)

	return int64(value), ok
}

// plain writes a scalar out.
func plain(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	default:
		return "", false
	}
}

func causesIn(status object) []Cause {
	var causes []Cause

	for _, cause := range status.list("details", "causes") {
		causes = append(causes, Cause{cause.str("reason"), cause.str("field"), cause.str("message")})
	}

	return causes
}

// malformed says that a success is not what was asked for.
func malformed(k call) error {
	return &RequestError{Op: k.op, kind: ErrForeign, Text: fmt.Sprintf("the answer is not JSON of an API server (%s %s)", k.method, k.path)}
}
