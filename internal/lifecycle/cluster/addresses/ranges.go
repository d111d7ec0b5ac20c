// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package addresses

import (
	"fmt"
	"net/netip"
)

// ranges reads the ranges; those that are wrong are left out and reported.
func (c *compiler) ranges() {
	if len(c.pool.Ranges) == 0 {
		c.fail("ranges", "there is none; a pool needs a range such as { start = \"192.0.2.100\", end = \"192.0.2.150\" }")
	}

	for i, r := range c.pool.Ranges {
		at := fmt.Sprintf("ranges[%d]", i)
		before := len(c.errs)

		s := span{at: at, gateway: c.gateway, dns: c.dns}
		if r.Gateway != "" {
			s.gateway = c.address(at+".gateway", r.Gateway)
		}

		if len(r.DNS) > 0 {
			s.dns = c.servers(at+".dns", r.DNS)
		}

		c.bounds(&s, r)

		if len(c.errs) == before {
			c.within(s)
		}

		if len(c.errs) == before {
			c.spans = append(c.spans, s)
		}
	}
}

// bounds finds the first and the last address of a range, and its prefix.
func (c *compiler) bounds(s *span, r Range) {
	before := len(c.errs)
	s.from, s.to = c.address(s.at+".start", r.Start), c.address(s.at+".end", r.End)

	if r.Subnet != "" {
		subnet, err := parseSubnet(r.Subnet)
		if err != nil {
			c.fail(s.at+".subnet", "%w", err)
		}

		s.subnet = subnet
	}

	switch {
	case len(c.errs) > before:
		return
	case r.Start == "" && r.Subnet == "" && r.End == "":
		c.fail(s.at, "it has neither start nor subnet")

		return
	case r.Start == "" && r.Subnet == "":
		c.fail(s.at, "it has an end (%s) and neither start nor subnet, so that nothing says where it begins", s.to)

		return
	}

	if !c.oneFamily(s) || !c.prefixed(s, r) {
		return
	}

	if r.Start == "" {
		s.from = s.subnet.Addr()
	}

	switch {
	case r.End != "":
	case r.Subnet != "":
		s.to = lastOf(s.subnet)
	default:
		s.to = lastOf(s.network(s.from))
	}
}

// oneFamily refuses a range that is written in both families.
func (c *compiler) oneFamily(s *span) bool {
	before := len(c.errs)
	differ := func(a netip.Addr, what string, b netip.Addr, other string) {
		if a.IsValid() && b.IsValid() && a.Is4() != b.Is4() {
			c.fail(s.at, "%s %s is %s and %s %s is %s", what, a, family(a), other, b, family(b))
		}
	}

	differ(s.from, "start", s.to, "end")
	differ(s.from, "start", s.subnet.Addr(), "subnet")
	differ(s.to, "end", s.subnet.Addr(), "subnet")

	return len(c.errs) == before
}

// prefixed finds the length of the network's prefix: the range's own, else the pool's, else the subnet's.
func (c *compiler) prefixed(s *span, r Range) bool {
	where := s.at + ".prefix"

	switch {
	case r.Prefix != 0:
		s.prefix = r.Prefix
	case c.pool.Prefix != 0:
		s.prefix, where = c.pool.Prefix, "prefix"
	case s.subnet.IsValid():
		s.prefix = s.subnet.Bits()
	default:
		c.fail(s.at, "neither it nor the pool has a prefix, so that the network of %s is not known; write prefix = 24, say", s.from)

		return false
	}

	first := s.from
	if !first.IsValid() {
		first = s.subnet.Addr()
	}

	if s.prefix < 1 || s.prefix > first.BitLen() {
		c.fail(where, "%d is out of bounds: the prefix of %s is one of 1 to %d, because %s is %s", s.prefix, s.at, first.BitLen(), first, family(first))

		return false
	}

	return true
}

// network returns the network that an address of a range is in.
func (s span) network(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, s.prefix).Masked() }

// within checks that a range begins before it ends, lies in its subnet, and has its gateway in its network.
func (c *compiler) within(s span) {
	if s.from.Compare(s.to) > 0 {
		c.fail(s.at, "start %s comes after end %s", s.from, s.to)

		return
	}

	if s.subnet.IsValid() {
		if !s.subnet.Contains(s.from) {
			c.fail(s.at, "start %s is outside of the subnet %s", s.from, s.subnet)
		}

		if !s.subnet.Contains(s.to) {
			c.fail(s.at, "end %s is outside of the subnet %s", s.to, s.subnet)
		}
	}

	for _, a := range []netip.Addr{s.from, s.to} {
		if a.IsUnspecified() || a.IsMulticast() || a.IsLoopback() || a.Is4() && a.As4()[0] >= 240 {
			c.fail(s.at, "%s of %s is no address that a machine can have", a, s)

			return
		}
	}

	if s.edged() {
		first, last := numberOf(s.from), numberOf(s.to)
		if networks := last.minus(first).lo>>(32-s.prefix) + 1; networks > maxEdges {
			c.fail(s.at, "%s goes over %d networks of /%d; write it as more than one range, or with a shorter prefix", s, networks, s.prefix)
		}
	}

	c.reachable(s)
}

// reachable checks the gateway. That of a network of one address is outside of it, and that of an
// IPv6 network is often link-local.
func (c *compiler) reachable(s span) {
	switch {
	case !s.gateway.IsValid():
		return
	case s.gateway.Is4() != s.from.Is4():
		c.fail(s.at, "its gateway %s is %s and its addresses, %s, are %s", s.gateway, family(s.gateway), s, family(s.from))

		return
	case s.prefix == s.from.BitLen() || s.gateway.Is6() && s.gateway.IsLinkLocalUnicast():
		return
	}

	for _, a := range []netip.Addr{s.from, s.to} {
		if network := s.network(a); !network.Contains(s.gateway) {
			c.fail(s.at, "its gateway %s is outside of %s, the network of %s", s.gateway, network, a)

			return
		}
	}

	if network := s.network(s.gateway); s.edged() && (s.gateway == network.Addr() || s.gateway == lastOf(network)) {
		c.fail(s.at, "its gateway %s is the network or the broadcast address of %s", s.gateway, network)
	}
}

// edged reports whether the networks of a range have a network and a broadcast address.
func (s span) edged() bool { return s.from.Is4() && s.prefix <= 30 }
