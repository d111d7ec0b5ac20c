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

// verifyLimit bounds the wait for a removed GPU to leave the PCI bus.
const verifyLimit = 30 * time.Second

// persistenced is the name of nvidia-persistenced's process: the kernel keeps 15 letters.
const persistenced = "nvidia-persiste"

// Target names the GPU to release: by its UUID, else by the address at which the host showed
// it. With neither it is absent only from a host that has no GPU.
type Target struct {
	ID    string // UUID; what has not the form of one counts as empty
	BusID string // may be empty
}

// Options say how a GPU is released.
type Options struct {
	Force bool // also while somebody uses it
}

// Released is what a release did, for [Finish] or [Restore].
type Released struct {
	GPU          GPU
	Absent       bool     // the host did not have it; nothing was done
	Bare         bool     // NVIDIA's driver did not have it: it was only taken from the bus
	Foreign      string   // the driver that had it then, such as vfio-pci; empty: none
	Drained      bool     // we told it to take no new processes
	Persistence  bool     // its persistence mode was on
	Persistenced bool     // nvidia-persistenced ran, and was stopped
	Unloaded     []string // modules that no other GPU needs
	removal      bool     // a removal was begun
}

// Release takes a GPU out of use and out of the kernel, so that the fabric can take it
// away. Work on other GPUs of the host does not matter to it.
//
//  1. find the GPU by its UUID, else by its address; not there: done
//  2. refuse while processes compute on it or another driver has it, unless forced
//  3. persistence mode off, nvidia-persistenced stopped
//  4. no new processes (drain), before the next look, so that none slips in
//  5. refuse while processes hold its device file, unless forced
//  6. remove it
//  7. see that its address is gone
//
// When it fails, or is refused, or is interrupted, everything that it did is undone before
// it returns, else the error is [ErrNotUndone] too. A refusal is an [*InUseError], or
// [ErrInUse] where not a process but the system holds the GPU; [ErrInDoubt] where it cannot
// be told whether the GPU is there. A removal that the kernel began cannot be taken back:
// [ErrPending].
func Release(ctx context.Context, ops Ops, t Target, o Options) (Released, error) {
	place, err := locate(ctx, ops, t)
	r := place.released()

	switch {
	case err != nil:
		return r, fmt.Errorf("look for the GPU on %s: %w", ops.Name(), err)
	case r.Absent:
		return r, nil
	}

	err = release(ctx, ops, &r, place.last, o)

	switch {
	case err == nil:
		return r, nil
	case errors.Is(err, ErrPending):
		return r, pending(ctx, ops, r, place.last, err)
	default:
		return r, undone(ctx, ops, r, err)
	}
}

// pending is the end of a release whose removal the kernel will do at a time of its own. A GPU
// that leaves cannot be given back; what was stopped serves the others.
func pending(ctx context.Context, ops Ops, r Released, last bool, err error) error {
	if r.Persistenced && !last {
		if back := undo(ctx, ops, Released{GPU: r.GPU, Persistenced: true}); back != nil {
			return fmt.Errorf("%w (and %w: %w)", err, ErrNotUndone, back)
		}
	}

	return err
}

// release does the steps from the second on, and notes in r what there is to undo.
func release(ctx context.Context, ops Ops, r *Released, last bool, o Options) error {
	switch {
	case r.Foreign != "" && !o.Force:
		return &InUseError{GPU: r.GPU, Host: ops.Name(), Driver: r.Foreign}
	case r.Bare:
	default:
		if err := quiesce(ctx, ops, r, o); err != nil {
			return err
		}
	}

	if err := ctx.Err(); err != nil {
		return fmt.Errorf("release of GPU %s: %w", r.GPU.Label(), context.Cause(ctx))
	}

	r.removal = true

	var err error
	if r.Unloaded, err = ops.Remove(ctx, r.GPU, Removal{Last: last, Bare: r.Bare}); err != nil {
		return fmt.Errorf("remove GPU %s from %s: %w", r.GPU.Label(), ops.Name(), err)
	}

	return gone(ctx, ops, r.GPU)
}

