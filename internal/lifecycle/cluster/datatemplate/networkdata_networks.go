// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import (
	"fmt"
	"net/netip"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
)

func (r *netRenderer) allNetworks(n *Networks) {
	if n == nil {
		return
	}

	for kind, all := range n.static() {
		for _, one := range all {
			r.static(kind, one)
		}
	}

	for kind, all := range n.dynamic() {
		for _, one := range all {
			r.networks = append(r.networks, object{
				"type": kind, "id": one.ID, "network_id": one.ID, "link": one.Link, "routes": r.routes(place(kind, one.ID), one.Routes),
			})
		}
	}
}

func place(kind, id string) string { return fmt.Sprintf("networks.%s, id %q", kind, id) }

// static goes over the networks with addresses of ours, by kind.
func (n *Networks) static() func(yield func(string, []Network) bool) {
	return func(yield func(string, []Network) bool) {
		_ = yield("ipv4", n.IPv4) && yield("ipv6", n.IPv6)
	}
}

// dynamic goes over the networks without addresses of ours, by kind.
func (n *Networks) dynamic() func(yield func(string, []Dynamic) bool) {
	return func(yield func(string, []Dynamic) bool) {
		_ = yield("ipv4_dhcp", n.IPv4DHCP) && yield("ipv6_dhcp", n.IPv6DHCP) && yield("ipv6_slaac", n.IPv6SLAAC)
	}
}

func (r *netRenderer) static(kind string, n Network) {
	at := place(kind, n.ID)
	routes := r.routes(at, n.Routes)

	pool, err := r.vars.pool(n.FromPool, n.FromPoolAnnotation)
	if err != nil {
		r.fail(at, err)

		return
	}

	a, addr, err := r.vars.address(pool)

	switch {
	case err != nil:
		r.fail(at, err)
	case addr.Is4() != (kind == "ipv4"):
		r.fail(at, fmt.Errorf("pool %q gives %s, which is no %s address", pool, addr, kind))
	default:
		r.networks = append(r.networks, object{
			"type": kind, "id": n.ID, "network_id": n.ID, "link": n.Link, "ip_address": addr.String(), "netmask": netmask(addr, a.Prefix), "routes": routes,
		})
	}
}

func (r *netRenderer) routes(at string, all []Route) []any {
	out := []any{}

	for _, one := range all {
		at := fmt.Sprintf("%s, route %s", at, one.Network)

		network, err := addresses.ParseAddress(one.Network)
		if err != nil {
			r.fail(at, err)

			continue
		}

		prefix := 0
		if one.Prefix != nil {
			prefix = *one.Prefix
		}

		if prefix < 0 || prefix > network.BitLen() {
			r.fail(at, fmt.Errorf("prefix %d is out of bounds", prefix))

			continue
		}

		gateway, err := r.gateway(one.Gateway, network)
		if err != nil {
			r.fail(at, err)

			continue
		}

		out = append(out, object{
			"network": network.String(), "netmask": netmask(network, prefix), "gateway": gateway.String(), "services": r.services(at, one.Services),
		})
	}

	return out
}

// gateway returns the gateway of a route. A literal wins over a pool that an annotation names, and
// that over one that is named.
func (r *netRenderer) gateway(g *Gateway, network netip.Addr) (netip.Addr, error) {
	if g == nil || *g == (Gateway{}) {
		return netip.Addr{}, errNoGateway
	}

	text := g.String
	if text == "" {
		pool, err := r.vars.pool(g.FromPool, g.FromPoolAnnotation)
		if err != nil {
			return netip.Addr{}, err
		}

		a, _, err := r.vars.address(pool)
		if err != nil {
			return netip.Addr{}, err
		}

		if text = a.Gateway; text == "" {
			return netip.Addr{}, fmt.Errorf("pool %q has no gateway", pool)
		}
	}

	gateway, err := addresses.ParseAddress(text)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("gateway: %w", err)
	}

	if gateway.Is4() != network.Is4() {
		return netip.Addr{}, fmt.Errorf("gateway %s is of another family than the route", gateway)
	}

	return gateway, nil
}

// services returns the DNS servers: literal ones, then those of the pool.
func (r *netRenderer) services(at string, s *Services) []any {
	out := []any{}
	if s == nil {
		return out
	}

	all := s.DNS

	if s.DNSFromPool != "" {
		a, _, err := r.vars.address(s.DNSFromPool)
		if err != nil {
			r.fail(at+", dns_from_pool", err)
		}

		all = append(all[:len(all):len(all)], a.DNS...)
	}

	for _, text := range all {
		a, err := addresses.ParseAddress(text)
		if err != nil {
			r.fail(at+", dns", err)

			continue
		}

		out = append(out, object{"type": "dns", "address": a.String()})
	}

	return out
}

// netmask writes a prefix as an address: 255.255.255.0, ffff:ffff:ffff:ffff::.
func netmask(of netip.Addr, prefix int) string {
	ones := netip.AddrFrom4([4]byte{255, 255, 255, 255})
	if of.Is6() {
		ones = netip.AddrFrom16([16]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255})
	}

	return netip.PrefixFrom(ones, prefix).Masked().Addr().String()
}
