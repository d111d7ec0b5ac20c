// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package hardwarevalue is the attribute "hardware": its shape, for resources and for data
// sources, and its value made from an inventory.
package hardwarevalue

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// kind says what a field holds.
type kind int

const (
	text kind = iota
	number
	truth
	texts   // a list of strings
	object  // one object with fields
	objects // a list of objects with fields
)

// field is one attribute, described once for both kinds of schemas.
type field struct {
	name   string
	kind   kind
	about  string
	fields []field
}

// shape is that of Metal3's HardwareData in snake case, with the addresses of both families
// in one interface, and the system's UUID.
var shape = []field{
	{"system_vendor", object, "Who made the machine.", []field{
		{"manufacturer", text, "Manufacturer.", nil},
		{"product_name", text, "Product name.", nil},
		{"serial_number", text, "Serial number.", nil},
	}},
	{"system_uuid", text, "UUID of the system as its firmware tells it, in lower case.", nil},
	{"firmware", object, "Versions of the firmware.", []field{
		{"bios", object, "Firmware of the board.", []field{
			{"date", text, "Build date, as the vendor writes it.", nil},
			{"vendor", text, "Vendor.", nil},
			{"version", text, "Version.", nil},
		}},
	}},
	{"ram_mebibytes", number, "Memory in MiB.", nil},
	{"cpu", object, "Processors, all taken together.", []field{
		{"arch", text, "Architecture, such as `x86_64` or `aarch64`.", nil},
		{"model", text, "Model.", nil},
		{"clock_megahertz", number, "Clock in MHz.", nil},
		{"flags", texts, "Flags, sorted.", nil},
		{"count", number, "Number of logical processors.", nil},
	}},
	{"nics", objects, "Network interfaces, by name.", []field{
		{"name", text, "Name that the inspection ramdisk saw.", nil},
		{"model", text, "Vendor and product.", nil},
		{"mac", text, "MAC address, in lower case with colons.", nil},
		{"ips", texts, "Addresses that the ramdisk had, of both families.", nil},
		{"speed_gbps", number, "Speed in Gbit/s.", nil},
		{"pxe", truth, "Whether the machine boots from this interface.", nil},
		{"vlan_id", number, "Untagged VLAN at the switch.", nil},
		{"vlans", objects, "Tagged VLANs at the switch, as LLDP tells.", []field{
			{"id", number, "VLAN id.", nil},
			{"name", text, "Name of the VLAN.", nil},
		}},
		{"lldp", object, "The other end of the cable.", []field{
			{"switch_id", text, "Chassis id of the switch.", nil},
			{"port_id", text, "Port of the switch.", nil},
			{"switch_system_name", text, "Name of the switch.", nil},
		}},
		{"pci_address", text, "PCI address.", nil},
	}},
	{"storage", objects, "Disks, by name.", []field{
		{"name", text, "Device path, by-path where it is known: that outlives a reboot.", nil},
		{"alternate_names", texts, "Other paths of the device.", nil},
		{"rotational", truth, "Whether the disk turns.", nil},
		{"type", text, "`HDD`, `SSD` or `NVME`.", nil},
		{"size_bytes", number, "Size in bytes.", nil},
		{"vendor", text, "Vendor.", nil},
		{"model", text, "Model.", nil},
		{"serial_number", text, "Serial number.", nil},
		{"wwn", text, "World wide name.", nil},
		{"wwn_vendor_extension", text, "Vendor extension of the world wide name.", nil},
		{"wwn_with_extension", text, "World wide name with its extension.", nil},
		{"hctl", text, "SCSI address (host, channel, target, LUN).", nil},
	}},
	{"hostname", text, "Host name that the inspection ramdisk had.", nil},
}

// Attributes are the attributes of "hardware" in a resource, all of them computed.
func Attributes() map[string]resource.Attribute { return resourceAttributes(shape) }

// DataSourceAttributes are the attributes of "hardware" in a data source.
func DataSourceAttributes() map[string]datasource.Attribute { return dataSourceAttributes(shape) }

// Types are the types of the attributes of "hardware". The map is shared: nobody changes it.
func Types() map[string]attr.Type { return shapeTypes }

// shapeTypes is made once: a refresh asks for it once a host.
var shapeTypes = attributeTypes(shape)

// Type is the type of "hardware".
func Type() types.ObjectType { return types.ObjectType{AttrTypes: Types()} }

func resourceAttributes(fields []field) map[string]resource.Attribute {
	out := make(map[string]resource.Attribute, len(fields))

	for _, f := range fields {
		switch f.kind {
		case text:
			out[f.name] = resource.StringAttribute{Computed: true, MarkdownDescription: f.about}
		case number:
			out[f.name] = resource.Int64Attribute{Computed: true, MarkdownDescription: f.about}
		case truth:
			out[f.name] = resource.BoolAttribute{Computed: true, MarkdownDescription: f.about}
		case texts:
			out[f.name] = resource.ListAttribute{Computed: true, MarkdownDescription: f.about, ElementType: types.StringType}
		case object:
			out[f.name] = resource.SingleNestedAttribute{Computed: true, MarkdownDescription: f.about, Attributes: resourceAttributes(f.fields)}
		case objects:
			nested := resource.NestedAttributeObject{Attributes: resourceAttributes(f.fields)}
			out[f.name] = resource.ListNestedAttribute{Computed: true, MarkdownDescription: f.about, NestedObject: nested}
		}
	}

	return out
}

func dataSourceAttributes(fields []field) map[string]datasource.Attribute {
	out := make(map[string]datasource.Attribute, len(fields))

	for _, f := range fields {
		switch f.kind {
		case text:
			out[f.name] = datasource.StringAttribute{Computed: true, MarkdownDescription: f.about}
		case number:
			out[f.name] = datasource.Int64Attribute{Computed: true, MarkdownDescription: f.about}
		case truth:
			out[f.name] = datasource.BoolAttribute{Computed: true, MarkdownDescription: f.about}
		case texts:
			out[f.name] = datasource.ListAttribute{Computed: true, MarkdownDescription: f.about, ElementType: types.StringType}
		case object:
			out[f.name] = datasource.SingleNestedAttribute{Computed: true, MarkdownDescription: f.about, Attributes: dataSourceAttributes(f.fields)}
		case objects:
			nested := datasource.NestedAttributeObject{Attributes: dataSourceAttributes(f.fields)}
			out[f.name] = datasource.ListNestedAttribute{Computed: true, MarkdownDescription: f.about, NestedObject: nested}
		}
	}

	return out
}

func attributeTypes(fields []field) map[string]attr.Type {
	out := make(map[string]attr.Type, len(fields))

	for _, f := range fields {
		switch f.kind {
		case text:
			out[f.name] = types.StringType
		case number:
			out[f.name] = types.Int64Type
		case truth:
			out[f.name] = types.BoolType
		case texts:
			out[f.name] = types.ListType{ElemType: types.StringType}
		case object:
			out[f.name] = types.ObjectType{AttrTypes: attributeTypes(f.fields)}
		case objects:
			out[f.name] = types.ListType{ElemType: types.ObjectType{AttrTypes: attributeTypes(f.fields)}}
		}
	}

	return out
}
