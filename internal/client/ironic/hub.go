// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	// few is the number of nodes up to which single looks are cheaper than a list.
	few = 2

	// breath is the least time between the beginnings of two lists.
	breath = 500 * time.Millisecond
)

// Hub shares looks among those who wait for nodes of one Ironic: two hundred waits cost
// one list a tick, not two hundred requests. It never overlaps looks, and rests when
// nobody waits.
type Hub struct {
	client *Client

	mu      sync.Mutex
	waiters map[*waiter]struct{}
	running bool
	rouse   context.CancelFunc // ends the sleep of the loop
	next    time.Time          // when the loop wakes; meaningful while rouse is set
	free    time.Time          // no list before then
}

// waiter is one call of Next.
type waiter struct {
	id  string
	due time.Time
	got chan look
}

type look struct {
	glance Glance
	err    error
}

// NewHub makes a Hub on a client.
func NewHub(c *Client) *Hub {
	return &Hub{client: c, waiters: map[*waiter]struct{}{}}
}

// Next returns a look at a node that is taken after d at the latest, load permitting, and
// begun after this call. It comes earlier where somebody else's look is due earlier.
func (h *Hub) Next(ctx context.Context, id string, d time.Duration) (Glance, error) {
	if ctx.Err() != nil {
		return Glance{}, fmt.Errorf("wait for node %s: %w", id, context.Cause(ctx))
	}

	w := &waiter{id: id, due: time.Now().Add(d), got: make(chan look, 1)}
	h.enter(ctx, w)

	select {
	case l := <-w.got:
		return l.glance, l.err
	case <-ctx.Done():
		h.leave(w)

		return Glance{}, fmt.Errorf("wait for node %s: %w", id, context.Cause(ctx))
	}
}

func (h *Hub) enter(ctx context.Context, w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.waiters[w] = struct{}{}

	switch {
	case !h.running:
		h.running = true

		go h.run(context.WithoutCancel(ctx))
	case h.rouse != nil && w.due.Before(h.next):
		h.rouse()
	}
}

func (h *Hub) leave(w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()

	delete(h.waiters, w)

	if len(h.waiters) == 0 && h.rouse != nil {
		h.rouse()
	}
}

// run looks whenever a look is due, until nobody waits.
func (h *Hub) run(ctx context.Context) {
	for {
		pause, d, ok := h.plan(ctx)
		if !ok {
			return
		}

		if d > 0 {
			_ = wait.Sleep(pause, d) // a newcomer may be due earlier: plan again
		}

		if present := h.take(); len(present) > 0 {
			h.look(ctx, present)
		}
	}
}

// plan says how long the loop may sleep; false ends it.
func (h *Hub) plan(ctx context.Context) (context.Context, time.Duration, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()

	if len(h.waiters) == 0 {
		h.running = false

		return nil, 0, false
	}

	pause, rouse := context.WithCancel(ctx)
	h.next, h.rouse = h.dueAt(), rouse

	return pause, time.Until(h.next), true
}

// dueAt is when the earliest look is due. Lists are spaced.
func (h *Hub) dueAt() time.Time {
	var first time.Time

	for w := range h.waiters {
		if first.IsZero() || w.due.Before(first) {
			first = w.due
		}
	}

	if h.distinct() > few && first.Before(h.free) {
		return h.free
	}

	return first
}

func (h *Hub) distinct() int {
	ids := map[string]struct{}{}
	for w := range h.waiters {
		ids[w.id] = struct{}{}
	}

	return len(ids)
}

// take ends a sleep and, where a look is due, hands over all who wait.
func (h *Hub) take() map[string][]*waiter {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.rouse()
	h.rouse = nil

	if len(h.waiters) == 0 || time.Now().Before(h.dueAt()) {
		return nil
	}

	present := map[string][]*waiter{}
	for w := range h.waiters {
		present[w.id] = append(present[w.id], w)
	}

	clear(h.waiters)

	return present
}

// look answers all who wait: by single looks where they are few, else by one list. A node
// that the list lacks is looked at alone; its absence says nothing.
func (h *Hub) look(ctx context.Context, present map[string][]*waiter) {
	if len(present) > few {
		start := time.Now()
		all, err := h.client.Glances(ctx)

		h.mu.Lock()
		h.free = start.Add(max(breath, 2*time.Since(start))) // a busy Ironic gets as much rest as it worked
		h.mu.Unlock()

		if err != nil {
			for _, group := range present {
				answerAll(group, look{err: err})
			}

			return
		}

		for _, g := range all {
			answerAll(present[g.UUID], look{glance: g})
			delete(present, g.UUID)
		}
	}

	var pending sync.WaitGroup

	for id, group := range present {
		pending.Go(func() {
			g, err := h.client.Glance(ctx, id)
			answerAll(group, look{g, err})
		})
	}

	pending.Wait()
}

func answerAll(group []*waiter, l look) {
	for _, w := range group {
		w.got <- l
	}
}
