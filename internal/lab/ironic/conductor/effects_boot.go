// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

func (c *Conductor) bootRamdisk(n *record.Node, at time.Time) error {
	err := c.Change(n, func(m *machine.Machine) error {
		if bootTarget(n) == "Cd" && m.Faults.FailMedia {
			return broke("Failed to insert virtual media: HTTP POST returned code 400")
		}

		return start(n, m, bootTarget(n), c.ramdiskURL(n), machine.Agent, at)
	})

	return inWords(n, err)
}

// ramdiskURL is what shows in the BMC's virtual media slot while the ramdisk runs.
func (c *Conductor) ramdiskURL(n *record.Node) string {
	return "http://" + c.Host + "/redfish/boot-" + n.UUID + ".iso"
}

// ramdiskUp is the wait for a ramdisk: for ever, up to the time-out, if the agent is silent.
func (c *Conductor) ramdiskUp(n *record.Node, at time.Time) error {
	n.Walk.Begun = true

	m, err := c.Machine(n)
	if err != nil {
		return inWords(n, err)
	}

	if m != nil && m.Faults.NoAgent {
		w := n.Walk
		w.Until = at.Add(c.CallbackTimeout)
		w.Stages = append(w.Stages[:w.At+1:w.At+1], record.Stage{State: n.ProvisionState, Locked: true, Do: "callback timeout"})
	}

	return nil
}

func (c *Conductor) bootDisk(n *record.Node, at time.Time) error {
	if n.Simulated() {
		return nil
	}

	return c.Change(n, func(m *machine.Machine) error {
		if err := start(n, m, "Hdd", "", machine.Disk, at); err != nil {
			return err
		}

		m.Boot.Enabled, m.Boot.Target = "Continuous", "Hdd"

		return nil
	})
}
