// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"context"
	"sync"
	"time"
)

// Budget is a deadline that can be stopped for a while: waiting in a queue does not count.
type Budget struct {
	mu     sync.Mutex
	left   time.Duration
	since  time.Time // when the clock was started; zero while it is stopped
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// WithBudget returns a context that ends with context.DeadlineExceeded as its cause once d
// has been spent. The returned function releases it.
func WithBudget(parent context.Context, d time.Duration) (context.Context, *Budget, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	b := &Budget{left: d, cancel: cancel}
	b.Resume()

	return ctx, b, func() {
		b.Pause()
		cancel(context.Canceled)
	}
}

// Pause stops the clock. A nil budget has no clock.
func (b *Budget) Pause() {
	if b == nil {
		return
	}

	b.mu.Lock()
	defer b.mu.Unlock()

	if b.since.IsZero() {
		return
	}

	b.timer.Stop()
	b.left -= time.Since(b.since)
	b.since = time.Time{}
}

// Resume starts the clock again.
func (b *Budget) Resume() {
	if b == nil {
		return
	}

	b.mu.Lock()
	defer b.mu.Unlock()

	if !b.since.IsZero() {
		return
	}

	b.since = time.Now()
	b.timer = time.AfterFunc(max(b.left, 0), func() { b.cancel(context.DeadlineExceeded) })
}
