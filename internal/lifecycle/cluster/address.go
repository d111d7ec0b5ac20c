// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// CompilePools makes the pools of addresses ready and lists everything that is wrong with them.
func (w *Wanted) CompilePools() (map[string]addresses.Compiled, []error) {
	var errs []error

	out := make(map[string]addresses.Compiled, len(w.IPPools))

	for _, name := range sortedKeys(w.IPPools) {
		c, problems := addresses.Compile(name, w.IPPools[name])
		if errs = append(errs, problems...); len(problems) == 0 {
			out[name] = c
		}
	}

	if len(errs) == 0 {
		errs = addresses.CheckOverlap(out)
	}

	return out, errs
}

// PoolsOf are the pools from which a machine has an address: those that its templates name.
func (w *Wanted) PoolsOf(s Slot) []string {
	p, _ := w.pool(s.Pool)

	var out []string

	if p.Template != nil {
		out = append(out, p.Template.Pools()...)
	}

	for _, each := range p.DomainTemplates {
		out = append(out, each.Pools()...)
	}

	out = append(out, sortedKeys(w.Overrides[s.Name].Addresses)...)
	slices.Sort(out)

	return slices.Compact(out)
}

// Foreseen are the addresses of a machine that are known before it has a host: those that it has
// already, that are set aside or chosen for it, and that follow from its index.
func (w *Wanted) Foreseen(pools map[string]addresses.Compiled, s Slot, have map[string]string) (map[string]addresses.Address, error) {
	out := map[string]addresses.Address{}
	p, _ := w.pool(s.Pool)

	for _, name := range w.PoolsOf(s) {
		c, ok := pools[name]
		if !ok {
			return nil, fmt.Errorf("machine %s: its data template names the pool %q, which ip_pools does not have", s.Name, name)
		}

		a, known, err := w.foresee(c, p, s, have[name])
		if err != nil {
			return nil, fmt.Errorf("machine %s: %w", s.Name, err)
		}

		if known {
			out[name] = a
		}
	}

	return out, nil
}

func (w *Wanted) foresee(c addresses.Compiled, p Pool, s Slot, have string) (addresses.Address, bool, error) {
	if chosen := w.Overrides[s.Name].Addresses[c.Name()]; chosen != "" {
		a, err := c.Find(chosen)

		return a, err == nil, err
	}

	if have != "" {
		// One that the pool no longer has stays as long as the machine does: it is on its disk.
		if a, err := c.Find(have); err == nil {
			return a, true, nil
		}
	}

	if c.By() == addresses.OfHost {
		return addresses.Address{}, false, nil
	}

	if a, ok := c.PreAllocated(s.Name); ok {
		return a, true, nil
	}

	if c.Allocation() != addresses.ByIndex {
		return addresses.Address{}, false, nil
	}

	a, err := c.AtIndex(p.Offset, s.Index)

	return a, err == nil, err
}

// CheckAddresses refuses machines of one cluster that would have the same address.
func CheckAddresses(of map[string]map[string]addresses.Address) []error {
	var errs []error

	owner := map[string]string{}

	for _, machine := range sortedKeys(of) {
		for _, pool := range sortedKeys(of[machine]) {
			key := pool + " " + of[machine][pool].Address
			if other, taken := owner[key]; taken {
				errs = append(errs, fmt.Errorf("machines %s and %s would both have %s of ip pool %q: set ip_index_offset so that their pools do not meet",
					other, machine, of[machine][pool].Address, pool))
			}

			owner[key] = machine
		}
	}

	return errs
}

// have are the addresses that a machine has already, as the state and, before that, its note say.
func (m *member) have() map[string]string {
	out := map[string]string{}
	for pool, a := range m.record.Addresses {
		out[pool] = a.Address
	}

	maps.Copy(out, m.note.Addresses)

	return out
}

// address gives a machine its addresses, those that a host decides once the host is known.
func (w *worker) address(m *member, s host.Seen) error {
	w.mu.Lock()
	defer w.mu.Unlock()

	out, err := w.Wanted.Foreseen(w.pools, m.Slot, m.have())
	if err != nil {
		return err
	}

	for _, pool := range w.Wanted.PoolsOf(m.Slot) {
		if _, known := out[pool]; known {
			continue
		}

		c := w.pools[pool]
		if c.By() == addresses.OfHost && s.Node.UUID == "" {
			continue
		}

		if out[pool], err = w.pick(c, m, s); err != nil {
			return fmt.Errorf("machine %s: %w", m.Name, err)
		}
	}

	m.record.Addresses = out
	w.postLocked(m)

	return nil
}

// pick takes a free address of a pool.
func (w *worker) pick(c addresses.Compiled, m *member, s host.Seen) (addresses.Address, error) {
	if s.Node.UUID != "" {
		if a, ok := c.PreAllocated(choose.Name(s)); ok {
			return a, nil
		}
	}

	used := map[netip.Addr]bool{}

	take := func(text string) {
		if a, err := addresses.ParseAddress(text); err == nil {
			used[a] = true
		}
	}

	for address := range w.foreign[c.Name()] {
		take(address)
	}

	for name, other := range w.board {
		if name != m.Name {
			take(other.addresses[c.Name()].Address)
		}
	}

	for name, o := range w.Wanted.Overrides { // chosen for a machine that may not have it yet
		if name != m.Name {
			take(o.Addresses[c.Name()])
		}
	}

	if c.Allocation() == addresses.ByRandom {
		return c.Random(func(a netip.Addr) bool { return used[a] }, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
	}

	return c.Sequential(func(a netip.Addr) bool { return used[a] })
}
