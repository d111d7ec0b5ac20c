// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"fmt"
	"time"
)

// Hold is a note on a host that it is kept for a machine: its shape is extra.metal3.hold. It
// tells people and other clusters to keep off; the claim is what protects the host.
type Hold struct {
	Cluster string // namespace/name
	Machine string
	Until   time.Time // zero: without an end
}

// ParseHold reads the hold of a host's journal and reports whether there is one. What cannot
// be read is a hold of nobody without an end, so that a host is rather kept than taken.
func ParseHold(v any) (Hold, bool) {
	switch v := v.(type) {
	case nil:
		return Hold{}, false
	case bool:
		return Hold{}, v
	case string:
		return Hold{}, v != ""
	case map[string]any:
		if len(v) == 0 {
			return Hold{}, false
		}

		var h Hold

		h.Cluster, _ = v["cluster"].(string)
		h.Machine, _ = v["machine"].(string)

		if text, ok := v["until"].(string); ok {
			if until, err := time.Parse(time.RFC3339, text); err == nil {
				h.Until = until
			}
		}

		return h, true
	default:
		return Hold{}, true
	}
}

// Value returns the hold in the form that the journal takes.
func (h Hold) Value() map[string]any {
	out := map[string]any{"cluster": h.Cluster, "machine": h.Machine}
	if !h.Until.IsZero() {
		out["until"] = h.Until.UTC().Format(time.RFC3339)
	}

	return out
}

// Expired reports whether the hold is over. One without an end never is.
func (h Hold) Expired(now time.Time) bool { return !h.Until.IsZero() && !now.Before(h.Until) }

// Of reports whether the hold is for a machine of a cluster. Both count: two clusters may
// have machines of one name.
func (h Hold) Of(cluster, machine string) bool {
	return h.Machine != "" && h.Machine == machine && h.Cluster == cluster
}

// String says for whom a host is held.
func (h Hold) String() string {
	who := "held by somebody whose note cannot be read (extra.metal3.hold)"

	switch {
	case h.Machine != "" && h.Cluster != "":
		who = fmt.Sprintf("held for machine %s of cluster %s", h.Machine, h.Cluster)
	case h.Machine != "":
		who = "held for machine " + h.Machine
	case h.Cluster != "":
		who = "held for cluster " + h.Cluster
	}

	if h.Until.IsZero() {
		return who
	}

	return who + " until " + h.Until.UTC().Format(time.RFC3339)
}
