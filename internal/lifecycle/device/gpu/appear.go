// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// How long a GPU may take to show itself before the kernel is asked to look for it, and
// how often it is asked again. Most fabrics announce a device (hot plug).
const (
	rescanAfter = 15 * time.Second
	rescanEvery = time.Minute
)

// Appear waits until a GPU is visible or the context ends. Where the GPU does not come by
// itself the PCI bus is scanned, and again once a minute. What it returns is the last look.
func Appear(ctx context.Context, ops Ops, id string, before Before) (Sight, error) {
	var (
		last Sight
		next = time.Now().Add(rescanAfter)
	)

	err := wait.Until(ctx, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		seen, err := See(ctx, ops, id, before)
		if err != nil {
			return wait.Again, "", passing(err)
		}

		last = seen

		switch {
		case seen.Visible:
			return wait.Done, "", nil
		case time.Now().Before(next):
			return wait.Again, seen.Note, nil
		}

		next = time.Now().Add(rescanEvery)

		if err := ops.Rescan(ctx); err != nil {
			return wait.Again, fmt.Sprintf("%s; the scan of the PCI bus failed: %v", seen.Note, err), passing(keep(err))
		}

		return wait.Again, seen.Note + "; the PCI bus was scanned", nil
	})
	if err != nil {
		return last, fmt.Errorf("wait for the GPU to be visible on %s: %w", ops.Name(), err)
	}

	return last, nil
}

// passing marks the errors that may be gone at the next look.
func passing(err error) error {
	if errors.Is(err, ErrUnreachable) {
		return wait.Transient(err)
	}

	return err
}
