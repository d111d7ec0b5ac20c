// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/hostcmd"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// undoLimit bounds what is put back after a failure, also when the caller's time is over.
const (
	undoLimit = 2 * time.Minute
	backLimit = time.Minute // of the part that waits for the GPU to come back
)

// Restore gives the host its GPU back after the fabric did not take it: the kernel looks
// for it, the driver initialises it, and it takes processes as it did. It has time of its
// own: the reason for it may be that the caller's is over.
func Restore(ctx context.Context, ops Ops, r Released) error {
	if r.Absent {
		return nil
	}

	r.removal = true

	return undo(ctx, ops, r)
}

// undone puts a host back after a failure, and tells of what stays.
func undone(ctx context.Context, ops Ops, r Released, err error) error {
	if back := undo(ctx, ops, r); back != nil {
		return fmt.Errorf("%w (and %w: %w)", err, ErrNotUndone, back)
	}

	return err
}

// undo puts a host back as it was before the release. It goes on after a step that failed.
func undo(ctx context.Context, ops Ops, r Released) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()

	var failed []error

	// What failed may have failed for a lost connection, which comes back.
	try := func(what string, do func(ctx context.Context) error) bool {
		err := wait.Retry(ctx, wait.Quick, func(ctx context.Context) error { return hostcmd.Passing(do(ctx), ErrUnreachable) })
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", what, err))
		}

		return err == nil
	}

	there := !r.removal || try("bring GPU "+r.GPU.Label()+" back", func(ctx context.Context) error { return bringBack(ctx, ops, r) })

	if len(r.Unloaded) > 0 && there {
		try("load the driver's other modules on "+ops.Name(), func(ctx context.Context) error { return ops.Load(ctx, r.Unloaded) })
	}

	if r.Drained && there {
		try("end the drain of GPU "+r.GPU.Label(), func(ctx context.Context) error { return ops.SetDrain(ctx, r.GPU, false) })
	}

	if r.Persistence && there {
		try("turn persistence mode of GPU "+r.GPU.Label()+" on", func(ctx context.Context) error { return ops.SetPersistence(ctx, r.GPU, true) })
	}

	if r.Persistenced {
		try("start nvidia-persistenced on "+ops.Name(), ops.StartPersistenced)
	}

	return errors.Join(failed...)
}

// bringBack makes the kernel find a removed GPU again, and the driver take it.
func bringBack(ctx context.Context, ops Ops, r Released) error {
	ctx, cancel := context.WithTimeout(ctx, backLimit)
	defer cancel()

	bus, err := ops.PCI(ctx)
	if err != nil {
		return err
	}

	if !slices.Contains(bus, r.GPU.BusID) {
		if err := ops.Rescan(ctx); err != nil {
			return err
		}
	}

	return wait.Until(ctx, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		back, note, err := isBack(ctx, ops, r)

		switch {
		case err != nil:
			return wait.Again, "", hostcmd.Passing(err, ErrUnreachable)
		case back:
			return wait.Done, "", nil
		default:
			return wait.Again, note, nil
		}
	})
}

// isBack looks for a GPU on the bus and, unless it never had a driver, in the driver.
func isBack(ctx context.Context, ops Ops, r Released) (bool, string, error) {
	if r.Bare {
		bus, err := ops.PCI(ctx)

		return slices.Contains(bus, r.GPU.BusID), "it is not on the PCI bus", err
	}

	for range 2 {
		all, err := ops.Present(ctx)
		if err != nil {
			return false, "", err
		}

		if has(all, r.GPU.UUID) || (r.GPU.UUID == "" && slices.ContainsFunc(all, func(g GPU) bool { return g.BusID == r.GPU.BusID })) {
			return true, "", nil
		}

		if err := keep(ops.Init(ctx)); err != nil {
			return false, "", err
		}
	}

	return false, "the driver does not have it", nil
}
