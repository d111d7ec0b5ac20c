// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package wait is the only place of the provider that sleeps.
//
// A wait is a probe, a rhythm and a context. The deadline is the context's; there are
// no hidden limits. The package knows nothing of Terraform or of any far side.
package wait

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Verdict is what a probe says of the object that it looked at.
type Verdict int

// The verdicts of a probe.
const (
	Again Verdict = iota // not there yet, look again
	Done                 // the target state is reached
)

// Probe observes the remote object once. The note names what was seen; it is shown to
// the user when the wait ends early.
type Probe func(ctx context.Context) (v Verdict, note string, err error)

// Cadence is the rhythm of a wait.
type Cadence struct {
	First  time.Duration // delay before the second look; the first look is immediate
	Factor float64       // growth per look; 0 or 1 keeps the delay constant
	Max    time.Duration // upper bound of one delay; 0 means none
	Jitter float64       // fraction added at random, so that 500 hosts do not look in step
	Errors int           // transient errors in a row that are forgiven
}

// Quick is the rhythm of a state that usually passes in seconds.
//
// The first look after a verb comes after half a second; today's providers wait 15 s.
var Quick = Cadence{First: 500 * time.Millisecond, Factor: 1.4, Max: 5 * time.Second, Jitter: 0.1, Errors: 5}

// Delay returns the n-th delay of the cadence (n counts from 0), without jitter.
func (c Cadence) Delay(n int) time.Duration {
	d := c.First

	for ; n > 0 && c.Factor > 1 && (c.Max <= 0 || d < c.Max); n-- {
		d = time.Duration(float64(d) * c.Factor)
	}

	if c.Max > 0 && d > c.Max {
		return c.Max
	}

	return d
}

// Jittered adds the cadence's random part to a delay.
func (c Cadence) Jittered(d time.Duration) time.Duration {
	if c.Jitter <= 0 {
		return d
	}

	return d + time.Duration(rand.Float64()*c.Jitter*float64(d))
}

// TimeoutError says that a wait ended before its target was reached.
type TimeoutError struct {
	Waited time.Duration // how long the wait lasted
	Note   string        // what the last look saw
	Cause  error         // context.DeadlineExceeded or context.Canceled, or the cancellation's own cause
}

func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("not reached after %s", e.Waited.Round(time.Second))
	if e.Note != "" {
		s += "; last seen: " + e.Note
	}

	return s
}

// Unwrap returns the reason that the context gives.
func (e *TimeoutError) Unwrap() error { return e.Cause }

// transient marks an error that may be gone at the next look.
type transient struct {
	error

	after time.Duration
}

func (t transient) Unwrap() error { return t.error }

// Transient marks err as one that may be gone at the next look. It returns nil for nil.
func Transient(err error) error { return TransientAfter(err, 0) }

// TransientAfter is [Transient] for a service that says when to come back (Retry-After).
func TransientAfter(err error, after time.Duration) error {
	if err == nil {
		return nil
	}

	return transient{err, after}
}

// IsTransient reports whether err, or an error that it wraps, is marked by [Transient].
func IsTransient(err error) bool {
	var t transient

	return errors.As(err, &t)
}

// RetryAfter returns the delay that the service asked for, 0 where it named none.
func RetryAfter(err error) time.Duration {
	var t transient
	if errors.As(err, &t) {
		return t.after
	}

	return 0
}

// Sleep waits for d or until the context ends, whichever comes first.
func Sleep(ctx context.Context, d time.Duration) error {
	// The context first: select is not fair, and a wait that has ended must not go on.
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}

	t := time.NewTimer(d)
	defer t.Stop()

	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// Until probes until the probe says Done, returns a final error, or the context ends.
//
// The first look is immediate. Only errors marked [Transient] are forgiven, and only
// c.Errors of them in a row.
func Until(ctx context.Context, c Cadence, probe Probe) error {
	var (
		start  = time.Now()
		failed = 0
		last   string
	)

	for n := 0; ; n++ {
		v, note, err := probe(ctx)
		if note != "" {
			last = note
		}

		switch {
		case err == nil && v == Done:
			return nil
		case err == nil:
			failed = 0
		case ctx.Err() != nil:
			return &TimeoutError{time.Since(start), last, context.Cause(ctx)}
		case !IsTransient(err) || failed >= c.Errors:
			return err
		default:
			failed++
			last = err.Error()
		}

		d := max(c.Jittered(c.Delay(n)), min(RetryAfter(err), max(c.Max, c.First)))
		if cause := Sleep(ctx, d); cause != nil {
			return &TimeoutError{time.Since(start), last, cause}
		}
	}
}

// Retry calls f until it returns nil or an error that is not marked [Transient].
//
// It is for requests that the far side refuses for the moment (a lock, an overload):
// c.Errors bounds the refusals in a row, 0 leaves only the context as a bound. The last
// error is returned whatever ends the wait, joined with the reason that ended it.
func Retry(ctx context.Context, c Cadence, f func(ctx context.Context) error) error {
	for n := 0; ; n++ {
		err := f(ctx)
		if err == nil || !IsTransient(err) || (c.Errors > 0 && n >= c.Errors) {
			return err
		}

		d := max(c.Jittered(c.Delay(n)), min(RetryAfter(err), max(c.Max, c.First)))
		if cause := Sleep(ctx, d); cause != nil {
			return errors.Join(err, cause)
		}
	}
}
