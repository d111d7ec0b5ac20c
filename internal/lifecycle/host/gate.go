// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// gates hold one gate per far side for all runs of this process.
var gates sync.Map // endpoint -> *gate

// gate bounds how many hosts are busy at once on one far side.
//
// As upstream counts, only hosts whose BMC cannot boot an ISO take a place: those load the
// provisioning network. Ironic's own count is asked before each entry; the places of this
// process close the gap between two counts.
type gate struct {
	mu    sync.Mutex
	taken map[string]bool // host id
	queue []string
}

func gateOf(endpoint string) *gate {
	g, _ := gates.LoadOrStore(endpoint, &gate{taken: map[string]bool{}})

	return g.(*gate) //nolint:forcetypeassert // only gates are stored
}

// again is the rhythm in which those who wait count anew.
var again = wait.Cadence{First: 2 * time.Second, Factor: 1.5, Max: 20 * time.Second, Jitter: 0.2}

// enter waits for a place. queued is called with the place in the queue each time it changes.
func (g *gate) enter(ctx context.Context, id string, limit int, busy func(context.Context) (int, error), queued func(place int)) error {
	defer g.leaveQueue(id)

	last := 0

	for n := 0; ; n++ {
		place, free := g.try(id, limit)

		if free {
			others, err := busy(ctx)
			if err == nil && others < limit {
				return nil
			}

			g.leave(id) // not ours yet: the far side is full, or does not say

			if err != nil && !wait.IsTransient(err) {
				return fmt.Errorf("count busy hosts: %w", err)
			}
		}

		if place != last {
			queued(place)

			last = place
		}

		if err := wait.Sleep(ctx, again.Jittered(again.Delay(n))); err != nil {
			return err
		}
	}
}

// try takes a place if there is one and it is id's turn.
func (g *gate) try(id string, limit int) (place int, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()

	place = len(g.queue) + 1

	for i, other := range g.queue {
		if other == id {
			place = i + 1

			break
		}
	}

	if place > len(g.queue) {
		g.queue = append(g.queue, id)
	}

	if place > limit-len(g.taken) {
		return place, false
	}

	g.taken[id] = true

	return place, true
}

func (g *gate) leave(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.taken, id)
}

func (g *gate) leaveQueue(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()

	for i, other := range g.queue {
		if other == id {
			g.queue = append(g.queue[:i:i], g.queue[i+1:]...)

			return
		}
	}
}
