// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"encoding/json"
	"slices"
)

// noteKey is the annotation of a Node in which this provider notes what it has set there, so
// that it takes away exactly that once it is not wanted any more.
const noteKey = "metal3.io/terraform-managed"

// note is what this provider has set on a Node: keys of labels and annotations, taints as
// key:effect.
type note struct {
	Labels      []string `json:"labels,omitempty"`
	Annotations []string `json:"annotations,omitempty"`
	Taints      []string `json:"taints,omitempty"`
}

// readNote reads the note of a Node. One that is not readable is none: then less is taken away.
func readNote(annotations map[string]string) note {
	var n note
	if json.Unmarshal([]byte(annotations[noteKey]), &n) != nil {
		return note{}
	}

	return n
}

// text writes a note; nil says that there is nothing to note.
func (n note) text() *string {
	n = note{ordered(n.Labels), ordered(n.Annotations), ordered(n.Taints)}
	if len(n.Labels)+len(n.Annotations)+len(n.Taints) == 0 {
		return nil
	}

	b, err := json.Marshal(n)
	if err != nil { // strings always marshal
		return nil
	}

	s := string(b)

	return &s
}

// plus is what either note says.
func (n note) plus(o note) note {
	return note{
		ordered(slices.Concat(n.Labels, o.Labels)),
		ordered(slices.Concat(n.Annotations, o.Annotations)),
		ordered(slices.Concat(n.Taints, o.Taints)),
	}
}

func ordered(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)

	return slices.Compact(s)
}
