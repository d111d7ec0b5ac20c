// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"fmt"
	"slices"
	"strings"
)

// shown is how many names an error lists.
const shown = 10

// InUseError says who uses a GPU that was to be taken away. It is [ErrInUse]. Nothing was
// changed on the host, or what was changed was put back; else it comes with [ErrNotUndone].
type InUseError struct {
	GPU       GPU
	Host      string
	Processes []Process // may be empty: only the driver saw them
	Apps      []App     // what computes on the GPU
	Driver    string    // of the kernel, not NVIDIA's, which has the GPU
}

// Error implements error.
func (e *InUseError) Error() string {
	if e.Driver != "" {
		return fmt.Sprintf("GPU %s of %s is bound to the driver %s, and in use for all that is known (a virtual machine?)", e.GPU.Label(), e.Host, e.Driver)
	}

	var names []string

	for _, p := range e.Processes {
		names = append(names, fmt.Sprintf("%d %s", p.PID, p.Comm))
	}

	if len(names) == 0 {
		for _, a := range e.Apps {
			names = append(names, a.Name)
		}
	}

	return fmt.Sprintf("GPU %s of %s is in use by %s", e.GPU.Label(), e.Host, shorten(names))
}

// shorten lists names, and of many only the first.
func shorten(names []string) string {
	if more := len(names) - shown; more > 0 {
		names = append(slices.Clone(names[:shown]), fmt.Sprintf("and %d more", more))
	}

	return strings.Join(names, ", ")
}

// Unwrap returns [ErrInUse].
func (e *InUseError) Unwrap() error { return ErrInUse }

// Label is how people know a GPU: its UUID, else its bus id.
func (g GPU) Label() string {
	switch {
	case g.UUID != "" && g.BusID != "":
		return g.UUID + " at " + g.BusID
	case g.UUID != "":
		return g.UUID
	case g.BusID != "":
		return "at " + g.BusID
	default:
		return "that nothing is known of"
	}
}
