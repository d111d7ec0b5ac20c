// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"maps"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
)

// This file makes sure that an address has one owner, also in the middle of an apply: a machine that is
// to get another address, or to leave, has the one that is on its disk until it is made again or gone.

// CheckOwners refuses machines of one cluster that would have the same address: in the end, by what they
// are to have, or before, as another one still runs with it. Now has the machines with something on
// their disks, next those that are to be there.
func CheckOwners(now, next map[string]map[string]addresses.Address) []error {
	errs := CheckAddresses(next)

	has := map[string][]string{}

	for _, machine := range sortedKeys(now) {
		for pool, a := range now[machine] {
			has[pool+" "+a.Address] = append(has[pool+" "+a.Address], machine)
		}
	}

	for _, machine := range sortedKeys(next) {
		for _, pool := range sortedKeys(next[machine]) {
			address := next[machine][pool].Address
			if now[machine][pool].Address == address {
				continue // if another one has it, too, that is not this change's doing
			}

			for _, other := range has[pool+" "+address] {
				if err := stillHas(machine, other, pool, address, next); err != nil {
					errs = append(errs, err)
				}
			}
		}
	}

	return errs
}

// stillHas says that a machine is to get what another one gives up, but not before.
func stillHas(machine, other, pool, address string, next map[string]map[string]addresses.Address) error {
	to, stays := next[other]

	switch {
	case machine == other, to[pool].Address == address: // its own, or both are to have it
		return nil
	case stays:
		return fmt.Errorf("machine %s is to have %s of ip pool %q, and machine %s runs with it until it is made again: choose another address for %s, or have %s made again with its other one first (an apply of its own, then the action metal3_remediate with strategy \"rebuild\")",
			machine, address, pool, other, machine, other)
	default:
		return fmt.Errorf("machine %s is to have %s of ip pool %q, and machine %s runs with it until it is gone, which is the last thing that an apply does: choose another address for %s (ip_index_offset, machine_overrides), or take %s out first, in an apply of its own",
			machine, address, pool, other, machine, other)
	}
}

// Chosen are the addresses that were chosen for a machine.
func (w *Wanted) Chosen(pools map[string]addresses.Compiled, s Slot) (map[string]addresses.Address, error) {
	out := map[string]addresses.Address{}
	all := w.Overrides[s.Name].Addresses

	for _, pool := range sortedKeys(all) {
		if all[pool] == "" {
			continue
		}

		c, ok := pools[pool]
		if !ok {
			return nil, fmt.Errorf("machine %s: an address of the pool %q is chosen for it, which ip_pools does not have", s.Name, pool)
		}

		a, err := c.Find(all[pool])
		if err != nil {
			return nil, fmt.Errorf("machine %s: %w", s.Name, err)
		}

		out[pool] = a
	}

	return out, nil
}

// foresee checks all addresses that are known before a machine has its host.
func (w *worker) foresee() error {
	now, next := map[string]map[string]addresses.Address{}, map[string]map[string]addresses.Address{}

	for _, m := range w.members {
		if s := m.sight(); !s.vacant() && s != SeenClaimed {
			now[m.Name] = m.kept()
		}
	}

	for _, m := range w.wantedMembers() {
		out, err := w.toHave(m)
		if err != nil {
			return err
		}

		next[m.Name] = out
	}

	for _, s := range w.beside() {
		if out, err := w.Wanted.Foreseen(w.pools, s, nil); err == nil { // whether it comes at all depends on a free host
			next[s.Name] = out
		}
	}

	return errors.Join(CheckOwners(now, next)...)
}

// beside are the first machines that rollouts make beyond the replicas; later ones have names of
// machines that are gone by then.
func (w *worker) beside() []Slot {
	var out []Slot

	for _, p := range w.Wanted.Pools {
		if surge, _ := p.Bounds(); surge == 0 || len(w.outdatedOf(p.Name)) == 0 || w.Wanted.Wait.Level == LevelClaimed {
			continue
		}

		out = append(out, w.next(p))
	}

	return out
}

// toHave are the addresses that a machine is to have, as far as they are known: one that stays as it is
// keeps what it has, whatever its pools have now, but for what was chosen for it.
func (w *worker) toHave(m *member) (map[string]addresses.Address, error) {
	if m.anew() {
		return w.Wanted.Foreseen(w.pools, m.Slot, m.have())
	}

	chosen, err := w.Wanted.Chosen(w.pools, m.Slot)
	if err != nil {
		return nil, err
	}

	out := m.kept()
	maps.Copy(out, chosen)

	return out, nil
}

// kept are the addresses that a machine has already.
func (m *member) kept() map[string]addresses.Address {
	out := map[string]addresses.Address{}
	for pool, address := range m.have() {
		out[pool] = addresses.Address{Address: address}
	}

	return out
}

// anew reports whether a machine is deployed in this run, or may be, as it is ill.
func (m *member) anew() bool {
	return m.sight() != SeenActive || m.outdated() || m.underRepair() || !m.record.Healthy
}
