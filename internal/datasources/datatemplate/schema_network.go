// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func networkDataAttributes() attributes {
	return attributes{
		"links": section("Network interfaces. They are written as bonds, then ethernets, then VLANs.", attributes{
			"ethernets": ethernets(), "bonds": bonds(), "vlans": vlans(),
		}),
		"networks": section("Networks on the links. They are written in this order: `ipv4`, `ipv6`, `ipv4_dhcp`, `ipv6_dhcp`, `ipv6_slaac`.", attributes{
			"ipv4":       networks("Static IPv4 addresses of pools.", static()),
			"ipv6":       networks("Static IPv6 addresses of pools.", static()),
			"ipv4_dhcp":  networks("Links that get an IPv4 address by DHCP.", nil),
			"ipv6_dhcp":  networks("Links that get an IPv6 address by DHCP.", nil),
			"ipv6_slaac": networks("Links that give themselves an IPv6 address.", nil),
		}),
		"services": section("Name servers of the machine.", services()),
		"raw": schema.DynamicAttribute{
			Optional: true,
			MarkdownDescription: "Put over what is rendered, as it is: an object, or an object as JSON. Elements of `links` and `networks` add their fields to the one " +
				"with their `id`, or are appended; elements of `services` are appended; other fields are added.",
		},
	}
}

// link is what all links have.
func link(parts attributes) attributes {
	all := attributes{
		"id": needed("Id, by which networks, bonds and VLANs name the link. Once among all links."),
		"name": text("Name of the interface on the machine: a letter, then letters, digits, dots, underscores and dashes, 15 at most. " +
			"cloud-init does not look at it for bonds and VLANs, which it calls `bond0`, `bond1` … and `<link>.<vlan_id>`."),
		"mtu": number("MTU, 1280 to 9000. Default: 1500."),
	}
	maps.Copy(all, parts)

	return all
}

func mac(required bool, about string) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Required: required, Optional: !required, MarkdownDescription: about + " Exactly one of its parts.",
		Attributes: attributes{
			"string":              text("The address itself."),
			"from_host_interface": text("That of a network interface of the host, by the name that the inspection found. `boot` is the interface that the host boots from."),
			"from_annotation":     section("What an annotation says.", annotation()),
		},
	}
}

func annotation() attributes {
	return attributes{"object": needed(objects), "annotation": needed("Name of the annotation.")}
}

func ethernets() schema.ListNestedAttribute {
	return list("Network cards.", link(attributes{
		"type":        text("`bridge`, `dvs`, `hw_veb`, `hyperv`, `ovs`, `phy`, `tap`, `vhostuser` or `vif`; all are cards to cloud-init. Default: `phy`."),
		"mac_address": mac(true, "Address of the card; it says which card it is."),
	}))
}

func bonds() schema.ListNestedAttribute {
	return list("Bonds of ethernets.", link(attributes{
		"bond_mode":             needed("`balance-rr`, `active-backup`, `balance-xor`, `broadcast`, `balance-tlb`, `balance-alb` or `802.3ad`."),
		"bond_xmit_hash_policy": text("`layer2`, `layer3+4` or `layer2+3`."),
		"mac_address":           mac(false, "Address of the bond."),
		"bond_links":            schema.ListAttribute{Required: true, ElementType: types.StringType, MarkdownDescription: "Ids of its ethernets. An ethernet is in one bond."},
		"parameters": list("Further options.", attributes{
			"name": needed("Name of the option, without `bond_`."),
			"value": needed("Its value: a number, `true`, `false`, or JSON as what it says; all else as text. " +
				"A text that looks like a number is `jsonencode(\"100\")`."),
		}),
	}))
}

func vlans() schema.ListNestedAttribute {
	return list("VLANs on links.", link(attributes{
		"vlan_id":     schema.Int64Attribute{Required: true, MarkdownDescription: "Number of the VLAN, 1 to 4094. Once on a link."},
		"vlan_link":   needed("Id of the link that it is on."),
		"mac_address": mac(true, "Address of the VLAN, as a rule that of its link: cloud-init takes no VLAN without."),
	}))
}

func static() attributes {
	return attributes{
		"from_pool":            text("Name of the pool that the address is of. Exactly one of this and `from_pool_annotation`."),
		"from_pool_annotation": section("Annotation that names the pool.", annotation()),
	}
}

func networks(about string, parts attributes) schema.ListNestedAttribute {
	all := attributes{
		"id":     needed("Id of the network. Once among all networks."),
		"link":   needed("Id of the link that it is on."),
		"routes": routes(),
	}
	maps.Copy(all, parts)

	return list(about, all)
}

func routes() schema.ListNestedAttribute {
	return list("Routes.", attributes{
		"network": needed("Network that the route leads to: `0.0.0.0` or `::` for the default route."),
		"prefix":  number("Length of its prefix. Only the default route may leave it out."),
		"gateway": schema.SingleNestedAttribute{
			Required: true, MarkdownDescription: "Gateway. Exactly one of its parts.",
			Attributes: attributes{
				"string":               text("The address itself."),
				"from_pool":            text("That of the machine's address of this pool."),
				"from_pool_annotation": section("That of the machine's address of the pool that an annotation names.", annotation()),
			},
		},
		"services": section("Name servers that are reached by this route.", services()),
	})
}

func services() attributes {
	return attributes{
		"dns":           texts("Addresses of name servers."),
		"dns_from_pool": text("Pool whose name servers come after them."),
	}
}
