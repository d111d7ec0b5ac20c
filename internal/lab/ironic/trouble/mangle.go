// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package trouble

import (
	"fmt"
	"maps"
	"strings"
)

// Mangle is a Rewrite that does what servers do to values they were sent: strings come back
// in lower case, URLs with a slash at the end, numbers as strings, and with three properties
// that nobody asked for. What Ironic itself owns, states above all, is left alone.
func Mangle(kind string, doc map[string]any) {
	if kind != "node" {
		return
	}

	for _, field := range []string{"properties", "instance_info", "driver_info"} {
		old, _ := doc[field].(map[string]any)
		m := maps.Clone(old) // the document shares its maps with the node

		for k, v := range m {
			m[k] = mangled(v)
		}

		if field == "properties" && m != nil {
			m["local_gb"], m["memory_mb"], m["vendor"] = "446", "131072", "simulated"
		}

		if m != nil {
			doc[field] = m
		}
	}

	if s, ok := doc["description"].(string); ok {
		doc["description"] = strings.ToLower(s)
	}
}

func mangled(v any) any {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "://") {
			return strings.ToLower(strings.TrimSuffix(v, "/")) + "/"
		}

		return strings.ToLower(v)
	case float64, int:
		return fmt.Sprint(v)
	default:
		return v
	}
}
