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
	all    []Glance // for who asked for everyone
	err    error
}

// everyone is what is waited for by those who want to see all nodes.
const everyone = ""

// NewHub makes a Hub on a client.
func NewHub(c *Client) *Hub {
	h := &Hub{client: c}
	h.rounds.Look = h.look
	h.rounds.Light = func(keys map[string]struct{}) bool { return !listed(keys) }

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

// Everyone returns a look at all nodes under the same terms, out of the same list.
func (h *Hub) Everyone(ctx context.Context, d time.Duration) ([]Glance, error) {
	l, err := h.rounds.Next(ctx, everyone, d)
	if err != nil {
		return nil, fmt.Errorf("wait for a list of nodes: %w", err)
	}

	return l.all, l.err
}

// listed reports whether these are looked at by a list.
func listed[V any](present map[string]V) bool {
	_, all := present[everyone]

	return all || len(present) > few
}

// look answers all who wait: by single looks where they are few, else by one list. A node
// that the list lacks is looked at alone; its absence says nothing.
func (h *Hub) look(ctx context.Context, present map[string][]chan<- look) time.Time {
	var free time.Time

	if listed(present) {
		start := time.Now()
		all, err := h.client.Glances(ctx)
		free = start.Add(max(breath, 2*time.Since(start))) // a busy Ironic gets as much rest as it worked

		if err != nil {
			for _, group := range present {
				answerAll(group, look{err: err})
			}

			return free
		}

		answerAll(present[everyone], look{all: all})
		delete(present, everyone)

		for _, g := range all {
			answerAll(present[g.UUID], look{glance: g})
			delete(present, g.UUID)
		}
	}

	var pending sync.WaitGroup

	for id, group := range present {
		pending.Go(func() {
			g, err := h.client.Glance(ctx, id)
			answerAll(group, look{glance: g, err: err})
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
