// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
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

// inspected stores the inventory and makes the ports.
func (c *call) inspected(n *node, at time.Time) error {
	m, err := c.machine(n)
	if err != nil {
		return c.named(n, err)
	}

	n.InspectionStartedAt = time.Time{}
	if m == nil {
		n.InspectionFinishedAt = at

		return nil
	}

	if why := m.Faults.InspectError; why != "" {
		return broke("Failed to finish inspection: %s", why)
	}

	data := inventory{Inventory: m.Inventory(), PluginData: pluginData(m)}
	if err := c.tx.Put(inventoryBucket, n.UUID, data); err != nil {
		return err
	}

	for i, mac := range m.MACs {
		if err := c.inspectedPort(n, mac, i == 0, at); err != nil {
			return err
		}
	}

	n.Properties["cpu_arch"] = "x86_64"
	n.InspectionFinishedAt = at

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
