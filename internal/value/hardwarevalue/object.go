// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hardwarevalue

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// values are the attributes of one object.
type values map[string]attr.Value

// Null is "hardware" of a host without an inventory.
func Null() types.Object { return types.ObjectNull(Types()) }

// Unknown is "hardware" of a host that is going to be inspected.
func Unknown() types.Object { return types.ObjectUnknown(Types()) }

// Object is "hardware" of a host with an inventory, null where the document held none.
//
// Text and numbers that the inventory does not tell are null; lists are empty, so that
// expressions can go over them.
func Object(h hardware.Hardware) types.Object {
	if !h.Known() {
		return Null()
	}

	return build(shape, values{
		"system_vendor": sub(shape, "system_vendor", values{
			"manufacturer":  value.String(h.SystemVendor.Manufacturer),
			"product_name":  value.String(h.SystemVendor.ProductName),
			"serial_number": value.String(h.SystemVendor.SerialNumber),
		}),
		"system_uuid":   value.String(h.SystemUUID),
		"firmware":      firmware(h.Firmware),
		"ram_mebibytes": value.Int64(h.RAMMebibytes),
		"cpu":           cpu(h.CPU),
		"nics":          nics(h.NICs),
		"storage":       storage(h.Storage),
		"hostname":      value.String(h.Hostname),
	})
}

func firmware(f hardware.Firmware) types.Object {
	fields := fieldsOf(shape, "firmware")

	return build(fields, values{
		"bios": sub(fields, "bios", values{
			"date":    value.String(f.BIOS.Date),
			"vendor":  value.String(f.BIOS.Vendor),
			"version": value.String(f.BIOS.Version),
		}),
	})
}

func cpu(c hardware.CPU) types.Object {
	return sub(shape, "cpu", values{
		"arch":            value.String(c.Arch),
		"model":           value.String(c.Model),
		"clock_megahertz": value.Int64(c.ClockMegahertz),
		"flags":           value.StringListOrEmpty(c.Flags),
		"count":           value.Int64(c.Count),
	})
}

func nics(all []hardware.NIC) types.List {
	fields := fieldsOf(shape, "nics")
	out := make([]attr.Value, 0, len(all))

	for _, n := range all {
		out = append(out, build(fields, values{
			"name":       value.String(n.Name),
			"model":      value.String(n.Model),
			"mac":        value.String(n.MAC),
			"ips":        value.StringListOrEmpty(n.IPs),
			"speed_gbps": value.Int64(n.SpeedGbps),
			"pxe":        types.BoolValue(n.PXE),
			"vlan_id":    value.Int64(n.VLANID),
			"vlans":      vlans(fields, n.VLANs),
			"lldp": sub(fields, "lldp", values{
				"switch_id":          value.String(n.LLDP.SwitchID),
				"port_id":            value.String(n.LLDP.PortID),
				"switch_system_name": value.String(n.LLDP.SwitchSystemName),
			}),
			"pci_address": value.String(n.PCIAddress),
		}))
	}

	return list(fields, out)
}

func vlans(parent []field, all []hardware.VLAN) types.List {
	fields := fieldsOf(parent, "vlans")
	out := make([]attr.Value, 0, len(all))

	for _, v := range all {
		out = append(out, build(fields, values{"id": types.Int64Value(v.ID), "name": value.String(v.Name)}))
	}

	return list(fields, out)
}

func storage(all []hardware.Storage) types.List {
	fields := fieldsOf(shape, "storage")
	out := make([]attr.Value, 0, len(all))

	for _, d := range all {
		out = append(out, build(fields, values{
			"name":                 value.String(d.Name),
			"alternate_names":      value.StringListOrEmpty(d.AlternateNames),
			"rotational":           types.BoolValue(d.Rotational),
			"type":                 value.String(d.Type),
			"size_bytes":           value.Int64(d.SizeBytes),
			"vendor":               value.String(d.Vendor),
			"model":                value.String(d.Model),
			"serial_number":        value.String(d.SerialNumber),
			"wwn":                  value.String(d.WWN),
			"wwn_vendor_extension": value.String(d.WWNVendorExtension),
			"wwn_with_extension":   value.String(d.WWNWithExtension),
			"hctl":                 value.String(d.HCTL),
		}))
	}

	return list(fields, out)
}

// build makes one object. Shape and values stand beside each other in this package, and a
// test makes every object once, so a mismatch is a panic of ours and of no user's.
func build(fields []field, v values) types.Object {
	return types.ObjectValueMust(attributeTypes(fields), v)
}

func sub(parent []field, name string, v values) types.Object { return build(fieldsOf(parent, name), v) }

func list(fields []field, all []attr.Value) types.List {
	return types.ListValueMust(types.ObjectType{AttrTypes: attributeTypes(fields)}, all)
}

func fieldsOf(parent []field, name string) []field {
	for _, f := range parent {
		if f.name == name {
			return f.fields
		}
	}

	return nil
}
