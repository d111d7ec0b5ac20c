// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"context"
	"sync"
	"time"
)

// Rounds shares looks at a far side among those who wait there: however many wait, one look a round
// answers them. Rounds never overlap, and rest when nobody waits. The zero value with a Look is ready.
type Rounds[T any] struct {
	// Look answers all who are present, by what they wait for: each of them once, whatever happens. It
	// returns before when no other round may begin; zero where it puts off none.
	Look func(ctx context.Context, present map[string][]chan<- T) time.Time
	// Light reports whether a look at these things is so cheap that it is never put off; nil: none is.
	Light func(keys map[string]struct{}) bool

	mu      sync.Mutex
	waiting map[*turn[T]]struct{}
	running bool
	rouse   context.CancelFunc // ends the sleep of the loop
	next    time.Time          // when the loop wakes; meaningful while rouse is set
	free    time.Time          // no round before then
}

// turn is one call of Next.
type turn[T any] struct {
	key string
	due time.Time
	got chan T
}

// Next returns an answer about something that is looked at after d at the latest, load permitting, and
// begun after this call. It comes earlier where somebody else's look is due earlier. The error is the
// context's.
func (r *Rounds[T]) Next(ctx context.Context, key string, d time.Duration) (T, error) {
	var none T

	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}

	t := &turn[T]{key: key, due: time.Now().Add(d), got: make(chan T, 1)}
	r.enter(ctx, t)

	select {
	case answer := <-t.got:
		return answer, nil
	case <-ctx.Done():
		r.leave(t)

		return none, context.Cause(ctx)
	}
}

func (r *Rounds[T]) enter(ctx context.Context, t *turn[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.waiting == nil {
		r.waiting = map[*turn[T]]struct{}{}
	}

	r.waiting[t] = struct{}{}

	switch {
	case !r.running:
		r.running = true

		go r.run(context.WithoutCancel(ctx))
	case r.rouse != nil && t.due.Before(r.next):
		r.rouse()
	}
}

func (r *Rounds[T]) leave(t *turn[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()

	delete(r.waiting, t)

	if len(r.waiting) == 0 && r.rouse != nil {
		r.rouse()
	}
}

// run looks whenever a look is due, until nobody waits.
func (r *Rounds[T]) run(ctx context.Context) {
	for {
		pause, d, ok := r.plan(ctx)
		if !ok {
			return
		}

		if d > 0 {
			_ = Sleep(pause, d) // a newcomer may be due earlier: plan again
		}

		present := r.take()
		if len(present) == 0 {
			continue
		}

		if free := r.Look(ctx, present); !free.IsZero() {
			r.mu.Lock()
			r.free = free
			r.mu.Unlock()
		}
	}
}

// plan says how long the loop may sleep; false ends it.
func (r *Rounds[T]) plan(ctx context.Context) (context.Context, time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if len(r.waiting) == 0 {
		r.running = false

		return nil, 0, false
	}

	pause, rouse := context.WithCancel(ctx) //nolint:gosec // take calls it
	r.next, r.rouse = r.dueAt(), rouse

	return pause, time.Until(r.next), true
}

// dueAt is when the earliest look is due. Rounds are spaced.
func (r *Rounds[T]) dueAt() time.Time {
	var first time.Time

	for t := range r.waiting {
		if first.IsZero() || t.due.Before(first) {
			first = t.due
		}
	}

	if first.Before(r.free) && !r.light() {
		return r.free
	}

	return first
}

func (r *Rounds[T]) light() bool {
	if r.Light == nil {
		return false
	}

	keys := map[string]struct{}{}
	for t := range r.waiting {
		keys[t.key] = struct{}{}
	}

	return r.Light(keys)
}

// take ends a sleep and, where a look is due, hands over all who wait.
func (r *Rounds[T]) take() map[string][]chan<- T {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.rouse()
	r.rouse = nil

	if len(r.waiting) == 0 || time.Now().Before(r.dueAt()) {
		return nil
	}

	present := map[string][]chan<- T{}
	for t := range r.waiting {
		present[t.key] = append(present[t.key], t.got)
	}

	clear(r.waiting)

	return present
}
