// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// CredentialsError says that Ironic could not reach the BMC with what was just written.
type CredentialsError struct{ LastError string }

func (e *CredentialsError) Error() string {
	return "the BMC does not accept the new address or credentials: " + e.LastError
}

// A request that was accepted begins within a moment; with an old error in the way it is
// given more time.
const (
	quiet  = 2 * time.Second
	silent = 15 * time.Second
)

// verify tries new credentials by asking Ironic for the power state that the machine has
// already: its validate does not try a password, and the machine that runs Terraform often
// cannot reach a BMC. Nothing moves: Ironic reads the power state and finds it reached.
func (r *Run) verify(ctx context.Context, seen Seen) error {
	target := seen.Node.PowerState
	if target != ironic.PowerOn && target != ironic.PowerOff {
		r.mem.verified = true // its power was never known: the next sync tells

		return nil
	}

	if err := r.Backend.Power(ctx, seen.Node.UUID, target); err != nil {
		return fmt.Errorf("try the BMC's new credentials: %w", err)
	}

	var (
		glance ironic.Glance
		began  = time.Now()
		moved  bool
	)

	err := wait.Until(ctx, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		var err error
		if glance, err = r.Backend.Glance(ctx, seen.Node.UUID, 0); err != nil {
			return wait.Again, "", err
		}

		if glance.TargetPowerState != "" || glance.Reservation != "" {
			moved = true

			return wait.Again, "Ironic asks the BMC", nil
		}

		// Ironic clears last_error when it begins, so an old one that stays is either the same
		// failure once more, or nothing has begun yet.
		begun := moved || glance.LastError != seen.Node.LastError
		if since := time.Since(began); begun || (glance.LastError == "" && since > quiet) || since > silent {
			return wait.Done, "", nil
		}

		return wait.Again, "Ironic has not begun", nil
	})

	switch {
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return err
	case err != nil:
		return fmt.Errorf("try the BMC's new credentials: %w", err)
	case glance.LastError != "":
		return &CredentialsError{glance.LastError}
	}

	r.mem.verified = true

	return nil
}
