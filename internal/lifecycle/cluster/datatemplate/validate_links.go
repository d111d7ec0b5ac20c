// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// What upstream's CRD allows.
const (
	minMTU, maxMTU = 1280, 9000
	maxName        = 15 // that of a network interface in Linux
	maxVLAN        = 4094
)

var namePattern = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9._-]*$`)

func ethernetTypes() []string {
	return []string{"bridge", "dvs", "hw_veb", "hyperv", "ovs", "phy", "tap", "vhostuser", "vif"}
}

func bondModes() []string {
	return []string{"802.3ad", "active-backup", "balance-alb", "balance-rr", "balance-tlb", "balance-xor", "broadcast"}
}

func hashPolicies() []string { return []string{"layer2", "layer2+3", "layer3+4"} }

// reserved reports whether a parameter of a bond would take the place of a field of its own.
func reserved(name string) bool {
	return slices.Contains([]string{"mode", "links", "xmit_hash_policy"}, name)
}

func errReserved(name string) error {
	return fmt.Errorf("parameter %q has a field of its own: bond_%s", name, name)
}

// links checks links as long as it goes over them.
type links struct {
	*checker
	ids, names, macs map[string]string // where they stand
	ethernets, all   []string
	slaves           map[string]string
}

func (c *checker) networkData(n *NetworkData) {
	l := links{checker: c, ids: map[string]string{}, names: map[string]string{}, macs: map[string]string{}, slaves: map[string]string{}}
	raw := n.rawIDs("links")

	if n.Links != nil {
		l.collect(n.Links, raw)

		for i, e := range n.Links.Ethernets {
			l.ethernet(fmt.Sprintf("network_data.links.ethernets[%d]", i), e)
		}

		for i, b := range n.Links.Bonds {
			l.bond(fmt.Sprintf("network_data.links.bonds[%d]", i), b)
		}

		l.vlans(n.Links.VLANs)
	}

	if n.Networks != nil {
		c.networks(n.Networks, slices.Concat(l.all, raw))
	}

	c.services("network_data.services", n.Services)
	c.rawLists(n.Raw)
}

// collect notes which links there are.
func (l *links) collect(all *Links, raw []string) {
	for _, e := range all.Ethernets {
		l.ethernets = append(l.ethernets, e.ID)
	}

	l.all = append(l.all, l.ethernets...)
	l.ethernets = append(l.ethernets, raw...)

	for _, b := range all.Bonds {
		l.all = append(l.all, b.ID)
	}

	for _, v := range all.VLANs {
		l.all = append(l.all, v.ID)
	}
}

// link checks what all links have.
func (l *links) link(at, id, name string, mtu int, mac *MAC) {
	l.need(at, "id", id)
	l.once(at, "id", id, l.ids)

	if name != "" {
		if len(name) > maxName || !namePattern.MatchString(name) {
			l.fail(at, "name %q is no name of a network interface: a letter, then letters, digits, dots, underscores and dashes, %d at most", name, maxName)
		}

		l.once(at, "name", name, l.names)
	}

	if mtu != 0 && (mtu < minMTU || mtu > maxMTU) {
		l.fail(at, "mtu %d is not from %d to %d", mtu, minMTU, maxMTU)
	}

	if mac != nil {
		l.mac(at+".mac_address", *mac)
	}
}

// once refuses what two links have.
func (l *links) once(at, field, value string, seen map[string]string) {
	if before, taken := seen[value]; taken && value != "" {
		l.fail(at, "%s %q is also that of %s", field, value, before)
	}

	seen[value] = at
}

func (l *links) mac(at string, m MAC) {
	written := 0

	if m.String != "" {
		written++

		if _, err := canonicalMAC(m.String); err != nil {
			l.fail(at, "%w", err)
		}
	}

	if m.FromHostInterface != "" {
		written++
	}

	if m.FromAnnotation != nil {
		written++

		l.annotation(at+".from_annotation", m.FromAnnotation)
	}

	if written != 1 {
		l.fail(at, "write exactly one of string, from_host_interface and from_annotation")
	}
}

func (l *links) ethernet(at string, e Ethernet) {
	l.link(at, e.ID, e.Name, e.MTU, e.MAC)

	if e.Type != "" {
		l.among(at, "type", e.Type, ethernetTypes())
	}

	if e.MAC == nil {
		l.fail(at, "mac_address is missing; without it nothing says which network card %q is", e.ID)

		return
	}

	// a card is one link: the second would take the first one's place
	card := e.MAC.FromHostInterface
	if mac, err := canonicalMAC(e.MAC.String); err == nil {
		card = mac
	}

	l.once(at, "mac_address", card, l.macs)
}

func (l *links) bond(at string, b Bond) {
	l.link(at, b.ID, b.Name, b.MTU, b.MAC)
	l.among(at, "bond_mode", b.Mode, bondModes())

	if b.XmitHashPolicy != "" {
		l.among(at, "bond_xmit_hash_policy", b.XmitHashPolicy, hashPolicies())
	}

	if len(b.Links) == 0 {
		l.fail(at, "bond_links is missing: cloud-init takes no bond without links")
	}

	for _, id := range b.Links {
		if !slices.Contains(l.ethernets, id) {
			l.fail(at, "bond_links names %q, which is none of the ethernets %q", id, l.ethernets)
		}

		if before, taken := l.slaves[id]; taken {
			l.fail(at, "bond_links names %q, which %s has already", id, before)
		}

		l.slaves[id] = at
	}

	l.parameters(at, b.Parameters)
}

func (l *links) parameters(at string, all []Parameter) {
	seen := map[string]string{}

	for i, p := range all {
		at := fmt.Sprintf("%s.parameters[%d]", at, i)

		l.need(at, "name", p.Name)
		l.once(at, "name", p.Name, seen)

		if reserved(p.Name) {
			l.fail(at, "%w", errReserved(p.Name))
		}

		if len(p.Value) == 0 || !json.Valid(p.Value) || string(p.Value) == "null" {
			l.fail(at, "value of %q is missing", p.Name)
		}
	}
}

func (l *links) vlans(all []VLAN) {
	type tag struct {
		link string
		id   int
	}

	seen := map[tag]string{}

	for i, v := range all {
		at := fmt.Sprintf("network_data.links.vlans[%d]", i)
		l.link(at, v.ID, v.Name, v.MTU, v.MAC)

		if v.VLANID < 1 || v.VLANID > maxVLAN {
			l.fail(at, "vlan_id %d is not from 1 to %d", v.VLANID, maxVLAN)
		}

		if v.MAC == nil {
			l.fail(at, "mac_address is missing: cloud-init takes no VLAN without one; write that of the link %q", v.Link)
		}

		if v.Link == v.ID || !slices.Contains(l.all, v.Link) && !slices.Contains(l.ethernets, v.Link) {
			l.fail(at, "vlan_link %q is none of the other links %q", v.Link, l.all)
		}

		if before, taken := seen[tag{v.Link, v.VLANID}]; taken {
			l.fail(at, "vlan_id %d on %q is also that of %s", v.VLANID, v.Link, before)
		}

		seen[tag{v.Link, v.VLANID}] = at
	}
}

// rawLists refuses raw fields that would take the place of a list with something else.
func (c *checker) rawLists(raw map[string]any) {
	for _, field := range []string{"links", "networks", "services"} {
		if value, ok := raw[field]; ok && value != nil {
			if _, ok := value.([]any); !ok {
				c.fail("network_data.raw."+field, "this is no list")
			}
		}
	}
}
