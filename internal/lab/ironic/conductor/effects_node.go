// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

func (c *Conductor) verify(n *record.Node, at time.Time) error {
	m, err := c.Machine(n)
	if err != nil {
		var why *Broken
		if !AsBroken(err, &why) {
			return err
		}

		n.TargetProvisionState = ""

		return broke("Failed to get power state for node %s. Error: %s", n.UUID, why.Text)
	}

	if m == nil {
		return nil
	}

	n.PowerState = powerWord(m)

	if n.Driver != "ipmi" {
		n.BootMode = "uefi"
		secure := m.SecureBoot
		n.SecureBoot = &secure
		n.Properties["vendor"] = "Simulated"
	}

	return c.readFirmware(n, *m, at)
}

func (c *Conductor) adopt(n *record.Node, _ time.Time) error {
	if n.Simulated() {
		return nil
	}

	// With local boot nothing of the image is validated: a node without one is adopted.
	_, err := c.Machine(n)

	return err
}

func (c *Conductor) undeploy(n *record.Node, _ time.Time) error {
	n.InstanceInfo = map[string]any{}
	n.InstanceUUID, n.InstanceName = "", ""

	if n.AllocationUUID != "" {
		if err := c.DropAllocation(n.AllocationUUID); err != nil {
			return err
		}

		n.AllocationUUID = ""
	}

	if c.cleans(n) {
		return nil // the ramdisk for cleaning runs
	}

	return c.Change(n, func(m *machine.Machine) error { return press(n, m, "ForceOff", c.Now) })
}

func (c *Conductor) erase(n *record.Node, at time.Time) error {
	return inWords(n, c.Change(n, func(m *machine.Machine) error {
		if why, ok := m.Faults.FailStep("clean.execute_clean_step:erase_devices_metadata", "erase_devices_metadata", "clean.execute_clean_step"); ok {
			return broke("Clean step erase_devices_metadata failed on node %s: %s", n.UUID, why)
		}

		m.Image = ""
		eject(m)

		return press(n, m, "ForceOff", at)
	}))
}
