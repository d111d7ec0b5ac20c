// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"errors"
	"fmt"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// shown is how many names an error lists.
const shown = 10

// InUseError says who uses a GPU that was to be taken away. It is [ErrInUse]. Nothing was
// changed on the host, or what was changed was put back.
type InUseError struct {
	GPU       GPU
	Host      string
	Processes []Process // may be empty: only the driver saw them
	Apps      []App     // what computes on the GPU
}

// Error implements error.
func (e *InUseError) Error() string {
	var names []string

	for _, p := range e.Processes {
		names = append(names, fmt.Sprintf("%d %s", p.PID, p.Comm))
	}

	if len(names) == 0 {
		for _, a := range e.Apps {
			names = append(names, a.Name)
		}
	}

	if more := len(names) - shown; more > 0 {
		names = append(names[:shown], fmt.Sprintf("and %d more", more))
	}

	return fmt.Sprintf("GPU %s of %s is in use by %s", e.GPU.Label(), e.Host, strings.Join(names, ", "))
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

// passing marks the errors that may be gone at the next look.
func passing(err error) error {
	if errors.Is(err, ErrUnreachable) {
		return wait.Transient(err)
	}

	return err
}
