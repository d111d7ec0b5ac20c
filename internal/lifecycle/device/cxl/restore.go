// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cxl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/hostcmd"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// What is put back after a failure is bounded, also when the caller's time is over.
const (
	undoLimit = 2 * time.Minute
	backLimit = time.Minute // of the part that waits for the device to come back
)

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
			return wait.Again, "", hostcmd.Passing(err, ErrUnreachable)
		}

		if m, ok := find(all, Target{Serial: r.Memory.Serial, Name: r.Memory.Name}); ok {
			r.Memory = m // it may have come back by another name

			return wait.Done, "", nil
		}

		if !scanned {
			scanned = true

			return wait.Again, "the PCI bus was scanned", hostcmd.Passing(h.Rescan(ctx), ErrUnreachable)
		}

		return wait.Again, "the kernel does not have it", nil
	})
	if err != nil {
		return fmt.Errorf("bring memory device %s of %s back: %w", r.Memory.Label(), h.Name(), err)
	}

	if err := h.undo(ctx, r.Memory, r.Regions, steps(r.Memory, r.Regions)); err != nil {
		return fmt.Errorf("put memory device %s of %s back in use: %w", r.Memory.Label(), h.Name(), err)
	}

	return nil
}

// done are the steps that were done, or may have been.
type done []step

// has reports whether a command is among them.
func (d done) has(args ...string) bool {
	return slices.ContainsFunc(d, func(s step) bool { return slices.Equal(s.do, args) })
}

// undo brings a device's regions back to what they were. It does not go by the steps alone: of
// a step whose answer was lost, and of a device that came back, the kernel shows how it is.
func (h *host) undo(ctx context.Context, m Memory, before []Region, steps done) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()

	if steps.has("cxl", "disable-memdev", m.Name) {
		if err := h.again(ctx, func(ctx context.Context) error { return h.tool(ctx, "cxl", "enable-memdev", m.Name) }); err != nil {
			return err // without it there are no regions
		}
	}

	var failed []error

	for _, r := range before {
		if !slices.ContainsFunc(steps, func(s step) bool { return s.region == r.Name }) {
			continue
		}

		if err := h.bringBack(ctx, m, r, steps); err != nil {
			failed = append(failed, err)
		}
	}

	return errors.Join(failed...)
}

// again does what can be done twice until the connection holds.
func (h *host) again(ctx context.Context, do func(ctx context.Context) error) error {
	return wait.Retry(ctx, wait.Quick, func(ctx context.Context) error { return hostcmd.Passing(do(ctx), ErrUnreachable) })
}

// bringBack brings one region back, and then its devices.
func (h *host) bringBack(ctx context.Context, m Memory, r Region, steps done) error {
	var (
		now []Region
		err error
	)

	look := func(ctx context.Context) error {
		now, err = h.regions(ctx, m)

		return err
	}
	if err := h.again(ctx, look); err != nil {
		return err
	}

	others := now
	anew := !slices.ContainsFunc(now, r.isNamed)

	switch {
	case anew:
		err = h.tool(ctx, create(m, r)...)
	case steps.has("cxl", "disable-region", r.Name):
		others = slices.DeleteFunc(slices.Clone(now), r.isNamed)
		err = h.tool(ctx, "cxl", "enable-region", r.Name)
	default:
		others = slices.DeleteFunc(slices.Clone(now), r.isNamed)
	}

	if err != nil {
		return err
	}

	if err := h.again(ctx, look); err != nil {
		return err
	}

	// One that was made anew may have another name, and its devices too.
	i := slices.IndexFunc(now, func(n Region) bool { return !slices.ContainsFunc(others, n.isNamed) })
	if i < 0 {
		return fmt.Errorf("%w: region %s of memory device %s is not shown", ErrCommand, r.Name, m.Label())
	}

	return h.bringDevices(ctx, r, now[i], anew, steps)
}

// bringDevices gives the devices of a region back what they were: memory of the system, or not.
func (h *host) bringDevices(ctx context.Context, before, now Region, anew bool, steps done) error {
	var failed []error

	for i, d := range before.Devices {
		switch {
		case d.Driver == "":
			continue
		case i >= len(now.Devices):
			failed = append(failed, fmt.Errorf("%w: %s of %s has not come back", ErrCommand, d.Name, now.Name))

			continue
		}

		is := now.Devices[i]

		var err error

		if is.Driver == "" {
			if err = h.tool(ctx, "daxctl", "enable-device", is.Name); err == nil {
				is.Driver = d.Driver
			}
		}

		switch {
		case err != nil:
		case d.RAM() != is.RAM():
			err = fmt.Errorf("%w: %s had the driver %s and has %s now; `daxctl reconfigure-device` changes that", ErrCommand, is.Name, d.Driver, is.Driver)
		case d.RAM() && (anew || steps.has("daxctl", "offline-memory", d.Name)):
			err = h.tool(ctx, "daxctl", "online-memory", is.Name)
		}

		if err != nil {
			failed = append(failed, err)
		}
	}

	return errors.Join(failed...)
}

// isNamed reports whether two regions have one name.
func (r Region) isNamed(o Region) bool { return r.Name == o.Name }

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
