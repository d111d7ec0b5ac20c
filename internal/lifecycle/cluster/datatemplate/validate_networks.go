// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
)

func (c *checker) networks(n *Networks, known []string) {
	ids := map[string]string{}
	each := func(kind string, i int, id, link string) string {
		at := fmt.Sprintf("network_data.networks.%s[%d]", kind, i)

		c.need(at, "id", id)

		if before, taken := ids[id]; taken && id != "" {
			c.fail(at, "id %q is also that of %s", id, before)
		}

		ids[id] = at

		// cloud-init drops such a network without a word
		if !slices.Contains(known, link) {
			c.fail(at, "link %q is none of the links %q", link, known)
		}

		return at
	}

	for kind, all := range n.static() {
		for i, one := range all {
			at := each(kind, i, one.ID, one.Link)
			c.annotation(at+".from_pool_annotation", one.FromPoolAnnotation)

			if (one.FromPool != "") == (one.FromPoolAnnotation != nil) {
				c.fail(at, "write exactly one of from_pool and from_pool_annotation")
			}

			c.routes(at, kind == "ipv4", one.Routes)
		}
	}

	for kind, all := range n.dynamic() {
		for i, one := range all {
			c.routes(each(kind, i, one.ID, one.Link), kind == "ipv4_dhcp", one.Routes)
		}
	}
}

func (c *checker) routes(at string, v4 bool, all []Route) {
	seen := map[netip.Prefix]string{}

	for i, r := range all {
		at := fmt.Sprintf("%s.routes[%d]", at, i)

		c.gateway(at, v4, r.Gateway)
		c.services(at+".services", r.Services)

		network, err := addresses.ParseAddress(r.Network)
		if err != nil {
			c.fail(at, "network %w", err)

			continue
		}

		if !c.sameFamily(at, "network", network, v4) {
			continue
		}

		prefix := netip.PrefixFrom(network, 0)
		if r.Prefix != nil {
			prefix = netip.PrefixFrom(network, *r.Prefix)
		}

		switch before, taken := seen[prefix.Masked()]; {
		case r.Prefix == nil && !network.IsUnspecified():
			c.fail(at, "prefix is missing; without it the route to %s would be one to everywhere", network)
		case !prefix.IsValid():
			c.fail(at, "prefix %d is not from 0 to %d", *r.Prefix, network.BitLen())
		case prefix != prefix.Masked():
			c.fail(at, "network %s is no network of /%d; write %s", network, prefix.Bits(), prefix.Masked().Addr())
		case taken:
			c.fail(at, "the route to %s is also %s", prefix, before)
		default:
			seen[prefix] = at
		}
	}
}

func (c *checker) sameFamily(at, what string, a netip.Addr, v4 bool) bool {
	if a.Is4() == v4 {
		return true
	}

	want := "IPv6"
	if v4 {
		want = "IPv4"
	}

	c.fail(at, "%s %s is no %s address", what, a, want)

	return false
}

func (c *checker) gateway(at string, v4 bool, g *Gateway) {
	if g == nil || *g == (Gateway{}) {
		c.fail(at, "%w", errNoGateway)

		return
	}

	written := 0

	for _, is := range []bool{g.String != "", g.FromPool != "", g.FromPoolAnnotation != nil} {
		if is {
			written++
		}
	}

	if written > 1 {
		c.fail(at+".gateway", "write exactly one of string, from_pool and from_pool_annotation")
	}

	c.annotation(at+".gateway.from_pool_annotation", g.FromPoolAnnotation)

	if g.String == "" {
		return
	}

	a, err := addresses.ParseAddress(g.String)
	if err != nil {
		c.fail(at+".gateway", "%w", err)

		return
	}

	c.sameFamily(at+".gateway", "string", a, v4)
}

func (c *checker) services(at string, s *Services) {
	if s == nil {
		return
	}

	for i, text := range s.DNS {
		if _, err := addresses.ParseAddress(text); err != nil {
			c.fail(fmt.Sprintf("%s.dns[%d]", at, i), "%w", err)
		}
	}
}
