// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	// tick is the rhythm of all who wait for Nodes.
	tick = 5 * time.Second

	// breath is the least time between the beginnings of two lists of Nodes.
	breath = 500 * time.Millisecond
)

// Hub is a [Workload] whose lists of Nodes are shared by all who wait: two hundred machines
// cost one list a tick. It never overlaps lists, and rests when nobody waits.
type Hub struct {
	Workload

	mu      sync.Mutex
	waiting map[chan view]time.Time // when each wants its look at the latest
	running bool
	rouse   context.CancelFunc // ends the sleep of the loop
	next    time.Time          // when the loop wakes; meaningful while rouse is set
	free    time.Time          // no list before then
}

// view is one list of Nodes.
type view struct {
	index *Index
	err   error
}

// NewHub makes a Hub on a workload cluster.
func NewHub(api Workload) *Hub {
	if h, ok := api.(*Hub); ok {
		return h
	}

	return &Hub{Workload: api, waiting: map[chan view]time.Time{}}
}

// Nodes returns a list that is begun after this call: at once, but for a breath after the
// last one. It is shared, and must not be changed.
func (h *Hub) Nodes(ctx context.Context) ([]kube.Node, error) {
	x, err := h.look(ctx, 0)
	if err != nil {
		return nil, err
	}

	return x.nodes, nil
}

// look is [Hub.Nodes], looked through once for all, after d at the latest. It comes earlier
// where somebody else's look is due earlier.
func (h *Hub) look(ctx context.Context, d time.Duration) (*Index, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("list the Nodes: %w", context.Cause(ctx))
	}

	got := make(chan view, 1)
	h.enter(ctx, got, time.Now().Add(d))

	select {
	case v := <-got:
		return v.index, v.err
	case <-ctx.Done():
		h.leave(got)

		return nil, fmt.Errorf("list the Nodes: %w", context.Cause(ctx))
	}
}

func (h *Hub) enter(ctx context.Context, got chan view, due time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.waiting[got] = due

	switch {
	case !h.running:
		h.running = true

		go h.run(context.WithoutCancel(ctx))
	case h.rouse != nil && due.Before(h.next):
		h.rouse()
	}
}

func (h *Hub) leave(got chan view) {
	h.mu.Lock()
	defer h.mu.Unlock()

	delete(h.waiting, got)

	if len(h.waiting) == 0 && h.rouse != nil {
		h.rouse()
	}
}

// run lists whenever a list is due, until nobody waits.
func (h *Hub) run(ctx context.Context) {
	for {
		pause, d, ok := h.plan(ctx)
		if !ok {
			return
		}

		_ = wait.Sleep(pause, d) // a newcomer may be due earlier: plan again

		present := h.take()
		if len(present) == 0 {
			continue
		}

		var v view

		all, err := h.Workload.Nodes(ctx)
		if v.err = err; err == nil {
			v.index = NewIndex(all)
		}

		for got := range present {
			got <- v
		}
	}
}

// plan says how long the loop sleeps; false ends it.
func (h *Hub) plan(ctx context.Context) (context.Context, time.Duration, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()

	if len(h.waiting) == 0 {
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

	for _, due := range h.waiting {
		if first.IsZero() || due.Before(first) {
			first = due
		}
	}

	if first.Before(h.free) {
		return h.free
	}

	return first
}

// take ends the sleep and, where a look is due, hands over all who wait.
func (h *Hub) take() map[chan view]time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.rouse()
	h.rouse = nil

	if len(h.waiting) == 0 || time.Now().Before(h.dueAt()) {
		return nil
	}

	present := h.waiting
	h.waiting = map[chan view]time.Time{}
	h.free = time.Now().Add(breath)

	return present
}
