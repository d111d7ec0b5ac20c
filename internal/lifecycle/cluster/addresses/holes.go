// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package addresses

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// holes returns the gateways: that of one range is not an address of another either.
func (c *compiler) holes() []hole {
	var all []hole

	for _, s := range c.spans {
		if s.gateway.IsValid() {
			all = append(all, hole{s.gateway, s.gateway, "the gateway"})
		}
	}

	return all
}

// excluded reads what a user keeps out: addresses and subnets.
func (c *compiler) excluded() []hole {
	var all []hole

	for i, text := range c.pool.Exclude {
		where := fmt.Sprintf("exclude[%d]", i)

		if strings.Contains(text, "/") {
			p, err := parseSubnet(text)
			if err != nil {
				c.fail(where, "%w", err)

				continue
			}

			all = append(all, hole{p.Addr(), lastOf(p), "excluded"})

			continue
		}

		a, err := ParseAddress(text)
		if err != nil {
			c.fail(where, "%w", err)

			continue
		}

		all = append(all, hole{a, a, "excluded"})
	}

	return all
}

// edges returns the network and broadcast addresses of the networks that the ranges are in, and of
// the subnets that they are written with.
func (c *compiler) edges() []hole {
	var all []hole

	both := func(p netip.Prefix) {
		last := lastOf(p)
		all = append(all, hole{p.Addr(), p.Addr(), "the network address of " + p.String()}, hole{last, last, "the broadcast address of " + p.String()})
	}

	for _, s := range c.spans {
		if s.subnet.IsValid() && s.subnet.Addr().Is4() && s.subnet.Bits() <= 30 {
			both(s.subnet)
		}

		if !s.edged() {
			continue
		}

		for network := s.network(s.from); ; {
			both(network)

			next := lastOf(network).Next()
			if !next.IsValid() || next.Compare(s.to) > 0 {
				break
			}

			network = s.network(next)
		}
	}

	return all
}

// setAside reads the addresses that belong to a name already.
func (c *compiler) setAside(reserved ...[]hole) {
	owner := map[netip.Addr]string{}

	for _, name := range slices.Sorted(maps.Keys(c.pool.PreAllocations)) {
		where := fmt.Sprintf("pre_allocations[%q]", name)

		a, err := ParseAddress(c.pool.PreAllocations[name])
		if err != nil {
			c.fail(where, "%w", err)

			continue
		}

		if other, taken := owner[a]; taken {
			c.fail(where, "%s is set aside for %q already", a, other)

			continue
		}

		owner[a], c.set[name] = name, a

		if len(c.spans) == len(c.pool.Ranges) && !slices.ContainsFunc(c.spans, func(s span) bool { return s.contains(a) }) {
			c.fail(where, "%s is in none of the ranges (%s)", a, c.list())
		}

		for _, h := range slices.Concat(reserved...) {
			if h.from.BitLen() == a.BitLen() && h.from.Compare(a) <= 0 && a.Compare(h.to) <= 0 {
				c.fail(where, "%s is %s", a, h.why)

				break
			}
		}
	}
}

func (c *compiler) list() string {
	all := make([]string, 0, len(c.spans))
	for _, s := range c.spans {
		all = append(all, s.String())
	}

	return strings.Join(all, ", ")
}

// cut makes segments of what is left of the ranges without the holes.
func (c *compiler) cut(holes []hole) {
	slices.SortFunc(holes, func(a, b hole) int { return a.from.Compare(b.from) })

	for i, s := range c.spans {
		next, last, over := numberOf(s.from), numberOf(s.to), false

		for _, h := range holes {
			from, to := numberOf(h.from), numberOf(h.to)
			if h.from.BitLen() != s.from.BitLen() || to.less(next) {
				continue
			}

			if last.less(from) {
				break
			}

			if next.less(from) {
				c.append(next, from.minus(one), i)
			}

			if over = !to.less(last); over {
				break
			}

			next = to.plus(one)
		}

		if !over {
			c.append(next, last, i)
		}
	}
}

func (c *compiler) append(from, to number, span int) {
	c.segments = append(c.segments, segment{from: from, to: to, before: c.total, span: span})
	c.total = c.total.plus(to.minus(from)).plus(one)
}
