// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// inventory is what an inspection leaves: bucket "ironic.inventory", key node UUID.
type inventory struct {
	Inventory  map[string]any `json:"inventory"`
	PluginData map[string]any `json:"plugin_data"`
}

func (c *call) startInspection(n *node, at time.Time) error {
	n.InspectionStartedAt, n.InspectionFinishedAt = at, time.Time{}

	m, err := c.machine(n)
	if err != nil {
		return c.named(n, err)
	}

	if m == nil {
		return nil
	}

	if n.Interfaces["inspect"] != "agent" {
		return nil
	}

	// Real Ironic makes the ports that the BMC knows before the ramdisk boots.
	return c.bootRamdisk(n, at)
}

func (c *call) inspectionRamdisk(n *node, at time.Time) error {
	if err := c.ramdiskUp(n, at); err != nil {
		return err
	}

	n.DriverInternalInfo["agent_secret_token"] = "lab"
	n.DriverInternalInfo["agent_secret_token_pregenerated"] = true

	return nil
}

// inspected is the end of an inspection by a ramdisk: its inventory, and ports.
func (c *call) inspected(n *node, at time.Time) error {
	m, err := c.machine(n)
	if err != nil {
		return c.named(n, err)
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

	return c.keep(n, m, inventory{m.Inventory(), pluginData(m)}, func(nic int) bool { return nic == 0 }, at)
}

// inspectedOutside is the end of an inspection through Redfish: much less is known, and all
// ports may boot from the network (seen on 29.0.5).
func (c *call) inspectedOutside(n *node, at time.Time) error {
	m, err := c.machine(n)
	if err != nil {
		return c.named(n, err)
	}

	n.Properties["cpu_arch"], n.Properties["cpus"], n.Properties["memory_mb"], n.Properties["local_gb"] = "x86_64", 32, 131072, "446"

	return c.keep(n, m, inventory{outside(m), map[string]any{}}, func(int) bool { return true }, at)
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
func (c *call) keep(n *node, m *machine.Machine, found inventory, pxe func(nic int) bool, at time.Time) error {
	n.InspectionStartedAt, n.InspectionFinishedAt = time.Time{}, at

	if c.Service.minor >= 84 { // before that, an inspection through Redfish kept nothing of it
		if err := c.tx.Put(inventoryBucket, n.UUID, found); err != nil {
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
		for k, x := range nic {
			copied[k] = x
		}

		all[text(nic, "name")] = copied
	}

	return map[string]any{
		"boot_interface": "01-" + dashed(m.MACs[0]), "all_interfaces": all, "valid_interfaces": all,
		"macs": []any{m.MACs[0]},
	}
}

// inspectedPort makes the port of an inspected NIC, or brings it up to date.
func (c *call) inspectedPort(n *node, mac string, pxe bool, at time.Time) error {
	var id string

	ok, err := c.tx.Get(macsBucket, mac, &id)
	if err != nil {
		return err
	}

	if !ok {
		return c.addPort(n, &port{UUID: newUUID(), Address: mac, PXEEnabled: pxe, CreatedAt: at})
	}

	p, err := c.port(id)
	if err != nil {
		return err
	}

	if p.NodeUUID == n.UUID && p.PXEEnabled != pxe {
		p.PXEEnabled, p.UpdatedAt = pxe, at

		return c.tx.Put(portsBucket, p.UUID, p)
	}

	return nil // a port of another node: Ironic logs it and goes on
}
