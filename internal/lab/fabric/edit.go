// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"strconv"
)

// Each is an edit of an answer ([Fault.Edit]) that calls f for every object in it, from the
// inside out.
func Each(f func(object map[string]any)) func(any) any {
	return func(doc any) any {
		walk(doc, f)

		return doc
	}
}

func walk(doc any, f func(map[string]any)) {
	switch doc := doc.(type) {
	case map[string]any:
		for _, v := range doc {
			walk(v, f)
		}

		f(doc)
	case []any:
		for _, v := range doc {
			walk(v, f)
		}
	}
}

// Set is an edit that gives a key another value wherever it is.
func Set(key string, value any) func(any) any {
	return Each(func(o map[string]any) {
		if _, ok := o[key]; ok {
			o[key] = value
		}
	})
}

// Drop is an edit that takes keys away wherever they are.
func Drop(keys ...string) func(any) any {
	return Each(func(o map[string]any) {
		for _, key := range keys {
			delete(o, key)
		}
	})
}

// Rename is an edit that calls a key otherwise wherever it is.
func Rename(from, to string) func(any) any {
	return Each(func(o map[string]any) {
		if v, ok := o[from]; ok {
			delete(o, from)
			o[to] = v
		}
	})
}

// WrongTypes is an edit that turns numbers into strings and status words into numbers, as far
// as no client needs the types that they had.
func WrongTypes() func(any) any {
	return Each(func(o map[string]any) {
		for _, key := range []string{"res_status", "mach_status", "fabric_id", "mach_id", "device_count", "res_num", "expires_in"} {
			if v, ok := o[key].(float64); ok {
				o[key] = fmt.Sprint(v)
			}
		}

		for _, key := range []string{"res_op_status", "mach_op_status"} {
			if n, err := strconv.Atoi(fmt.Sprint(o[key])); err == nil {
				o[key] = n
			}
		}

		if _, ok := o["boot_ssd"]; ok {
			o["boot_ssd"], o["lanports"], o["grp_uuid"] = []any{}, map[string]any{}, 7
		}
	})
}
