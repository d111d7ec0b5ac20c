// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"strings"
)

// Serial is the serial number of the machine.
func (m Machine) Serial() string { return fmt.Sprintf("SIM-%05d", m.Index) }

// Inventory is what an agent on the machine finds, in the shape of the "inventory" that the
// deployment ramdisk posts and Ironic keeps.
func (m Machine) Inventory() map[string]any {
	return map[string]any{
		"interfaces": m.interfaces(),
		"cpu": map[string]any{
			"model_name": "SIM CPU @ 2.40GHz", "frequency": "2400.0000", "count": 32, "architecture": "x86_64",
			"flags": []string{"vmx", "aes", "ssse3"}, "socket_count": 2,
		},
		"disks": []any{
			disk("/dev/sda", 480103981056, false, fmt.Sprintf("SIM%04dA", m.Index)),
			disk("/dev/sdb", 4000787030016, true, fmt.Sprintf("SIM%04dB", m.Index)),
		},
		"memory":        map[string]any{"total": int64(137438953472), "physical_mb": 131072},
		"bmc_address":   "127.0.0.1",
		"bmc_v6address": "::/0",
		"bmc_mac":       mac(0x5c, m.Index),
		"system_vendor": map[string]any{
			"product_name": "SIM 1000", "serial_number": m.Serial(), "manufacturer": "Simulated",
			"firmware": map[string]any{"vendor": "SIM", "version": m.Firmware["BIOS"], "build_date": "01/02/2024"},
		},
		"boot":        map[string]any{"current_boot_mode": strings.ToLower(m.Boot.Mode), "pxe_interface": m.MACs[0]},
		"hostname":    m.Name,
		"tpm_version": "2.0",
		"pci_devices": []any{},
		"usb_devices": []any{},
	}
}

// Report is the whole body of an inspection call-back: the inventory and what goes with it.
func (m Machine) Report() map[string]any {
	inventory := m.Inventory()
	report := map[string]any{
		"inventory":      inventory,
		"boot_interface": "01-" + strings.ReplaceAll(m.MACs[0], ":", "-"),
		"configuration": map[string]any{
			"collectors": []string{"default"},
			"managers":   []any{map[string]string{"name": "generic_hardware_manager", "version": "1.2"}},
		},
	}

	if disks, ok := inventory["disks"].([]any); ok {
		report["root_disk"] = disks[0]
	}

	if m.Faults.InspectError != "" {
		report["error"] = m.Faults.InspectError
	}

	return report
}

func (m Machine) interfaces() []any {
	all := make([]any, 0, len(m.MACs))

	for i, mac := range m.MACs {
		all = append(all, map[string]any{
			"name": fmt.Sprintf("eth%d", i), "mac_address": mac, "has_carrier": i == 0,
			"ipv4_address": fmt.Sprintf("192.0.2.%d", 10+m.Index%200), "ipv6_address": nil,
			"lldp": nil, "vendor": "0x8086", "product": "0x1572", "client_id": nil, "biosdevname": nil,
			"speed_mbps": 25000, "pci_address": fmt.Sprintf("0000:3b:00.%d", i), "driver": "i40e",
		})
	}

	return all
}

func disk(name string, size int64, rotational bool, serial string) map[string]any {
	wwn := "0x5000c500" + serial

	return map[string]any{
		"name": name, "model": "SIM DISK", "size": size, "rotational": rotational, "serial": serial, "vendor": "SIM",
		"wwn": wwn, "wwn_with_extension": wwn, "wwn_vendor_extension": nil, "hctl": "0:0:0:0",
		"by_path": "/dev/disk/by-path/pci-0000:00:1f.2-ata-1", "by_uuid": nil,
		"logical_sectors": 512, "physical_sectors": 4096,
	}
}
