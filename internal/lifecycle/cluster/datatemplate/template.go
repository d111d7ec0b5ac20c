// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package datatemplate renders what a machine finds on its config drive: metadata and network data,
// from a template that many machines share. It is pure.
//
// The template is Metal3DataTemplate of Cluster API Provider Metal3 in snake case; what is rendered
// is what upstream renders, with these differences:
//   - DNS servers of a pool are rendered into metadata, separated by commas; upstream takes the field
//     and renders nothing.
//   - Each network has a network_id (its id): Ironic's own schema of network data requires one.
//   - Options of bonds that are empty are left out: cloud-init passes them on as empty options.
//   - MAC addresses are in lower case with colons: cloud-init compares them with the kernel's.
//   - A route without gateway, a VLAN without MAC address and a network on a link that does not exist
//     are refused: cloud-init drops or stumbles over them, and the machine boots without network.
//   - A Metal3Machine is the machine: there is no second object.
package datatemplate

import "encoding/json"

// Template is a data template.
type Template struct {
	MetaData    *MetaData    `json:"meta_data,omitempty"`
	NetworkData *NetworkData `json:"network_data,omitempty"`
}

// MetaData says which keys the metadata have. Each list is one way to get a value.
type MetaData struct {
	Strings             []String         `json:"strings,omitempty"`
	ObjectNames         []ObjectName     `json:"object_names,omitempty"`
	Indexes             []Index          `json:"indexes,omitempty"`
	Namespaces          []Namespace      `json:"namespaces,omitempty"`
	IPAddressesFromPool []FromPool       `json:"ip_addresses_from_pool,omitempty"`
	PrefixesFromPool    []FromPool       `json:"prefixes_from_pool,omitempty"`
	GatewaysFromPool    []FromPool       `json:"gateways_from_pool,omitempty"`
	DNSServersFromPool  []FromPool       `json:"dns_servers_from_pool,omitempty"`
	FromHostInterfaces  []FromInterface  `json:"from_host_interfaces,omitempty"`
	FromLabels          []FromLabel      `json:"from_labels,omitempty"`
	FromAnnotations     []FromAnnotation `json:"from_annotations,omitempty"`
}

// String is a value as it is.
type String struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// ObjectName is the name of a machine or a host.
type ObjectName struct {
	Key    string `json:"key"`
	Object string `json:"object"`
}

// Index is a number made of the machine's index: prefix, offset + index*step, suffix.
type Index struct {
	Key    string `json:"key"`
	Offset int    `json:"offset,omitempty"`
	Step   int    `json:"step,omitempty"` // 0: 1
	Prefix string `json:"prefix,omitempty"`
	Suffix string `json:"suffix,omitempty"`
}

// Namespace is the namespace of the cluster.
type Namespace struct {
	Key string `json:"key"`
}

// FromPool is something of the machine's address of a pool.
type FromPool struct {
	Key  string `json:"key"`
	Name string `json:"name"`
}

// FromInterface is the MAC address of a network interface of the host, by its name, or that it boots from.
type FromInterface struct {
	Key         string `json:"key"`
	Interface   string `json:"interface,omitempty"`
	FromBootMAC bool   `json:"from_boot_mac,omitempty"`
}

// FromLabel is the value of a label, empty where it is absent.
type FromLabel struct {
	Key    string `json:"key"`
	Object string `json:"object"`
	Label  string `json:"label"`
}

// FromAnnotation is the value of an annotation, empty where it is absent.
type FromAnnotation struct {
	Key        string `json:"key"`
	Object     string `json:"object"`
	Annotation string `json:"annotation"`
}

// NetworkData says which links, networks and services a machine has.
type NetworkData struct {
	Links    *Links    `json:"links,omitempty"`
	Networks *Networks `json:"networks,omitempty"`
	Services *Services `json:"services,omitempty"`
	// Raw is put over what is rendered: see [RenderNetworkData].
	Raw map[string]any `json:"raw,omitempty"`
}

