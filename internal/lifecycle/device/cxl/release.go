// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cxl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// What is put back after a failure is bounded, also when the caller's time is over.
const (
	undoLimit = 2 * time.Minute
	backLimit = time.Minute // of the part that waits for the device to come back
)

// step is one command and the one that takes it back.
type step struct {
	do, undo []string
	region   string
	partly   bool // a refusal may have done a part of it
}

// steps take a device out of use: first what the system may refuse.
func steps(m Memory, regions []Region) []step {
	var offline, disable, destroy []step

	for _, r := range regions {
		for _, d := range r.Devices {
			if d.RAM {
				offline = append(offline, step{
					do: []string{"daxctl", "offline-memory", d.Name}, undo: []string{"daxctl", "online-memory", d.Name}, region: r.Name, partly: true,
				})
			}

			disable = append(disable, step{
				do: []string{"daxctl", "disable-device", d.Name}, undo: []string{"daxctl", "enable-device", d.Name}, region: r.Name,
			})
		}

		destroy = append(destroy,
			step{do: []string{"cxl", "disable-region", r.Name}, undo: []string{"cxl", "enable-region", r.Name}, region: r.Name},
			step{do: []string{"cxl", "destroy-region", r.Name}, undo: create(m, r), region: r.Name},
		)
	}

	return append(slices.Concat(offline, disable, destroy),
		step{do: []string{"cxl", "disable-memdev", m.Name}, undo: []string{"cxl", "enable-memdev", m.Name}})
}

// create makes a region anew. The kernel then makes its devices, in the mode of its policy.
func create(m Memory, r Region) []string {
	args := []string{"cxl", "create-region", "-m"}
	if r.Type != "-" {
		args = append(args, "-t", r.Type)
	}

	if r.Size != "-" {
		args = append(args, "-s", r.Size)
	}

	return append(args, "-w", "1", m.Name)
}

// Release implements [Ops].
func (h *host) Release(ctx context.Context, m Memory) (Released, error) {
	r := Released{Memory: m}

	out, err := h.script(ctx, scriptRegions, m.Name)
	if err == nil {
		r.Regions, err = parseRegions(out)
	}

	if err != nil {
		return r, fmt.Errorf("look for the regions of memory device %s: %w", m.Label(), err)
	}

	for _, region := range r.Regions {
		if region.Ways > 1 {
			return r, fmt.Errorf("%w: %s of memory device %s is spread over %d devices", ErrInUse, region.Name, m.Label(), region.Ways)
		}
	}

	todo := steps(m, r.Regions)

	for i, s := range todo {
		err := h.tool(ctx, s.do...)
		if err == nil {
			continue
		}

		done := todo[:i]
		// What was refused was not done; what was lost may have been.
		if s.partly || (!errors.Is(err, ErrInUse) && !errors.Is(err, ErrNoTools)) {
			done = todo[:i+1]
		}

		err = fmt.Errorf("release memory device %s of %s: %w", m.Label(), h.Name(), err)
		if back := h.undo(ctx, done); back != nil {
			err = fmt.Errorf("%w (and not everything could be put back: %w)", err, back)
		}

		return r, err
	}

	return r, nil
}

// undo takes steps back, the last first. A region that was destroyed is made anew, and needs
// no enabling.
func (h *host) undo(ctx context.Context, done []step) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()

	var failed []error

	anew := map[string]bool{} // regions

	for _, s := range slices.Backward(done) {
		switch s.undo[1] {
		case "create-region":
			anew[s.region] = true
		case "enable-region", "enable-device":
			if anew[s.region] {
				continue
			}
		}

		if err := h.tool(ctx, s.undo...); err != nil {
			failed = append(failed, err)
		}
	}

	return errors.Join(failed...)
}

// Restore implements [Ops].
func (h *host) Restore(ctx context.Context, r Released) error {
	if r.Absent {
		return nil
	}

	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), backLimit)
	defer cancel()

	scanned := false

	err := wait.Until(limited, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		all, err := h.List(ctx)
		if err != nil {
			return wait.Again, "", passing(err)
		}

		if m, ok := find(all, Target{Serial: r.Memory.Serial, Name: r.Memory.Name}); ok {
			r.Memory = m // it may have come back by another name

			return wait.Done, "", nil
		}

		if !scanned {
			scanned = true

			return wait.Again, "the PCI bus was scanned", passing(h.Rescan(ctx))
		}

		return wait.Again, "the kernel does not have it", nil
	})
	if err != nil {
		return fmt.Errorf("bring memory device %s of %s back: %w", r.Memory.Label(), h.Name(), err)
	}

	if err := h.undo(ctx, steps(r.Memory, r.Regions)); err != nil {
		return fmt.Errorf("put memory device %s of %s back in use: %w", r.Memory.Label(), h.Name(), err)
	}

	return nil
}
