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

var steady = wait.Cadence{First: 10 * time.Second, Errors: 2}

func TestDelay(t *testing.T) {
	t.Parallel()

	c := wait.Cadence{First: time.Second, Factor: 2, Max: 5 * time.Second}
	for n, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
		if got := c.Delay(n); got != want {
			t.Errorf("delay %d is %s, want %s", n, got, want)
		}
	}

	if got := (wait.Cadence{First: time.Second}).Delay(9); got != time.Second {
		t.Errorf("a cadence without a factor grew to %s", got)
	}
}

func TestUntil_firstLookIsImmediate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()

		err := wait.Until(t.Context(), steady, func(context.Context) (wait.Verdict, string, error) { return wait.Done, "", nil })
		if err != nil || time.Since(start) != 0 {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestUntil_deadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		err := wait.Until(ctx, steady, func(context.Context) (wait.Verdict, string, error) { return wait.Again, "clean wait", nil })

		var timeout *wait.TimeoutError
		if !errors.As(err, &timeout) || timeout.Note != "clean wait" || timeout.Waited != time.Minute {
			t.Fatalf("got %v", err)
		}

		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v does not name the deadline", err)
		}
	})
}

func TestUntil_transientErrorsAreForgiven(t *testing.T) {
	t.Parallel()

	boom := errors.New("boom")

	for name, tc := range map[string]struct {
		errs  int
		mark  func(error) error
		fails bool
	}{
		"two in a row are forgiven":         {2, wait.Transient, false},
		"the third ends the wait":           {3, wait.Transient, true},
		"one that is not marked ends it":    {1, func(err error) error { return err }, true},
		"a service that names a delay, too": {1, func(err error) error { return wait.TransientAfter(err, time.Second) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := 0

				err := wait.Until(t.Context(), steady, func(context.Context) (wait.Verdict, string, error) {
					if n++; n <= tc.errs {
						return wait.Again, "", tc.mark(boom)
					}

					return wait.Done, "", nil
				})
				if (err != nil) != tc.fails {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestRetry_keepsTheLastCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()

		locked := errors.New("locked by host c1")

		err := wait.Retry(ctx, wait.Cadence{First: 10 * time.Second}, func(context.Context) error { return wait.Transient(locked) })
		if !errors.Is(err, locked) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestSleep_obeysTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("asked to stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)

		start := time.Now()
		if err := wait.Sleep(ctx, time.Hour); !errors.Is(err, cause) || time.Since(start) != 0 {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}
