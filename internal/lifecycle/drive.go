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
	l := loop[S, T]{Machine: m, start: time.Now()}

	for {
		before := m.Note(seen)

		after, done, err := l.once(ctx, seen)
		if seen = after; done {
			return seen, err
		}

		switch {
		case err == nil && l.blind:
			l.blind = false // the step that failed may fail again: that error still counts
		case err == nil:
			l.failed = 0
		default:
			if err = l.forgive(ctx, seen, err); err != nil {
				return seen, err
			}
		}

		if m.Note(seen) != before {
			l.looks = 0
		}
	}
}

// loop is what one drive remembers.
type loop[S, T any] struct {
	Machine[S, T]

	start  time.Time
	looks  int  // since the last change
	failed int  // transient errors in a row
	blind  bool // nothing was seen since the last error
}

// once decides, does and looks. Done means that there is nothing more to do.
func (l *loop[S, T]) once(ctx context.Context, seen S) (after S, done bool, err error) {
	// After an error that may pass nothing is decided on what was seen before it: whether a
	// request arrived is for the far side to say.
	if l.blind {
		after, err = l.Look(ctx, seen, 0)

		return after, false, err
	}

	step, kind, err := l.Next(seen)
	if err != nil || kind == End {
		return seen, true, err
	}

	fresh := false

	if kind == Act {
		seen, fresh, err = l.Do(ctx, seen, step)
		l.looks = 0
	}

	if err == nil && !fresh {
		seen, err = l.Look(ctx, seen, Rhythm.Jittered(Rhythm.Delay(l.looks)))
	}

	l.looks++

	return seen, false, err
}

// forgive pauses after an error that may pass; another it returns, as the last word.
func (l *loop[S, T]) forgive(ctx context.Context, seen S, err error) error {
	switch {
	case ctx.Err() != nil && ended(ctx, err):
		return timeout(ctx, l.start, l.Note(seen), err)
	case !wait.IsTransient(err) || l.failed >= patience.Errors:
		return err
	}

	pause := max(patience.Jittered(patience.Delay(l.failed)), wait.RetryAfter(err))
	if wait.Sleep(ctx, pause) != nil {
		return timeout(ctx, l.start, l.Note(seen), err)
	}

	l.failed++
	l.blind = true

	return nil
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
