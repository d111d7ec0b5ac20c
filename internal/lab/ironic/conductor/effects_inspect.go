// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

func (c *Conductor) startInspection(n *record.Node, at time.Time) error {
	n.InspectionStartedAt, n.InspectionFinishedAt = at, time.Time{}

	m, err := c.Machine(n)
	if err != nil {
		return inWords(n, err)
	}

	if m == nil || n.Interfaces["inspect"] != "agent" {
		return nil
	}

	// Real Ironic makes the ports that the BMC knows before the ramdisk boots.
	return c.bootRamdisk(n, at)
}

func (c *Conductor) inspectionRamdisk(n *record.Node, at time.Time) error {
	if err := c.ramdiskUp(n, at); err != nil {
		return err
	}

	n.DriverInternalInfo["agent_secret_token"] = "lab"
	n.DriverInternalInfo["agent_secret_token_pregenerated"] = true

	return nil
}

// inspected is the end of an inspection by a ramdisk: its inventory, and ports.
func (c *Conductor) inspected(n *record.Node, at time.Time) error {
	m, err := c.Machine(n)
	if err != nil {
		return inWords(n, err)
	}

	if m == nil {
		n.InspectionStartedAt, n.InspectionFinishedAt = time.Time{}, at

		return nil
	}

	if why := m.Faults.InspectError; why != "" {
		n.InspectionStartedAt = time.Time{}

		return broke("Failed to finish inspection: %s", why)
	}

	n.Properties["cpu_arch"] = "x86_64"

	return c.keep(n, m, record.Inventory{Inventory: m.Inventory(), PluginData: pluginData(m)}, func(nic int) bool { return nic == 0 }, at)
}

// inspectedOutside is the end of an inspection through Redfish: much less is known, and all
// ports may boot from the network (seen on 29.0.5).
func (c *Conductor) inspectedOutside(n *record.Node, at time.Time) error {
	m, err := c.Machine(n)
	if err != nil {
		return inWords(n, err)
	}

	n.Properties["cpu_arch"], n.Properties["cpus"], n.Properties["memory_mb"], n.Properties["local_gb"] = "x86_64", 32, 131072, "446"

	return c.keep(n, m, record.Inventory{Inventory: outside(m), PluginData: map[string]any{}}, func(int) bool { return true }, at)
}

// outside is a machine's inventory as a BMC tells it.
func outside(m *machine.Machine) map[string]any {
	full := m.Inventory()
	vendor, _ := full["system_vendor"].(map[string]any)

	var disks, nics []any

	all, _ := full["disks"].([]any)
	for i, v := range all {
		if d, ok := v.(map[string]any); ok {
			disks = append(disks, map[string]any{"name": fmt.Sprintf("Drive D%d", i+1), "size": d["size"]})
		}
	}

	for _, mac := range m.MACs {
		nics = append(nics, map[string]any{"mac_address": mac})
	}

	return map[string]any{
		"memory": map[string]any{"physical_mb": 131072},
		"cpu":    map[string]any{"count": 32, "model_name": "SIM CPU", "frequency": 2400, "architecture": "x86_64"},
		"disks":  disks, "interfaces": nics, "boot": full["boot"],
		"system_vendor": map[string]any{
			"product_name": vendor["product_name"], "serial_number": vendor["serial_number"], "manufacturer": vendor["manufacturer"],
		},
	}
}

// keep stores what an inspection found, and makes the ports.
func (c *Conductor) keep(n *record.Node, m *machine.Machine, found record.Inventory, pxe func(nic int) bool, at time.Time) error {
	n.InspectionStartedAt, n.InspectionFinishedAt = time.Time{}, at

	if c.Newest >= 84 { // before that, an inspection through Redfish kept nothing of it
		if err := c.KeepInventory(n, found); err != nil {
			return err
		}
	}

	for i, mac := range m.MACs {
		if err := c.inspectedPort(n, mac, pxe(i), at); err != nil {
			return err
		}
	}

	return nil
}

func pluginData(m *machine.Machine) map[string]any {
	all := map[string]any{}

	interfaces, _ := m.Inventory()["interfaces"].([]any)
	for i, v := range interfaces {
		nic, ok := v.(map[string]any)
		if !ok {
			continue
		}

		copied := map[string]any{"pxe_enabled": i == 0}
		maps.Copy(copied, nic)
		all[record.Text(nic, "name")] = copied
	}

	return map[string]any{
		"boot_interface": "01-" + strings.ReplaceAll(m.MACs[0], ":", "-"), "all_interfaces": all, "valid_interfaces": all,
		"macs": []any{m.MACs[0]},
		// As with the collector for extra hardware: without it a ramdisk tells no system UUID.
		"extra": map[string]any{"system": map[string]any{"product": map[string]any{"uuid": m.ID}}},
	}
}

// inspectedPort makes the port of an inspected NIC, or brings it up to date.
func (c *Conductor) inspectedPort(n *record.Node, mac string, pxe bool, at time.Time) error {
	id, err := c.PortAt(mac)
	if err != nil {
		return err
	}

	if id == "" {
		return c.AddPort(n, &record.Port{UUID: record.NewUUID(), Address: mac, PXEEnabled: pxe, CreatedAt: at})
	}

	p, err := c.Port(id)
	if err != nil {
		return err
	}

	if p.NodeUUID == n.UUID && p.PXEEnabled != pxe {
		p.PXEEnabled, p.UpdatedAt = pxe, at

		return c.SavePort(p)
	}

	return nil // a port of another node: Ironic logs it and goes on
}
