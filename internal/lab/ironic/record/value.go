// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
)

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$`)

// IsUUID tells what Ironic takes for a UUID.
func IsUUID(s string) bool { return uuidPattern.MatchString(s) }

// NewUUID is a UUID that nobody has.
func NewUUID() string { return uuid.NewString() }

// Text is a value of one of the node's maps as a string.
func Text(m map[string]any, key string) string {
	switch v := m[key].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

var booleans = map[string]bool{
	"1": true, "t": true, "true": true, "on": true, "y": true, "yes": true,
	"0": false, "f": false, "false": false, "off": false, "n": false, "no": false,
}

// ParseBool reads a boolean in one of the words that Ironic takes for one.
func ParseBool(name, v string) (bool, error) {
	b, ok := booleans[strings.ToLower(v)]
	if !ok {
		return false, fault.Invalid("Invalid %s: Unrecognized value '%s', acceptable values are: "+
			"'0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'", name, v)
	}

	return b, nil
}

// ToBool reads a boolean the way Ironic does: "yes" and 1 count. nil stays nil.
func ToBool(field string, v any) (*bool, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil //nolint:nilnil // null is a value
	case bool:
		return &v, nil
	case string:
		b, err := ParseBool(field, v)

		return &b, err
	default:
		return nil, fault.Invalid("Schema error for node: %v is not of type 'string', 'boolean', 'null'", v)
	}
}

// Stamp is a time as Ironic writes it; a zero time is null.
func Stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}

	return t.UTC().Format("2006-01-02T15:04:05.000000+00:00")
}

// OrNull is a text; an empty one is null.
func OrNull(s string) any {
	if s == "" {
		return nil
	}

	return s
}
