// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Desk is what all resources of one provider share on one fabric: who works on which
// machine, who has claimed what, what was read a moment ago, what was ordered.
type Desk struct {
	Fabric  fabric.Fabric
	Journal Journal // nil: nothing is written down
	// Poll is the longest pause between two looks at a machine; 0 means that of wait.Quick.
	// The shorter pauses, after each change, scale with it.
	Poll time.Duration

	chosen choices
	work   locks // by machine: one change after the other
	orders locks // by the fabric's own key

	mu     sync.Mutex
	claims map[string]string // of machine, type and model: id of the resource
	reads  map[string]*read
}

// NewDesk returns the desk of a fabric.
func NewDesk(f fabric.Fabric, j Journal) *Desk {
	return &Desk{Fabric: f, Journal: j, claims: map[string]string{}, reads: map[string]*read{}}
}

// Machines reads one machine, or all of the fabric where no id is given.
func (d *Desk) Machines(ctx context.Context, id string) ([]fabric.Machine, error) {
	if id == "" {
		all, err := d.Fabric.Machines(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the machines of %s: %w", d.Fabric.Endpoint(), err)
		}

		return all, nil
	}

	one, err := d.Fabric.Machine(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read machine %s: %w", id, err)
	}

	return []fabric.Machine{one}, nil
}

// pace is a pause of the usual rhythm at the pace that the user asked for.
func (d *Desk) pace(pause time.Duration) time.Duration {
	if d.Poll <= 0 {
		return pause
	}

	return time.Duration(float64(pause) * float64(d.Poll) / float64(wait.Quick.Max))
}

// SameMachine compares ids of machines.
func SameMachine(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// claim notes that a resource has devices of a kind on a machine. It returns the id of the
// resource that was there first, if it is another.
func (d *Desk) claim(machineID, typ, model, id string) (other string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()

	key := kindOn(machineID, typ, model)
	if first, taken := d.claims[key]; taken && first != id {
		return first, false
	}

	d.claims[key] = id

	return "", true
}

// claimed tells whether another resource has claimed a kind on a machine.
func (d *Desk) claimed(machineID, typ, model, id string) (other string, taken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()

	first, ok := d.claims[kindOn(machineID, typ, model)]

	return first, ok && first != id
}

// kindOn names a kind of devices on a machine. Models are told apart by case, as devices are.
func kindOn(machineID, typ, model string) string {
	return strings.ToLower(machineID+"/"+typ) + "/" + strings.TrimSpace(model)
}

// release forgets the claims of a resource.
func (d *Desk) release(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	for key, who := range d.claims {
		if who == id {
			delete(d.claims, key)
		}
	}
}

// locks are locks by name.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

// lock waits for the lock of a name until the context ends.
func (l *locks) lock(ctx context.Context, name string) (unlock func(), err error) {
	name = strings.ToLower(name)

	for {
		l.mu.Lock()

		busy, taken := l.held[name]
		if !taken {
			if l.held == nil {
				l.held = map[string]chan struct{}{}
			}

			mine := make(chan struct{})
			l.held[name] = mine
			l.mu.Unlock()

			return func() {
				l.mu.Lock()
				defer l.mu.Unlock()

				delete(l.held, name)
				close(mine)
			}, nil
		}

		l.mu.Unlock()

		select {
		case <-busy:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