// Links are the network interfaces, in the order in which they are rendered.
type Links struct {
	Bonds     []Bond     `json:"bonds,omitempty"`
	Ethernets []Ethernet `json:"ethernets,omitempty"`
	VLANs     []VLAN     `json:"vlans,omitempty"`
}

// Ethernet is a network card.
type Ethernet struct {
	ID   string `json:"id"`
	Type string `json:"type,omitempty"` // "": phy
	Name string `json:"name,omitempty"`
	MTU  int    `json:"mtu,omitempty"` // 0: 1500
	MAC  *MAC   `json:"mac_address,omitempty"`
}

// Bond is a bond of links.
type Bond struct {
	ID             string      `json:"id"`
	Mode           string      `json:"bond_mode"`
	XmitHashPolicy string      `json:"bond_xmit_hash_policy,omitempty"`
	Name           string      `json:"name,omitempty"`
	MTU            int         `json:"mtu,omitempty"`
	MAC            *MAC        `json:"mac_address,omitempty"`
	Parameters     []Parameter `json:"parameters,omitempty"`
	Links          []string    `json:"bond_links,omitempty"`
}

// Parameter is an option of a bond; its value keeps its type.
type Parameter struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// VLAN is a VLAN on a link.
type VLAN struct {
	ID     string `json:"id"`
	VLANID int    `json:"vlan_id"`
	Link   string `json:"vlan_link"`
	Name   string `json:"name,omitempty"`
	MTU    int    `json:"mtu,omitempty"`
	MAC    *MAC   `json:"mac_address,omitempty"`
}

// MAC is a MAC address: one of a literal, that of an interface of the host ("boot": the one that it
// boots from), and the value of an annotation.
type MAC struct {
	String            string      `json:"string,omitempty"`
	FromHostInterface string      `json:"from_host_interface,omitempty"`
	FromAnnotation    *Annotation `json:"from_annotation,omitempty"`
}

// Annotation names an annotation of a machine or a host.
type Annotation struct {
	Object     string `json:"object"`
	Annotation string `json:"annotation"`
}

// Networks are the networks, in the order in which they are rendered.
type Networks struct {
	IPv4      []Network `json:"ipv4,omitempty"`
	IPv6      []Network `json:"ipv6,omitempty"`
	IPv4DHCP  []Dynamic `json:"ipv4_dhcp,omitempty"`
	IPv6DHCP  []Dynamic `json:"ipv6_dhcp,omitempty"`
	IPv6SLAAC []Dynamic `json:"ipv6_slaac,omitempty"`
}

// Network is a static address of a pool on a link: of the pool that is named, or that an annotation names.
type Network struct {
	ID                 string      `json:"id"`
	Link               string      `json:"link"`
	FromPool           string      `json:"from_pool,omitempty"`
	FromPoolAnnotation *Annotation `json:"from_pool_annotation,omitempty"`
	Routes             []Route     `json:"routes,omitempty"`
}

// Dynamic is a link whose address somebody else gives.
type Dynamic struct {
	ID     string  `json:"id"`
	Link   string  `json:"link"`
	Routes []Route `json:"routes,omitempty"`
}

// Route is a route of a network.
type Route struct {
	Network  string    `json:"network"`
	Prefix   *int      `json:"prefix,omitempty"` // nil: 0, which only the default route has
	Gateway  *Gateway  `json:"gateway,omitempty"`
	Services *Services `json:"services,omitempty"`
}

// Gateway is a gateway: one of a literal, that of a pool, and that of the pool that an annotation names.
type Gateway struct {
	String             string      `json:"string,omitempty"`
	FromPool           string      `json:"from_pool,omitempty"`
	FromPoolAnnotation *Annotation `json:"from_pool_annotation,omitempty"`
}

// Services are DNS servers: literal ones, then those of a pool.
type Services struct {
	DNS         []string `json:"dns,omitempty"`
	DNSFromPool string   `json:"dns_from_pool,omitempty"`
}