// quiesce takes a GPU out of use: steps 2 to 5.
func quiesce(ctx context.Context, ops Ops, r *Released, o Options) error {
	g := r.GPU

	drains, err := ops.Draining(ctx, g)
	if err != nil {
		return fmt.Errorf("ask whether GPU %s drains: %w", g.Label(), err)
	}

	if !drains && !o.Force {
		if err := refuseLoad(ctx, ops, g); err != nil {
			return err
		}
	}

	if err := drain(ctx, ops, r, drains); err != nil || o.Force {
		return err
	}

	holders, err := ops.Holders(ctx, g)

	switch {
	case err != nil:
		return fmt.Errorf("look who holds GPU %s: %w", g.Label(), err)
	case len(holders) > 0:
		return &InUseError{GPU: g, Host: ops.Name(), Processes: holders}
	}

	return nil
}

// refuseLoad is the first look for users: it changes nothing.
func refuseLoad(ctx context.Context, ops Ops, g GPU) error {
	apps, err := ops.Apps(ctx)
	if err != nil {
		return fmt.Errorf("look for work on GPU %s: %w", g.Label(), err)
	}

	apps = slices.DeleteFunc(slices.Clone(apps), func(a App) bool { return !sameUUID(a.UUID, g.UUID) })
	if len(apps) == 0 {
		return nil
	}

	// The holders have process ids. Where they cannot be had, the names must do.
	holders, err := ops.Holders(ctx, g)
	if err != nil {
		holders = nil
	}

	holders = slices.DeleteFunc(holders, func(p Process) bool { return p.Comm == persistenced })

	return &InUseError{GPU: g, Host: ops.Name(), Processes: holders, Apps: apps}
}

// drain makes a GPU take no new processes: steps 3 and 4. Each thing to undo is noted before
// it is done: a command whose answer was lost may have worked. The settings of a GPU that
// drains already are not to be had, for the driver does not show it.
func drain(ctx context.Context, ops Ops, r *Released, already bool) (err error) {
	if !already {
		if r.Persistence, err = ops.Persistence(ctx, r.GPU); err != nil {
			return fmt.Errorf("ask for the persistence mode of GPU %s: %w", r.GPU.Label(), err)
		}

		if err := ops.SetPersistence(ctx, r.GPU, false); err != nil {
			return fmt.Errorf("turn persistence mode of GPU %s off: %w", r.GPU.Label(), err)
		}
	}

	if r.Persistenced, err = ops.StopPersistenced(ctx); err != nil {
		return fmt.Errorf("stop nvidia-persistenced on %s: %w", ops.Name(), err)
	}

	if already {
		return nil
	}

	r.Drained = true

	if err := ops.SetDrain(ctx, r.GPU, true); err != nil {
		return fmt.Errorf("drain GPU %s: %w", r.GPU.Label(), err)
	}

	return nil
}

// gone waits for the address of a GPU to leave the PCI bus.
func gone(ctx context.Context, ops Ops, g GPU) error {
	limited, cancel := context.WithTimeout(ctx, verifyLimit)
	defer cancel()

	err := wait.Until(limited, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		bus, err := ops.PCI(ctx)

		switch {
		case err != nil:
			return wait.Again, "", hostcmd.Passing(err, ErrUnreachable)
		case slices.Contains(bus, g.BusID):
			return wait.Again, "it is still there", nil
		default:
			return wait.Done, "", nil
		}
	})
	if err != nil {
		return fmt.Errorf("GPU %s was removed from %s, and must leave the PCI bus: %w", g.Label(), ops.Name(), err)
	}

	return nil
}

// Finish ends a release after the fabric has taken the GPU: nvidia-persistenced serves the
// remaining GPUs again, and the device file goes unless a GPU has its number.
func Finish(ctx context.Context, ops Ops, r Released) error {
	if r.Absent || r.GPU.BusID == "" {
		return nil
	}

	var failed []error

	if r.Persistenced {
		rest, err := ops.Present(ctx)
		if err == nil && len(rest) > 0 {
			err = ops.StartPersistenced(ctx)
		}

		if err != nil {
			failed = append(failed, fmt.Errorf("start nvidia-persistenced on %s again: %w", ops.Name(), err))
		}
	}

	if r.GPU.Minor >= 0 {
		if err := ops.RemoveDeviceFile(ctx, r.GPU); err != nil {
			failed = append(failed, fmt.Errorf("remove the device file of GPU %s: %w", r.GPU.Label(), err))
		}
	}

	return errors.Join(failed...)
}
