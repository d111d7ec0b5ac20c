// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle is the one loop that brings any of our objects to its goal: look,
// decide, do, wait. It knows no object; each has a machine of its own below this package.
package lifecycle

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Kind says what the loop does with a step.
type Kind int

// The kinds of steps.
const (
	Act  Kind = iota // do it, then look
	Idle             // look again after a pause
	End              // the goal is reached
)

// Machine is what the loop needs of one object: S is what a look shows, T a step.
type Machine[S, T any] interface {
	// Next decides. It is pure.
	Next(seen S) (T, Kind, error)
	// Do does one step. Fresh means that what it returns is a look of after the step.
	Do(ctx context.Context, seen S, step T) (after S, fresh bool, err error)
	// Look looks at the object, at most about within from now.
	Look(ctx context.Context, seen S, within time.Duration) (S, error)
	// Note says in a few words where the object is.
	Note(seen S) string
}

// Rhythm is the pause between looks: quick after each change, slower while nothing moves.
var Rhythm = wait.Quick

// patience says how many errors in a row that may pass (an overload, a lost connection, a
// conductor that restarts) the loop takes before it gives up; with the rhythm of patience
// that is about two minutes beyond the client's own retries.
var patience = wait.Cadence{First: time.Second, Factor: 2, Max: 20 * time.Second, Jitter: 0.2, Errors: 8}

// Drive brings an object to its goal. It returns the last look whatever happens. The error
// is final: one of the machine's, one of the far side's, or a [wait.TimeoutError].
func Drive[S, T any](ctx context.Context, m Machine[S, T], seen S) (S, error) {
	var (
		start  = time.Now()
		looks  int  // since the last change
		failed int  // transient errors in a row
		blind  bool // nothing was seen since the last error
	)

	for {
		before, within := m.Note(seen), time.Duration(0)

		var (
			err   error
			fresh bool
		)

		// After an error that may pass nothing is decided on what was seen before it: whether
		// a request arrived is for the far side to say.
		if !blind {
			step, kind, final := m.Next(seen)
			if final != nil || kind == End {
				return seen, final
			}

			if kind == Act {
				seen, fresh, err = m.Do(ctx, seen, step)
				looks = 0
			}

			within = Rhythm.Jittered(Rhythm.Delay(looks))
			looks++
		}

		if err == nil && !fresh {
			seen, err = m.Look(ctx, seen, within)
		}

		switch {
		case err == nil && blind:
			blind = false // the step that failed may fail again: that error still counts
		case err == nil:
			failed = 0
		case ctx.Err() != nil && ended(ctx, err):
			return seen, timeout(ctx, start, m.Note(seen), err)
		case !wait.IsTransient(err) || failed >= patience.Errors:
			return seen, err
		default:
			if cause := wait.Sleep(ctx, max(patience.Jittered(patience.Delay(failed)), wait.RetryAfter(err))); cause != nil {
				return seen, timeout(ctx, start, m.Note(seen), err)
			}

			failed++
			blind = true
		}

		if m.Note(seen) != before {
			looks = 0
		}
	}
}

// ended reports whether an error says no more than that the context ended, or may be a
// consequence of it. A final error is not hidden by a deadline that passes meanwhile.
func ended(ctx context.Context, err error) bool {
	return wait.IsTransient(err) || errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))
}

// timeout says where the object was when the context ended; an error that is more than
// the context's own end is kept in the note.
func timeout(ctx context.Context, start time.Time, note string, err error) error {
	if wait.IsTransient(err) {
		words, _, _ := strings.Cut(err.Error(), "\n") // the context's own words may follow
		note += "; " + words
	}

	return &wait.TimeoutError{Waited: time.Since(start), Note: note, Cause: context.Cause(ctx)}
}
