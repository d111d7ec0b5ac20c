// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"cmp"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Decode reads the document of GET /v1/nodes/…/inventory.
//
// Warnings name the fields that could not be read; they never repeat values.
func Decode(raw []byte) (Hardware, []string) {
	var log []string

	root := parse(raw, &log)
	inventory, plugins := root.object("inventory"), root.object("plugin_data")

	h := Hardware{inventoryRead: len(inventory.fields) > 0}
	vendor := inventory.object("system_vendor")
	bios := vendor.object("firmware")
	boot := inventory.object("boot")

	h.SystemVendor = SystemVendor{vendor.text("manufacturer"), vendor.text("product_name"), vendor.text("serial_number")}
	h.SystemUUID = systemUUID(inventory, vendor, plugins)
	h.Firmware.BIOS = BIOS{bios.text("build_date"), bios.text("vendor"), bios.text("version")}
	h.RAMMebibytes = memory(inventory.object("memory"))
	h.CPU = processors(inventory.object("cpu"))
	h.Hostname = inventory.text("hostname")
	h.BMCAddress = address(inventory.text("bmc_address"))
	h.BMCv6Address = address(inventory.text("bmc_v6address"))
	h.BootMode = boot.text("current_boot_mode")
	h.PXEInterface = pxeMAC(boot.text("pxe_interface"))

	for _, disk := range inventory.objects("disks") {
		h.Storage = append(h.Storage, storage(disk))
	}

	h.NICs = nics(inventory, plugins, h.PXEInterface)

	// The ramdisk lists devices in the order in which the kernel found them this time.
	slices.SortStableFunc(h.Storage, func(a, b Storage) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(h.NICs, func(a, b NIC) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.MAC, b.MAC))
	})

	return h, log
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// systemUUID looks for the UUID of SMBIOS in the places where ramdisks put it. The usual
// ramdisk reports it only with its collector for extra hardware.
func systemUUID(inventory, vendor, plugins document) string {
	extra := plugins.object("extra").object("system").object("product")

	for _, s := range []string{
		vendor.text("system_uuid"), vendor.text("uuid"), inventory.text("system_uuid"), extra.text("uuid"),
	} {
		s = strings.ToLower(s)
		digits := strings.ReplaceAll(s, "-", "")

		// Boards without one report only zeros or only ones.
		if uuid.MatchString(s) && strings.Trim(digits, "0") != "" && strings.Trim(digits, "f") != "" {
			return s
		}
	}

	return ""
}

func memory(d document) int64 {
	if d.has("physical_mb") {
		if n := d.number("physical_mb"); n > 0 {
			return n
		}
	}

	return d.number("total") >> 20
}

func processors(d document) CPU {
	flags := d.strings("flags")
	slices.Sort(flags)

	return CPU{
		Arch:           d.text("architecture"),
		Model:          d.text("model_name"),
		ClockMegahertz: d.number("frequency"),
		Flags:          flags,
		Count:          d.number("count"),
	}
}

func storage(d document) Storage {
	name, path := d.text("name"), d.text("by_path")

	s := Storage{
		Name:               cmp.Or(path, name),
		Rotational:         d.bool("rotational"),
		Type:               SSD,
		SizeBytes:          d.number("size"),
		Vendor:             d.text("vendor"),
		Model:              d.text("model"),
		SerialNumber:       d.text("serial"),
		WWN:                d.text("wwn"),
		WWNVendorExtension: d.text("wwn_vendor_extension"),
		WWNWithExtension:   d.text("wwn_with_extension"),
		HCTL:               d.text("hctl"),
	}

	for _, n := range []string{name, path} {
		if n != "" {
			s.AlternateNames = append(s.AlternateNames, n)
		}
	}

	switch {
	case s.Rotational:
		s.Type = HDD
	case strings.HasPrefix(name, "/dev/nvme"):
		s.Type = NVME
	}

	return s
}

// nics reads the interfaces. One interface may come twice, once for each family of
// addresses; it is one NIC with both.
func nics(inventory, plugins document, pxe string) []NIC {
	var (
		list  []NIC
		index = map[[2]string]int{}
		all   = plugins.object("all_interfaces")
		valid = plugins.object("valid_interfaces")
		lldp  = plugins.object("parsed_lldp")
	)

	for _, d := range inventory.objects("interfaces") {
		nic := nicOf(d)

		if i, twice := index[[2]string{nic.Name, nic.MAC}]; twice {
			list[i].IPs = merge(list[i].IPs, nic.IPs)

			continue
		}

		nic.PXE = all.object(nic.Name).bool("pxe_enabled") || valid.object(nic.Name).bool("pxe_enabled") ||
			d.bool("pxe_enabled")
		nic.addLLDP(lldp.object(nic.Name))

		index[[2]string{nic.Name, nic.MAC}] = len(list)
		list = append(list, nic)
	}

	// Without the hook that marks interfaces, the one that the ramdisk was booted from.
	if pxe != "" && !slices.ContainsFunc(list, func(n NIC) bool { return n.PXE }) {
		for i := range list {
			list[i].PXE = list[i].MAC == pxe
		}
	}

	return list
}

func nicOf(d document) NIC {
	return NIC{
		Name:       d.text("name"),
		Model:      strings.TrimSpace(d.text("vendor") + " " + d.text("product")),
		MAC:        mac(d),
		IPs:        merge(nil, []string{address(d.text("ipv4_address")), address(d.text("ipv6_address"))}),
		SpeedGbps:  d.number("speed_mbps") / 1000,
		PCIAddress: d.text("pci_address"),
	}
}

// maxVLAN is the highest id of a VLAN.
const maxVLAN = 4094

// addLLDP fills in what the switch told of its port.
func (n *NIC) addLLDP(d document) {
	n.LLDP = LLDP{d.text("switch_chassis_id"), d.text("switch_port_id"), d.text("switch_system_name")}

	if id := d.number("switch_port_untagged_vlan_id"); id <= maxVLAN {
		n.VLANID = id
	}

	for _, v := range d.objects("switch_port_vlans") {
		id := v.number("id")
		if id < 1 || id > maxVLAN {
			v.warn("id", "the id of a VLAN")

			continue
		}

		n.VLANs = append(n.VLANs, VLAN{id, v.text("name")})
	}

	slices.SortStableFunc(n.VLANs, func(a, b VLAN) int { return cmp.Compare(a.ID, b.ID) })
}

// mac returns a hardware address in its one spelling.
func mac(d document) string {
	s := d.text("mac_address")
	if s == "" {
		return ""
	}

	parsed, err := net.ParseMAC(s)
	if err != nil {
		d.warn("mac_address", "a hardware address")

		return ""
	}

	return parsed.String()
}

// pxeMAC reads the BOOTIF of PXELINUX: the hardware type, then the address, with dashes.
func pxeMAC(s string) string {
	s = strings.ReplaceAll(s, "-", ":")
	if len(s) == macLength+3 {
		s = s[3:]
	}

	parsed, err := net.ParseMAC(s)
	if err != nil {
		return ""
	}

	return parsed.String()
}

// address returns an IP address in its one spelling, "" for what is none.
func address(s string) string {
	s, _, _ = strings.Cut(s, "/")

	ip, err := netip.ParseAddr(s)
	if err != nil || ip.IsUnspecified() {
		return ""
	}

	return ip.WithZone("").String()
}

// merge appends the addresses that are neither empty nor there already.
func merge(to, more []string) []string {
	for _, s := range more {
		if s != "" && !slices.Contains(to, s) {
			to = append(to, s)
		}
	}

	return to
}
