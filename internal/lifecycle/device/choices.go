// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"maps"
	"slices"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// choices are the devices that attempts have chosen where the fabric wants a device to be
// named. A manager shows a device as free until it has come, and would be asked for it twice
// where several machines get devices at a time.
type choices struct {
	mu  sync.Mutex
	all map[*attempt]string // fabric's id
}

// of returns what others than the attempt have chosen. It must be asked before the fabric is:
// a choice that ends in between was free when the fabric was read, and is not any more.
func (c *choices) of(a *attempt) map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.others(a)
}

func (c *choices) others(a *attempt) map[string]bool {
	out := map[string]bool{}

	for other, id := range c.all {
		if other != a {
			out[id] = true
		}
	}

	return out
}

// take chooses a free device that no other attempt has chosen, now or before the fabric was
// read.
func (c *choices) take(a *attempt, free []fabric.Device, before map[string]bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	taken := c.others(a)
	maps.Copy(taken, before)

	i := slices.IndexFunc(free, func(d fabric.Device) bool { return !taken[d.FabricID] })
	if i < 0 {
		return false
	}

	if c.all == nil {
		c.all = map[*attempt]string{}
	}

	a.chosen, c.all[a] = &free[i], free[i].FabricID

	return true
}

// drop ends the choice of an attempt that has ended.
func (c *choices) drop(a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()

	delete(c.all, a)
}
