// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import "fmt"

func (r *netRenderer) allLinks(l *Links) {
	if l == nil {
		return
	}

	for _, b := range l.Bonds {
		r.bond(b)
	}

	for _, e := range l.Ethernets {
		r.link("ethernets", object{"type": e.Type, "id": e.ID, "mtu": e.MTU}, e.Name, "ethernet_mac_address", e.MAC)
	}

	for _, v := range l.VLANs {
		r.link("vlans", object{"type": "vlan", "id": v.ID, "mtu": v.MTU, "vlan_link": v.Link, "vlan_id": v.VLANID}, v.Name, "vlan_mac_address", v.MAC)
	}
}

// link appends a link with its name and MAC address, where it has them.
func (r *netRenderer) link(kind string, link object, name, macField string, mac *MAC) {
	if name != "" {
		link["name"] = name
	}

	if mac != nil {
		text, err := r.mac(*mac)
		if err != nil {
			r.fail(fmt.Sprintf("links.%s, id %q, mac_address", kind, link["id"]), err)
		}

		link[macField] = text
	}

	r.links = append(r.links, link)
}

func (r *netRenderer) bond(b Bond) {
	link := object{"type": "bond", "id": b.ID, "mtu": b.MTU, "bond_mode": b.Mode}
	if b.XmitHashPolicy != "" {
		link["bond_xmit_hash_policy"] = b.XmitHashPolicy
	}

	if len(b.Links) > 0 {
		link["bond_links"] = list(b.Links)
	}

	for _, p := range b.Parameters {
		// upstream refuses these by their collision, even where the field is empty
		if reserved(p.Name) {
			r.fail(fmt.Sprintf("links.bonds, id %q, parameters", b.ID), errReserved(p.Name))

			continue
		}

		value, err := plainJSON(p.Value)
		if err != nil {
			r.fail(fmt.Sprintf("links.bonds, id %q, parameter %q", b.ID, p.Name), err)
		}

		link["bond_"+p.Name] = value
	}

	r.link("bonds", link, b.Name, "ethernet_mac_address", b.MAC)
}

// mac returns a MAC address. A literal wins over an interface, and that over an annotation.
func (r *netRenderer) mac(m MAC) (string, error) {
	switch {
	case m.String != "":
		return canonicalMAC(m.String)
	case m.FromHostInterface != "":
		return r.vars.interfaceMAC(m.FromHostInterface)
	case m.FromAnnotation != nil:
		text, err := r.vars.annotation(*m.FromAnnotation)
		if err != nil {
			return "", err
		}

		mac, err := canonicalMAC(text)
		if err != nil {
			return "", fmt.Errorf("annotation %q of the %s: %w", m.FromAnnotation.Annotation, m.FromAnnotation.Object, err)
		}

		return mac, nil
	}

	return canonicalMAC("")
}

func list(all []string) []any {
	out := make([]any, 0, len(all))
	for _, s := range all {
		out = append(out, s)
	}

	return out
}
