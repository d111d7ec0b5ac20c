// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// syncsToLose is how many power syncs must fail in a row before the node gets its fault.
const syncsToLose = 3

// SyncPower is the node's power state as the conductor's power sync would have left it. A
// silent BMC becomes a fault, and the fault goes away when the BMC is back.
func (c *Conductor) SyncPower(n *record.Node) (string, error) {
	if n.UUID == "" || n.ProvisionState == state.Enroll || n.ProvisionState == state.Verifying || c.Down {
		return n.PowerState, nil
	}

	if n.Simulated() && !n.BMCDead && n.Fault != powerFault {
		return n.PowerState, nil
	}

	m, err := c.Machine(n)

	var silent *Broken

	switch {
	case err != nil && !AsBroken(err, &silent):
		return "", err
	case silent != nil:
		return c.losePower(n, silent.Text)
	}

	if !n.Lost.IsZero() || n.Fault == powerFault {
		return c.regainPower(n, m)
	}

	if m == nil {
		return n.PowerState, nil
	}

	return powerWord(m), nil
}

const powerFault = "power failure"

func (c *Conductor) losePower(n *record.Node, why string) (string, error) {
	if n.Maintenance { // a node in maintenance is not synced
		return n.PowerState, nil
	}

	if !c.Writes {
		return "", record.ErrReadOnly
	}

	if n.Lost.IsZero() {
		n.Lost = c.Now
	}

	if c.Now.Sub(n.Lost) < syncsToLose*c.PowerSync && !n.BMCDead {
		return n.PowerState, c.SaveNode(n)
	}

	n.LastError = fmt.Sprintf("During sync_power_state, max retries exceeded for node %s, node state None does not match expected state '%s'. "+
		"Updating DB state to 'None' Switching node to maintenance mode. Error: %s", n.UUID, n.PowerState, why)
	n.PowerState, n.Fault, n.Maintenance, n.MaintenanceReason, n.UpdatedAt = "", powerFault, true, n.LastError, c.Now

	if err := c.Note(n, "monitoring", n.LastError, c.Now); err != nil {
		return "", err
	}

	return "", c.SaveNode(n)
}

func (c *Conductor) regainPower(n *record.Node, m *machine.Machine) (string, error) {
	if !c.Writes {
		return "", record.ErrReadOnly
	}

	n.Lost = time.Time{}
	if n.Fault == powerFault {
		n.Fault, n.Maintenance, n.MaintenanceReason, n.UpdatedAt = "", false, "", c.Now
	}

	n.PowerState = state.PowerOff
	if m != nil {
		n.PowerState = powerWord(m)
	}

	return n.PowerState, c.SaveNode(n)
}

// Health is what Redfish says of a machine from API 1.109 on; other drivers say nothing.
func (c *Conductor) Health(n *record.Node) any {
	if n.Interfaces["management"] == "redfish" || n.Interfaces["management"] == "idrac-redfish" {
		if m, err := c.Machine(n); err == nil && m != nil {
			return "OK"
		}
	}

	return nil
}
