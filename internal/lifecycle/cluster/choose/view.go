// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// view is a host as the rules look at it; it is made once and compared with many wishes.
type view struct {
	host.Seen

	name   string
	labels map[string]string // nil where nobody selects by labels

	cpus, memoryMiB, rootGiB int    // -1: not known
	arch                     string // as Ironic spells it
	archKey                  string // canonical

	domain int // number of the failure domain in a matching

	hold Hold
	held bool
}

func look(s host.Seen, labels bool) view {
	p := s.Node.Properties
	arch, _ := p["cpu_arch"].(string)
	v := view{
		Seen: s, name: Name(s), cpus: number(p["cpus"]), memoryMiB: number(p["memory_mb"]), rootGiB: number(p["local_gb"]),
		arch: arch, archKey: canonicalArch(arch),
	}
	v.hold, v.held = ParseHold(s.Journal.Hold)

	if labels {
		v.labels = Labels(s)
	}

	return v
}

// number reads a whole number of a node's properties, where writers have put numbers and
// texts; -1 where there is none.
func number(v any) int {
	var f float64

	switch v := v.(type) {
	case int:
		return max(v, -1)
	case int64:
		f = float64(v)
	case float64:
		f = v
	case json.Number:
		return number(v.String())
	case string:
		parsed, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil {
			return -1
		}

		f = parsed
	default:
		return -1
	}

	if math.IsNaN(f) || f < 0 {
		return -1
	}

	return int(min(f, math.MaxInt32))
}

// architectures are names for one thing: the left one is that of Go and Kubernetes, the
// right one that of Ironic.
var architectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

func canonicalArch(name string) string {
	name = strings.ToLower(name)

	return cmp.Or(architectures[name], name)
}

// wish is a request made ready to be compared with many hosts.
type wish struct {
	Request

	ids, names map[string]bool // nil: any
	archKey    string          // canonical; empty: any
}

func newWish(r Request) wish {
	w := wish{Request: r, archKey: canonicalArch(r.Min.Arch)}
	if r.HostIDs == nil && r.HostNames == nil {
		return w
	}

	w.ids, w.names = map[string]bool{}, map[string]bool{}
	for _, id := range r.HostIDs {
		w.ids[strings.ToLower(id)] = true
	}

	for _, name := range r.HostNames {
		w.names[name] = true
	}

	return w
}

func (w *wish) lists(v *view) bool {
	return w.ids == nil || w.ids[strings.ToLower(v.Node.UUID)] || w.names[v.name] || w.names[v.Node.Name]
}

// misses returns the first trait that a host does not have.
func (w *wish) misses(v *view) string {
	for _, t := range w.Traits {
		if !slices.Contains(v.Node.Traits, t) {
			return t
		}
	}

	return ""
}

// unselected returns the first selector that does not match, nil where all do.
func (w *wish) unselected(v *view) *Selector {
	for i := range w.Selectors {
		if !w.Selectors[i].Matches(v.labels) {
			return &w.Selectors[i]
		}
	}

	return nil
}

// inDomain reports whether a host is in a failure domain that was asked for.
func (w *wish) inDomain(v *view) bool {
	switch d := v.Journal.FailureDomain; {
	case w.Domain != "":
		return d == w.Domain
	case len(w.Domains) > 0:
		return slices.Contains(w.Domains, d)
	default:
		return true
	}
}
