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
	rounds wait.Rounds[look]
}

type look struct {
	glance Glance
	err    error
}

// NewHub makes a Hub on a client.
func NewHub(c *Client) *Hub {
	h := &Hub{client: c}
	h.rounds.Look, h.rounds.Few = h.look, few

	return h
}

// Next returns a look at a node that is taken after d at the latest, load permitting, and
// begun after this call. It comes earlier where somebody else's look is due earlier.
func (h *Hub) Next(ctx context.Context, id string, d time.Duration) (Glance, error) {
	l, err := h.rounds.Next(ctx, id, d)
	if err != nil {
		return Glance{}, fmt.Errorf("wait for node %s: %w", id, err)
	}

	return l.glance, l.err
}

// look answers all who wait: by single looks where they are few, else by one list. A node
// that the list lacks is looked at alone; its absence says nothing.
func (h *Hub) look(ctx context.Context, present map[string][]chan<- look) time.Time {
	var free time.Time

	if len(present) > few {
		start := time.Now()
		all, err := h.client.Glances(ctx)
		free = start.Add(max(breath, 2*time.Since(start))) // a busy Ironic gets as much rest as it worked

		if err != nil {
			for _, group := range present {
				answerAll(group, look{err: err})
			}

			return free
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

	return free
}

func answerAll(group []chan<- look, l look) {
	for _, got := range group {
		got <- l
	}
}
