// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cxl

import (
	"context"
	"fmt"
	"slices"
)

// Before are the devices of a host before one was attached: a new one is not among them.
// With nil everything is new.
type Before []Memory

// Sight is what one look for a device saw.
type Sight struct {
	Memory  Memory
	Visible bool
	Note    string // what is missing, where it is not visible
}

// Target names the device to release: by its serial, else by the name it had.
type Target struct {
	Serial string // as the host showed it ([Sight]), which may not be what the fabric calls so; may be empty
	Name   string // may be empty
	// Unproved says that no host has shown the serial yet: it may be that of a board.
	Unproved bool
}

// Remember looks at a host before a device is attached.
func Remember(ctx context.Context, ops Ops) (Before, error) {
	all, err := ops.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for CXL memory on %s: %w", ops.Name(), err)
	}

	return append(Before{}, all...), nil
}

// See looks once whether a device is there: the one with the serial that the fabric told,
// or, where it told none or one that is no serial of CXL (a number), the only new one.
func See(ctx context.Context, ops Ops, serial string, before Before) (Sight, error) {
	all, err := ops.List(ctx)
	if err != nil {
		return Sight{}, fmt.Errorf("look for CXL memory on %s: %w", ops.Name(), err)
	}

	if m, ok := find(all, Target{Serial: serial}); ok {
		return Sight{Memory: m, Visible: true}, nil
	}

	fresh := slices.DeleteFunc(slices.Clone(all), func(m Memory) bool {
		return slices.ContainsFunc(before, func(b Memory) bool { return b.Name == m.Name && b.Serial == m.Serial })
	})

	switch {
	case len(all) > 0 && isSerial(serial):
		return Sight{Note: fmt.Sprintf("none of the %d memory devices of the host has the serial %q", len(all), serial)}, nil
	case len(fresh) == 1:
		return Sight{Memory: fresh[0], Visible: true}, nil
	case len(fresh) > 1:
		return Sight{Note: fmt.Sprintf("%d memory devices are new on the host, and none has the serial of the fabric (%q)", len(fresh), serial)}, nil
	default:
		return Sight{Note: fmt.Sprintf("no new memory device among the %d of the host", len(all))}, nil
	}
}

// Release takes a device out of use, so that the fabric can take it away. One that the host
// does not have for certain is done; one that may be there unrecognised is [ErrInDoubt].
func Release(ctx context.Context, ops Ops, t Target) (Released, error) {
	all, err := ops.List(ctx)
	if err != nil {
		return Released{}, fmt.Errorf("look for CXL memory on %s: %w", ops.Name(), err)
	}

	m, ok := find(all, t)

	switch {
	case ok:
		return ops.Release(ctx, m)
	case doubtful(all, t):
		return Released{}, fmt.Errorf("%w: it cannot be told which of the %d memory devices of %s is the one with serial %q and name %q",
			ErrInDoubt, len(all), ops.Name(), t.Serial, t.Name)
	default:
		return Released{Memory: Memory{Name: t.Name, Serial: t.Serial}, Absent: true}, nil
	}
}

// doubtful reports whether a device that was not found may be there all the same: what is
// known of it is nothing that a host shows, or one of those there shows no serial, or has its
// name. Memory that is taken away while it is in use takes the host with it.
func doubtful(all []Memory, t Target) bool {
	proved := !t.Unproved && isShown(t.Serial)

	return slices.ContainsFunc(all, func(m Memory) bool {
		return !proved || !isSerial(m.Serial) || (t.Name != "" && m.Name == t.Name)
	})
}

// find returns the device with a serial, else the one with a name, unless that shows
// another serial: names are given anew.
func find(all []Memory, t Target) (Memory, bool) {
	for _, m := range all {
		if SameSerial(m.Serial, t.Serial) {
			return m, true
		}
	}

	for _, m := range all {
		if t.Name != "" && m.Name == t.Name && (!isSerial(t.Serial) || !isSerial(m.Serial)) {
			return m, true
		}
	}

	return Memory{}, false
}
