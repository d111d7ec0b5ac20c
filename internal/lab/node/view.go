// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"maps"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// view is a machine's system at one moment: its state, and the devices that are plugged in.
type view struct {
	*State

	name string
	now  time.Time
	gpus []card // that have arrived, whether the kernel knows them or not
	cxl  []card
}

// card is a device that is plugged in.
type card struct {
	hardware.Device
}

// newView brings a state up to the moment: what came since, and what went.
func newView(s *State, m machine.Machine, devices []hardware.Device, now time.Time) *view {
	v := &view{State: s, name: m.Name, now: now}

	if s.GPUs == nil {
		s.GPUs = map[string]GPU{}
	}

	if s.CXL == nil {
		s.CXL = map[string]CXL{}
	}

	if m.Boots != s.Boots {
		// A system that has just started knows all that is plugged in, and nothing of before.
		clear(s.GPUs)
		clear(s.CXL)
		s.Unloaded, s.Boots = nil, m.Boots
	}

	for _, d := range devices {
		if !d.Present() || now.Before(d.AttachedAt.Add(s.Hotplug)) {
			continue
		}

		switch d.Type {
		case hardware.GPU:
			v.gpus = append(v.gpus, card{d})
		case hardware.CXL:
			v.cxl = append(v.cxl, card{d})
		}
	}

	v.forget()
	v.arrive()
	v.letGo()

	return v
}

// letGo ends the removals that the kernel began and whose GPU nobody uses any more.
func (v *view) letGo() {
	for _, c := range v.onBus() {
		if v.GPUs[c.ID].Blocked && !v.holds(c) {
			v.edit(c.ID, func(g *GPU) { g.Removed, g.Blocked = true, false })
		}
	}
}

// forget drops what has been unplugged.
func (v *view) forget() {
	for id, g := range v.GPUs {
		if has(v.gpus, id, g.Since) {
			continue
		}

		if v.Driver != DriverNone && g.shown(v.State) && !g.Removed {
			v.surprise("GPU %s was taken while the kernel used it", id)
		}

		delete(v.GPUs, id)
	}

	for id, c := range v.CXL {
		if has(v.cxl, id, c.Since) {
			continue
		}

		if !c.Disabled && (c.Seen || !v.NeedsRescan) {
			v.surprise("CXL memory %s was taken while the kernel used it", id)
		}

		delete(v.CXL, id)
	}
}

func has(all []card, id string, since time.Time) bool {
	return slices.ContainsFunc(all, func(c card) bool { return c.ID == id && c.AttachedAt.Equal(since) })
}

// arrive gives numbers to what is new.
func (v *view) arrive() {
	for _, c := range v.gpus {
		if _, ok := v.GPUs[c.ID]; !ok {
			minor := free(v.GPUs, func(g GPU) int { return g.Minor })
			v.GPUs[c.ID] = GPU{Since: c.AttachedAt, Minor: minor, Initialised: !v.LazyUUID, Persistence: v.Running, File: true}
		}
	}

	for _, c := range v.cxl {
		if _, ok := v.CXL[c.ID]; !ok {
			v.CXL[c.ID] = CXL{Since: c.AttachedAt, Number: free(v.CXL, func(c CXL) int { return c.Number })}
		}
	}
}

// free is the lowest number that none has.
func free[T any](all map[string]T, number func(T) int) int {
	used := map[int]bool{}
	for v := range maps.Values(all) {
		used[number(v)] = true
	}

	for n := 0; ; n++ {
		if !used[n] {
			return n
		}
	}
}

// shown tells whether the device was ever on the bus.
func (g GPU) shown(s *State) bool { return !s.Never && (g.Seen || !s.NeedsRescan) }

// onBus are the GPUs on the PCI bus.
func (v *view) onBus() []card {
	return slices.DeleteFunc(slices.Clone(v.gpus), func(c card) bool {
		g := v.GPUs[c.ID]

		return g.Removed || !g.shown(v.State)
	})
}

// inKernel are the GPUs that the driver has, draining ones included.
func (v *view) inKernel() []card {
	if v.Driver == DriverNone {
		return nil
	}

	return slices.DeleteFunc(v.onBus(), func(c card) bool { return v.GPUs[c.ID].Foreign != "" })
}

// visible are the GPUs that nvidia-smi shows.
func (v *view) visible() []card {
	return slices.DeleteFunc(v.inKernel(), func(c card) bool { return v.GPUs[c.ID].Draining })
}

// edit changes what the kernel made of a GPU.
func (v *view) edit(id string, f func(*GPU)) {
	g := v.GPUs[id]
	f(&g)
	v.GPUs[id] = g
}

// rescan makes the kernel look for devices.
func (v *view) rescan() {
	for _, c := range v.gpus {
		v.edit(c.ID, func(g *GPU) {
			g.Seen = true

			if g.Removed {
				g.Removed, g.Blocked, g.Draining, g.Initialised, g.File = false, false, false, !v.LazyUUID, true
			}
		})
	}

	for _, c := range v.cxl {
		m := v.CXL[c.ID]
		m.Seen = true
		v.CXL[c.ID] = m
	}
}

// initialise is what the driver does with new GPUs when a tool first asks for them.
func (v *view) initialise() {
	for _, c := range v.visible() {
		v.edit(c.ID, func(g *GPU) { g.Initialised = true })
	}
}
