// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package wait_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// spent waits for the end of a context and says how long that took.
func spent(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	<-ctx.Done()

	return time.Since(start), context.Cause(ctx)
}

func TestBudget_isADeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, _, cancel := wait.WithBudget(t.Context(), time.Minute)
		defer cancel()

		if took, cause := spent(ctx); took != time.Minute || !errors.Is(cause, context.DeadlineExceeded) {
			t.Errorf("ended after %s: %v", took, cause)
		}
	})
}

func TestBudget_standsStillWhilePaused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, budget, cancel := wait.WithBudget(t.Context(), time.Minute)
		defer cancel()

		time.Sleep(20 * time.Second)
		budget.Pause()
		budget.Pause() // a second time is the first
		time.Sleep(time.Hour)

		if ctx.Err() != nil {
			t.Fatal("it ended while it stood still")
		}

		budget.Resume()
		budget.Resume()

		if took, cause := spent(ctx); took != 40*time.Second || !errors.Is(cause, context.DeadlineExceeded) {
			t.Errorf("ended after %s: %v", took, cause)
		}
	})
}

func TestBudget_released(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, budget, cancel := wait.WithBudget(t.Context(), time.Minute)
		cancel()
		time.Sleep(time.Hour)

		if !errors.Is(context.Cause(ctx), context.Canceled) || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Errorf("ended by %v", context.Cause(ctx))
		}

		budget.Pause()
		cancel()
	})
}

func TestBudget_endsWithItsParent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := errors.New("asked to stop")
		parent, stop := context.WithCancelCause(t.Context())

		ctx, budget, cancel := wait.WithBudget(parent, time.Minute)
		defer cancel()

		budget.Pause()
		stop(asked)

		if _, cause := spent(ctx); !errors.Is(cause, asked) {
			t.Errorf("ended by %v", cause)
		}
	})
}

func TestBudget_noBudgetHasNoClock(t *testing.T) {
	t.Parallel()

	var none *wait.Budget

	none.Pause()
	none.Resume()
}
