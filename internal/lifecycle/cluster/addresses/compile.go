// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package addresses

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
)

// Compiled is a pool that is right: its addresses can be asked for.
type Compiled struct {
	name     string
	pool     Pool
	spans    []span
	segments []segment
	total    number
	set      map[string]netip.Addr // set aside, by name
}

// span is a range with everything that it inherits.
type span struct {
	at       string // where it stands, for messages
	from, to netip.Addr
	subnet   netip.Prefix // not valid where none is written
	prefix   int
	gateway  netip.Addr // not valid where there is none
	dns      []string
}

// segment is a run of usable addresses; before it come as many others.
type segment struct {
	from, to, before number
	span             int
}

// hole is a run of addresses that are not handed out, and why.
type hole struct {
	from, to netip.Addr
	why      string
}

// maxEdges bounds the networks of one range: each has two addresses that are not usable.
const maxEdges = 4096

// Compile makes a pool ready to be asked. It lists everything that is wrong with it. The name is that
// of the pool in ip_pools, for the messages; it may be empty.
func Compile(name string, p Pool) (Compiled, []error) {
	c := compiler{Compiled: Compiled{name: name, pool: p, set: map[string]netip.Addr{}}}

	c.options()
	c.ranges()
	c.apart()

	gateways := c.holes()
	excluded := c.excluded()
	edges := c.edges()
	c.setAside(gateways, excluded, edges)

	if len(c.errs) > 0 {
		return Compiled{}, c.errs
	}

	reserved := slices.Concat(gateways, excluded, edges)
	for _, name := range slices.Sorted(maps.Keys(c.set)) {
		reserved = append(reserved, hole{c.set[name], c.set[name], "set aside"})
	}

	c.cut(reserved)

	if c.total == (number{}) && len(c.set) == 0 {
		c.fail("", "no address of its ranges is usable: all are network, broadcast, gateway or excluded")

		return Compiled{}, c.errs
	}

	return c.Compiled, nil
}

// compiler collects what is wrong while it compiles.
type compiler struct {
	Compiled
	dns     []string
	gateway netip.Addr
	errs    []error
}

// label says where something of a pool stands.
func label(name, where string) string {
	switch {
	case name == "" && where == "":
		return "the pool"
	case name == "":
		return where
	case where == "":
		return fmt.Sprintf("ip_pools[%q]", name)
	}

	return fmt.Sprintf("ip_pools[%q].%s", name, where)
}

func (c *compiler) fail(where, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s: %w", label(c.name, where), fmt.Errorf(format, args...)))
}

// options checks what a pool says besides its ranges.
func (c *compiler) options() {
	if c.pool.Allocation == "" {
		c.pool.Allocation = ByIndex
	}

	if all := []string{ByIndex, BySequential, ByRandom}; !slices.Contains(all, c.pool.Allocation) {
		c.fail("allocation", "%q is none of %q", c.pool.Allocation, all)
	}

	if c.pool.By == "" {
		c.pool.By = OfMachine
	}

	if all := []string{OfMachine, OfHost}; !slices.Contains(all, c.pool.By) {
		c.fail("by", "%q is none of %q", c.pool.By, all)
	}

	if c.pool.Step == 0 {
		c.pool.Step = 1
	}

	if c.pool.Step < 0 {
		c.fail("step", "%d is less than 1", c.pool.Step)
	}

	c.gateway = c.address("gateway", c.pool.Gateway)
	c.dns = c.servers("dns_servers", c.pool.DNSServers)
}

// address reads an optional address; the result is not valid where there is none.
func (c *compiler) address(where, s string) netip.Addr {
	if s == "" {
		return netip.Addr{}
	}

	a, err := ParseAddress(s)
	if err != nil {
		c.fail(where, "%w", err)
	}

	return a
}

func (c *compiler) servers(where string, all []string) []string {
	out := make([]string, 0, len(all))

	for i, s := range all {
		a, err := ParseAddress(s)
		if err != nil {
			c.fail(fmt.Sprintf("%s[%d]", where, i), "%w", err)

			continue
		}

		out = append(out, a.String())
	}

	return out
}

// apart refuses ranges that share addresses, or are of two families.
func (c *compiler) apart() {
	for _, both := range overlaps(c.spans) {
		c.fail(both[1].at, "%s shares addresses with %s (%s)", both[1], both[0], both[0].at)
	}

	for _, s := range c.spans[min(1, len(c.spans)):] {
		if first := c.spans[0]; first.from.Is4() != s.from.Is4() {
			c.fail(s.at, "%s is %s and %s (%s) is %s; a machine gets one address of a pool, so make a pool of each", s, family(s.from), first, first.at, family(first.from))
		}
	}
}

// overlaps returns the pairs of neighbours, by address, that share one.
func overlaps(all []span) [][2]span {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b span) int { return a.from.Compare(b.from) })

	var pairs [][2]span

	for i, s := range sorted {
		for _, before := range sorted[:i] {
			if before.to.Compare(s.from) >= 0 && before.from.BitLen() == s.from.BitLen() {
				pairs = append(pairs, [2]span{before, s})
			}
		}
	}

	return pairs
}

// String is the range as people write it.
func (s span) String() string { return s.from.String() + "-" + s.to.String() }

func (s span) contains(a netip.Addr) bool { return s.from.Compare(a) <= 0 && a.Compare(s.to) <= 0 }

func family(a netip.Addr) string {
	if a.Is4() {
		return "IPv4"
	}

	return "IPv6"
}
