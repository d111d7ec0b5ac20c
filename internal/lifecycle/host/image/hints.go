// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// RootHints says which disk the image goes to. All hints that are set must match.
type RootHints struct {
	DeviceName         string // /dev/NAME or /dev/disk/by-path/NAME
	HCTL               string
	Model              string // a part of it
	Vendor             string // a part of it
	SerialNumber       string
	MinSizeGigabytes   *int64 // 0 counts as unset
	WWN                string
	WWNWithExtension   string
	WWNVendorExtension string
	Rotational         *bool
}

const byPath = "/dev/disk/by-path/"

// operator matches a value that already carries one of Ironic's comparison operators.
var operator = regexp.MustCompile(`^(<in>|<all-in>|<or>|s==|s!=|s<=|s>=|(s<|s>|==|!=|<=|>=|=|<|>)\s)`)

// exact and partial are the operators of the two kinds of text.
const (
	exact   = "s== "
	partial = "<in> "
)

// hint binds a field to its key in Ironic and to its operator.
type hint struct {
	path     string // name of the attribute
	key      string // Ironic's key
	operator string
	field    *string
}

// texts lists the hints that are plain text, the device name left out.
func (h *RootHints) texts() []hint {
	return []hint{
		{"hctl", "hctl", exact, &h.HCTL},
		{"model", "model", partial, &h.Model},
		{"vendor", "vendor", partial, &h.Vendor},
		{"serial_number", "serial", exact, &h.SerialNumber},
		{"wwn", "wwn", exact, &h.WWN},
		{"wwn_with_extension", "wwn_with_extension", exact, &h.WWNWithExtension},
		{"wwn_vendor_extension", "wwn_vendor_extension", exact, &h.WWNVendorExtension},
	}
}

// withOperator adds an operator to a value that has none. A value that begins with one of
// Ironic's operators passes unchanged, so that it is never doubled.
func withOperator(op, value string) string {
	if operator.MatchString(value) {
		return value
	}

	return op + value
}

// Ironic returns the value of instance_info.root_device, nil where no hint is set.
func (h RootHints) Ironic() map[string]any {
	m := map[string]any{}

	if name := strings.TrimSpace(h.DeviceName); name != "" {
		key := "name"
		if isByPath(name) {
			key = "by_path"
		}

		m[key] = withOperator(exact, name)
	}

	for _, t := range h.texts() {
		if value := strings.TrimSpace(*t.field); value != "" {
			m[t.key] = withOperator(t.operator, value)
		}
	}

	if h.MinSizeGigabytes != nil && *h.MinSizeGigabytes != 0 {
		m["size"] = fmt.Sprintf(">= %d", *h.MinSizeGigabytes)
	}

	// Ironic compares text with text: a JSON boolean would match nothing.
	if h.Rotational != nil {
		m["rotational"] = strconv.FormatBool(*h.Rotational)
	}

	if len(m) == 0 {
		return nil
	}

	return m
}

func isByPath(name string) bool {
	return strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(name, strings.TrimSpace(exact))), byPath)
}

// Validate returns what is wrong with the hints.
func (h RootHints) Validate() []Problem {
	var problems []Problem

	name := strings.TrimSpace(h.DeviceName)
	if name != "" && !operatorOtherThanExact(name) {
		dir, base := path.Split(strings.TrimSpace(strings.TrimPrefix(name, strings.TrimSpace(exact))))
		if base == "" || (dir != "/dev/" && dir != byPath) {
			problems = append(problems, Problem{"device_name", "a device name must be directly below /dev/ or " + byPath})
		}
	}

	if h.MinSizeGigabytes != nil && *h.MinSizeGigabytes < 0 {
		problems = append(problems, Problem{"min_size_gigabytes", "the smallest size must not be negative"})
	}

	return problems
}

func operatorOtherThanExact(value string) bool {
	return operator.MatchString(value) && !strings.HasPrefix(value, strings.TrimSpace(exact))
}

// HintsFromIronic reads the hints of a node. The second value names the keys that no hint
// can express; they are sorted.
func HintsFromIronic(root map[string]any) (RootHints, []string) {
	var h RootHints

	rest := maps.Clone(root)

	for _, key := range []string{"by_path", "name"} {
		value := text(root[key])
		if value != "" && h.DeviceName == "" && isByPath(value) == (key == "by_path") {
			h.DeviceName = withoutOperator(exact, value)
			delete(rest, key)
		}
	}

	for _, t := range h.texts() {
		if value := text(root[t.key]); value != "" {
			*t.field = withoutOperator(t.operator, value)
			delete(rest, t.key)
		}
	}

	if size, isMin := strings.CutPrefix(text(root["size"]), ">="); isMin {
		if n, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64); err == nil {
			h.MinSizeGigabytes = &n
			delete(rest, "size")
		}
	}

	if b, err := strconv.ParseBool(text(root["rotational"])); err == nil {
		h.Rotational = &b
		delete(rest, "rotational")
	}

	return h, slices.Sorted(maps.Keys(rest))
}

// withoutOperator takes away the operator that [RootHints.Ironic] adds. Ironic reads text
// without an operator as exact.
func withoutOperator(op, value string) string {
	value = strings.TrimSpace(value)

	bare, found := strings.CutPrefix(value, strings.TrimSpace(op))

	switch bare = strings.TrimSpace(bare); {
	case found && bare != "" && !operator.MatchString(bare):
		return bare
	case !operator.MatchString(value) && op != exact:
		return exact + value
	default:
		return value
	}
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	default:
		return ""
	}
}
