// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"context"
	"fmt"
)

// Drain takes a GPU out of use and leaves it in the kernel: the first five steps of
// [Release], for a person who wants the work to end before anything else is decided. What
// was stopped for it and serves other GPUs too is started again.
//
// When it fails, or is refused, or is interrupted, everything that it did is undone before
// it returns. A refusal is an [*InUseError].
func Drain(ctx context.Context, ops Ops, t Target, o Options) (Released, error) {
	place, err := locate(ctx, ops, t)
	r := Released{GPU: place.gpu, Absent: !place.found, Bare: place.bare}

	switch {
	case err != nil:
		return r, fmt.Errorf("look for the GPU on %s: %w", ops.Name(), err)
	case r.Absent, r.Bare: // what no driver has, no process can use
		return r, nil
	}

	if err := quiesce(ctx, ops, &r, o); err != nil {
		if back := undo(ctx, ops, r); back != nil {
			err = fmt.Errorf("%w (and not everything could be put back: %w)", err, back)
		}

		return r, err
	}

	if !r.Persistenced {
		return r, nil
	}

	if err := ops.StartPersistenced(ctx); err != nil {
		return r, fmt.Errorf("GPU %s drains, but nvidia-persistenced does not start on %s again: %w", r.GPU.Label(), ops.Name(), err)
	}

	return r, nil
}

// Undrain makes a GPU take processes again.
func Undrain(ctx context.Context, ops Ops, t Target) (Released, error) {
	place, err := locate(ctx, ops, t)
	r := Released{GPU: place.gpu, Absent: !place.found, Bare: place.bare}

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
