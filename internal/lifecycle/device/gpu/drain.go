// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"context"
	"fmt"
	"time"
)

// startLimit bounds the start of nvidia-persistenced after a drain, interrupted or not.
const startLimit = time.Minute

// Drain takes a GPU out of use and leaves it in the kernel: the first five steps of
// [Release], for a person who wants the work to end before anything else is decided. What
// was stopped for it and serves other GPUs too is started again.
//
// When it fails, or is refused, or is interrupted, everything that it did is undone before
// it returns, else the error is [ErrNotUndone] too. A refusal is an [*InUseError].
func Drain(ctx context.Context, ops Ops, t Target, o Options) (Released, error) {
	place, err := locate(ctx, ops, t)
	r := place.released()

	switch {
	case err != nil:
		return r, fmt.Errorf("look for the GPU on %s: %w", ops.Name(), err)
	case r.Foreign != "" && !o.Force:
		return r, &InUseError{GPU: r.GPU, Host: ops.Name(), Driver: r.Foreign}
	case r.Absent, r.Bare: // what NVIDIA's driver does not have, it does not drain
		return r, nil
	}

	if err := quiesce(ctx, ops, &r, o); err != nil {
		return r, undone(ctx, ops, r, err)
	}

	if !r.Persistenced {
		return r, nil
	}

	// It serves the other GPUs too, so an interrupt at this point does not keep it stopped.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), startLimit)
	defer cancel()

	if err := ops.StartPersistenced(limited); err != nil {
		return r, undone(ctx, ops, r, fmt.Errorf("start nvidia-persistenced on %s again: %w", ops.Name(), err))
	}

	return r, nil
}

// Undrain makes a GPU take processes again.
func Undrain(ctx context.Context, ops Ops, t Target) (Released, error) {
	place, err := locate(ctx, ops, t)
	r := place.released()

	switch {
	case err != nil:
		return r, fmt.Errorf("look for the GPU on %s: %w", ops.Name(), err)
	case r.Absent, r.Bare:
		return r, nil
	}

	if err := ops.SetDrain(ctx, r.GPU, false); err != nil {
		return r, fmt.Errorf("end the drain of GPU %s: %w", r.GPU.Label(), err)
	}

	return r, nil
}
