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

// tick is the least time between the beginnings of two lists of Nodes: the rhythm of all who
// wait for Nodes.
const tick = 5 * time.Second

// Hub is a [Workload] whose lists of Nodes are shared by all who wait: two hundred machines
// cost one list a tick. It never overlaps lists, and rests when nobody waits.
type Hub struct {
	Workload

	mu      sync.Mutex
	waiting map[chan view]struct{}
	running bool
	rouse   context.CancelFunc // ends the sleep of the loop
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

	return &Hub{Workload: api, waiting: map[chan view]struct{}{}}
}

// Nodes returns a list that is begun after this call: at once where none was begun within
// the last tick. It is shared, and must not be changed.
func (h *Hub) Nodes(ctx context.Context) ([]kube.Node, error) {
	x, err := h.look(ctx)
	if err != nil {
		return nil, err
	}

	return x.nodes, nil
}

// look is [Hub.Nodes], looked through once for all.
func (h *Hub) look(ctx context.Context) (*Index, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("list the Nodes: %w", context.Cause(ctx))
	}

	got := make(chan view, 1)
	h.enter(ctx, got)

	select {
	case v := <-got:
		return v.index, v.err
	case <-ctx.Done():
		h.leave(got)

		return nil, fmt.Errorf("list the Nodes: %w", context.Cause(ctx))
	}
}

func (h *Hub) enter(ctx context.Context, got chan view) {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.waiting[got] = struct{}{}

	if !h.running {
		h.running = true

		go h.run(context.WithoutCancel(ctx))
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

		_ = wait.Sleep(pause, d) // it only ends early where nobody waits any more

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
	h.rouse = rouse

	return pause, time.Until(h.free), true
}

// take ends the sleep and hands over all who wait.
func (h *Hub) take() map[chan view]struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.rouse()
	h.rouse = nil

	if len(h.waiting) == 0 {
		return nil
	}

	present := h.waiting
	h.waiting = map[chan view]struct{}{}
	h.free = time.Now().Add(tick)

	return present
}
