// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// counter is an object that one step brings from n to n+1, a while later.
type counter struct {
	target, asked int
	takes         time.Duration // from a step to its effect; 0: at once, and Do sees it
	due           time.Time
	now           int

	does, looks  int
	pauses       []time.Duration
	doErr        []error
	lookErr      []error
	refuse       error
	lostOnlyWork bool // a failing step does its work nevertheless
}

func pop(list *[]error) error {
	if len(*list) == 0 {
		return nil
	}

	err := (*list)[0]
	*list = (*list)[1:]

	return err
}

func (c *counter) Next(seen int) (string, lifecycle.Kind, error) {
	switch {
	case c.refuse != nil && seen > 0:
		return "", lifecycle.End, c.refuse
	case seen >= c.target:
		return "stop", lifecycle.End, nil
	case seen < c.asked:
		return "wait", lifecycle.Idle, nil
	default:
		return "add", lifecycle.Act, nil
	}
}

func (c *counter) Do(_ context.Context, seen int, _ string) (int, bool, error) {
	c.does++

	err := pop(&c.doErr)
	if err != nil && !c.lostOnlyWork {
		return seen, false, err
	}

	c.asked = seen + 1
	if c.takes == 0 && err == nil {
		c.now++

		return c.now, true, nil
	}

	c.due = time.Now().Add(c.takes)

	return seen, false, err
}

func (c *counter) Look(ctx context.Context, seen int, within time.Duration) (int, error) {
	c.looks++
	c.pauses = append(c.pauses, within)

	if err := wait.Sleep(ctx, within); err != nil {
		return seen, err
	}

	if err := pop(&c.lookErr); err != nil {
		return seen, err
	}

	if c.now < c.asked && !time.Now().Before(c.due) {
		c.now++
	}

	return c.now, nil
}

func (c *counter) Note(seen int) string { return "at " + strconv.Itoa(seen) }

func repeat(err error, n int) []error {
	var out []error
	for range n {
		out = append(out, err)
	}

	return out
}

func TestDrive_reachesItsGoal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counter{target: 3}
		if n, err := lifecycle.Drive[int, string](t.Context(), c, 0); n != 3 || err != nil || c.looks != 0 {
			t.Errorf("%d, %v after %d looks: a step that sees its own effect needs none", n, err, c.looks)
		}
	})
}

func TestDrive_looksLessOftenWhileNothingMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counter{target: 2, takes: time.Minute}
		if n, err := lifecycle.Drive[int, string](t.Context(), c, 0); n != 2 || err != nil || c.does != 2 {
			t.Fatalf("%d, %v, %d steps", n, err, c.does)
		}

		quick := 0

		for _, p := range c.pauses {
			if p < 600*time.Millisecond {
				quick++
			}

			if p > 6*time.Second {
				t.Errorf("a pause of %s", p)
			}
		}

		// The first look after each step comes quickly.
		if quick != 2 || c.looks > 40 {
			t.Errorf("%d quick looks of %d", quick, c.looks)
		}
	})
}

func TestDrive_errors(t *testing.T) {
	t.Parallel()

	boom := errors.New("boom")
	passing := wait.Transient(boom)

	for name, tc := range map[string]struct {
		c     counter
		fails bool
		does  int
	}{
		"a look that fails a few times":                  {counter{target: 1, takes: time.Second, lookErr: repeat(passing, 8)}, false, 1},
		"a look that fails for ever":                     {counter{target: 1, takes: time.Second, lookErr: repeat(passing, 9)}, true, 1},
		"a look that is refused":                         {counter{target: 1, takes: time.Second, lookErr: repeat(boom, 1)}, true, 1},
		"a step that fails a few times":                  {counter{target: 1, takes: time.Second, doErr: repeat(passing, 8)}, false, 9},
		"a step that fails for ever":                     {counter{target: 1, takes: time.Second, doErr: repeat(passing, 99)}, true, 9},
		"a step that is refused":                         {counter{target: 1, doErr: repeat(boom, 1)}, true, 1},
		"errors that are not in a row are forgiven":      {counter{target: 20, doErr: []error{passing, nil, passing, nil, passing, nil, passing, nil, passing, nil, passing, nil, passing, nil, passing, nil, passing, nil, passing, nil}}, false, 30},
		"an answer that was lost: the step is not twice": {counter{target: 1, takes: time.Second, doErr: repeat(passing, 1), lostOnlyWork: true}, false, 1},
		"also when the looks after it fail":              {counter{target: 1, takes: time.Second, doErr: repeat(passing, 1), lostOnlyWork: true, lookErr: repeat(passing, 5)}, false, 1},
		"the machine's own error":                        {counter{target: 2, refuse: boom}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := tc.c

				_, err := lifecycle.Drive[int, string](t.Context(), &c, 0)
				if (err != nil) != tc.fails || (tc.fails && !errors.Is(err, boom)) || c.does != tc.does {
					t.Errorf("got %v after %d steps", err, c.does)
				}
			})
		})
	}
}

func TestDrive_obeysRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counter{target: 1, doErr: []error{wait.TransientAfter(errors.New("503"), time.Minute)}}
		start := time.Now()

		if _, err := lifecycle.Drive[int, string](t.Context(), c, 0); err != nil || time.Since(start) < time.Minute {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func TestDrive_deadline(t *testing.T) {
	t.Parallel()

	locked := wait.Transient(errors.New("locked by c1"))
	final := errors.New("no such image")

	for name, tc := range map[string]struct {
		c    counter
		note string // of the timeout; empty: the error is the final one
	}{
		"while it waits": {counter{target: 1, takes: time.Hour}, "at 0"},
		"while the far side refuses, its words are kept": {counter{target: 1, takes: time.Hour, lookErr: repeat(locked, 8)}, "at 0; locked by c1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, _, cancel := wait.WithBudget(t.Context(), 10*time.Second)
				defer cancel()

				n, err := lifecycle.Drive[int, string](ctx, &tc.c, 0)

				var timeout *wait.TimeoutError
				if !errors.As(err, &timeout) || timeout.Waited != 10*time.Second || timeout.Note != tc.note || n != 0 || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			})
		})
	}

	t.Run("a final error is not hidden by it", func(t *testing.T) {
		t.Parallel()

		ctx, cancel := context.WithCancel(t.Context())
		cancel()

		c := &counter{target: 1, doErr: []error{final}}
		if _, err := lifecycle.Drive[int, string](ctx, c, 0); !errors.Is(err, final) {
			t.Errorf("got %v", err)
		}
	})
}
