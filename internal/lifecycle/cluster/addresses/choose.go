// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package addresses

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sort"
)

// Name returns the name of the pool.
func (c Compiled) Name() string { return c.name }

// Allocation returns how the pool chooses: [ByIndex], [BySequential] or [ByRandom].
func (c Compiled) Allocation() string { return c.pool.Allocation }

// By returns whose the pool's addresses are: [OfMachine] or [OfHost].
func (c Compiled) By() string { return c.pool.By }

// Step returns by how many elements the addresses of neighbouring indexes lie apart.
func (c Compiled) Step() int { return max(c.pool.Step, 1) }

// Count returns how many addresses the pool can hand out, those that are set aside not counted.
func (c Compiled) Count() *big.Int { return c.total.big() }

// At returns an element of the usable addresses.
func (c Compiled) At(i int) (Address, error) {
	if i < 0 || !(number{0, uint64(i)}).less(c.total) {
		return Address{}, fmt.Errorf("%s: element %d is asked for, and it has %s usable addresses, counted from 0; widen its ranges",
			label(c.name, ""), i, c.Count())
	}

	address, span := c.element(number{0, uint64(i)})

	return c.full(address, span), nil
}

// AtIndex returns the address of an index: the element offset + index*step.
func (c Compiled) AtIndex(offset, index int) (Address, error) {
	if offset < 0 || index < 0 {
		return Address{}, fmt.Errorf("%s: the offset %d or the index %d is less than 0", label(c.name, ""), offset, index)
	}

	hi, product := bits.Mul64(uint64(index), uint64(c.Step())) //nolint:gosec // neither is below 0
	sum, carry := bits.Add64(product, uint64(offset), 0)

	if element := (number{hi + carry, sum}); hi == 0 && element.less(c.total) {
		address, span := c.element(element)

		return c.full(address, span), nil
	}

	return Address{}, fmt.Errorf("%s: index %d (offset %d, step %d) is beyond its %s usable addresses; widen its ranges",
		label(c.name, ""), index, offset, c.Step(), c.Count())
}

// element returns the address of an element that exists, and its span.
func (c Compiled) element(i number) (netip.Addr, int) {
	n := sort.Search(len(c.segments), func(k int) bool { return i.less(c.segments[k].before) }) - 1
	s := c.segments[n]

	return s.from.plus(i.minus(s.before)).addr(), s.span
}

func (c Compiled) full(a netip.Addr, span int) Address {
	s := c.spans[span]

	full := Address{Address: a.String(), Prefix: s.prefix, DNS: slices.Clone(s.dns)}
	if s.gateway.IsValid() {
		full.Gateway = s.gateway.String()
	}

	return full
}

// Contains reports whether an address lies in the ranges of the pool, usable or not.
func (c Compiled) Contains(a netip.Addr) bool {
	return slices.ContainsFunc(c.spans, func(s span) bool { return s.contains(a.Unmap()) })
}

// Usable reports whether an address is one that the pool can hand out.
func (c Compiled) Usable(a netip.Addr) bool {
	a = a.Unmap()
	n := numberOf(a)

	return slices.ContainsFunc(c.segments, func(s segment) bool {
		return c.spans[s.span].contains(a) && !n.less(s.from) && !s.to.less(n)
	})
}

// Find returns an address that somebody chose or recorded, with its range's prefix, gateway and DNS servers.
func (c Compiled) Find(address string) (Address, error) {
	a, err := ParseAddress(address)
	if err != nil {
		return Address{}, fmt.Errorf("%s: %w", label(c.name, ""), err)
	}

	for i, s := range c.spans {
		if s.contains(a) {
			return c.full(a, i), nil
		}
	}

	return Address{}, fmt.Errorf("%s: %s is in none of its ranges", label(c.name, ""), a)
}

// PreAllocated returns the address that is set aside for a machine or a host.
func (c Compiled) PreAllocated(name string) (Address, bool) {
	a, ok := c.set[name]
	if !ok {
		return Address{}, false
	}

	full, err := c.Find(a.String())

	return full, err == nil
}

// Sequential returns the first address that is not used.
func (c Compiled) Sequential(used func(netip.Addr) bool) (Address, error) {
	return c.from(number{}, used)
}

// Random returns an address that is not used: the first from a random element on.
func (c Compiled) Random(used func(netip.Addr) bool, rnd *rand.Rand) (Address, error) {
	if c.total == (number{}) {
		return c.from(number{}, used)
	}

	return c.from(below(c.total, rnd), used)
}

// below returns a random number below a bound that is not 0.
func below(bound number, rnd *rand.Rand) number {
	if bound.hi == 0 {
		return number{0, rnd.Uint64N(bound.lo)}
	}

	// of all numbers with as many bits as the bound, at least half are below it
	mask := ^uint64(0) >> bits.LeadingZeros64(bound.hi)

	for {
		if n := (number{rnd.Uint64() & mask, rnd.Uint64()}); n.less(bound) {
			return n
		}
	}
}

// from looks for a free address from an element on, around the end.
func (c Compiled) from(start number, used func(netip.Addr) bool) (Address, error) {
	for tried, i := (number{}), start; tried.less(c.total); tried, i = tried.plus(one), i.plus(one) {
		if !i.less(c.total) {
			i = number{}
		}

		if a, span := c.element(i); !used(a) {
			return c.full(a, span), nil
		}
	}

	return Address{}, fmt.Errorf("%s: all of its %s addresses are in use; widen its ranges, or remove machines", label(c.name, ""), c.Count())
}
