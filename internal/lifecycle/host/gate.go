// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// gates hold one gate per far side for all runs of this process.
var gates sync.Map // Backend -> *gate

// gate bounds how many hosts are busy at once on one far side.
//
// As upstream counts, only hosts whose BMC cannot boot an ISO take a place: those load the
// provisioning network. Ironic's own count is asked before each entry; the places of this
// process close the gap between two counts.
type gate struct {
	far Backend

	mu     sync.Mutex
	inside map[string]bool // host id
	queue  []string
	asleep map[*context.CancelFunc]bool // ends the pause of one who waits
}

func gateOf(far Backend) *gate {
	g, _ := gates.LoadOrStore(far, &gate{far: far, inside: map[string]bool{}, asleep: map[*context.CancelFunc]bool{}})

	return g.(*gate) //nolint:forcetypeassert // only gates are stored
}

// again is the rhythm in which those who wait count anew where no place of this process becomes free
// before. It has no jitter: who looks at the same time shares the look.
var again = wait.Cadence{First: 2 * time.Second, Factor: 1.5, Max: 20 * time.Second}

// gather is how long who comes first waits for the others, so that one count serves them all.
const gather = 50 * time.Millisecond

// enter waits for a place. queued is called with the place in the queue each time it changes.
func (g *gate) enter(ctx context.Context, id string, limit int, queued func(place int)) (err error) {
	defer func() { g.leaveQueue(id, err == nil) }()

	last := 0

	for n := 0; ; n++ {
		place, in, roused, err := g.attempt(ctx, id, limit, n, func(place int) {
			if place != last {
				queued(place)
			}
		})
		if in || err != nil {
			return err
		}

		if last = place; roused {
			n = -1
		}
	}
}

// attempt tries to get in, and waits where that fails: until a place becomes free, or for so long that
// another try is due.
func (g *gate) attempt(ctx context.Context, id string, limit, n int, queued func(place int)) (place int, in, roused bool, err error) {
	pause, wake := context.WithCancel(ctx)
	defer wake()

	place, turn := g.line(id, limit, &wake) // before the count: what becomes free from now on counts
	defer g.awake(&wake)

	if turn {
		busy, err := g.far.Busy(ctx, gather)

		switch {
		case err == nil && g.admit(id, limit, busy):
			return place, true, false, nil
		case err != nil && !wait.IsTransient(err):
			return place, false, false, fmt.Errorf("count busy hosts: %w", err)
		}
	}

	queued(place)

	err = wait.Sleep(pause, again.Delay(n))
	if ctx.Err() != nil {
		return place, false, false, context.Cause(ctx)
	}

	return place, false, err != nil, nil
}

// line says which place of the queue a host has, and whether it is its turn.
func (g *gate) line(id string, limit int, wake *context.CancelFunc) (place int, turn bool) {
	g.mu.Lock()
	defer g.mu.Unlock()

	at := slices.Index(g.queue, id)
	if at < 0 {
		at = len(g.queue)
		g.queue = append(g.queue, id)
	}

	g.asleep[wake] = true

	return at + 1, at+1 <= limit-len(g.inside)
}

// admit lets a host in where those who are busy, here and elsewhere, leave a place.
func (g *gate) admit(id string, limit int, busy []string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()

	all := maps.Clone(g.inside)
	for _, other := range busy {
		all[other] = true
	}

	delete(all, id) // a host that is busy already goes on at its own place

	if len(all) >= limit {
		return false
	}

	g.inside[id] = true

	return true
}

// leave gives a place back.
func (g *gate) leave(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.inside, id)
	g.rouse()
}

// leaveQueue ends the wait of a host that has its place, or gives up.
func (g *gate) leaveQueue(id string, in bool) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.queue = slices.DeleteFunc(g.queue, func(other string) bool { return other == id })

	if !in {
		g.rouse()
	}
}

// rouse makes all who wait try again.
func (g *gate) rouse() {
	for wake := range g.asleep {
		(*wake)()
	}
}

func (g *gate) awake(wake *context.CancelFunc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.asleep, wake)
}
