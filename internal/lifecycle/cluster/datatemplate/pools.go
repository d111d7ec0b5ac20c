// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import "slices"

// Pools returns the names of the pools that the template asks for an address of, sorted, each once. A
// machine has one address of a pool, wherever the template uses it. What an annotation names is not
// among them: see [Template.PoolsFor].
func (t Template) Pools() []string {
	var all []string

	t.eachPool(func(name string, annotation *Annotation) {
		if annotation == nil && name != "" {
			all = append(all, name)
		}
	})

	slices.Sort(all)

	return slices.Compact(all)
}

// PoolsFor is [Template.Pools] with those that the annotations of a machine and its host name. What an
// absent annotation would name is left out: rendering says so.
func (t Template) PoolsFor(v Vars) []string {
	all := t.Pools()

	t.eachPool(func(_ string, annotation *Annotation) {
		if annotation == nil {
			return
		}

		if name, err := v.annotation(*annotation); err == nil {
			all = append(all, name)
		}
	})

	slices.Sort(all)

	return slices.Compact(all)
}

// eachPool goes over all places that name a pool, or an annotation that does.
func (t Template) eachPool(visit func(name string, annotation *Annotation)) {
	if m := t.MetaData; m != nil {
		for _, one := range slices.Concat(m.IPAddressesFromPool, m.PrefixesFromPool, m.GatewaysFromPool, m.DNSServersFromPool) {
			visit(one.Name, nil)
		}
	}

	if t.NetworkData == nil {
		return
	}

	services := func(s *Services) {
		if s != nil {
			visit(s.DNSFromPool, nil)
		}
	}
	routes := func(all []Route) {
		for _, r := range all {
			services(r.Services)

			if r.Gateway != nil {
				visit(r.Gateway.FromPool, r.Gateway.FromPoolAnnotation)
			}
		}
	}

	services(t.NetworkData.Services)

	n := t.NetworkData.Networks
	if n == nil {
		return
	}

	for _, one := range slices.Concat(n.IPv4, n.IPv6) {
		visit(one.FromPool, one.FromPoolAnnotation)
		routes(one.Routes)
	}

	for _, all := range n.dynamic() {
		for _, one := range all {
			routes(one.Routes)
		}
	}
}
