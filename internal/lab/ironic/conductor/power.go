// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// Resets are what the power targets are at the BMC.
var Resets = map[string]string{
	state.PowerOn: "On", state.PowerOff: "ForceOff", state.Rebooting: "ForceRestart",
	state.SoftPowerOff: "GracefulShutdown", state.SoftRebooting: "GracefulRestart",
}

// ChangePower begins a power change. It fails at once where the BMC cannot be used, as real
// Ironic does in the background: the request is answered with 202 all the same.
func (c *Conductor) ChangePower(n *record.Node, target string) error {
	n.LastError = ""
	n.TargetPowerState = state.PowerOn

	if target == state.PowerOff || target == state.SoftPowerOff {
		n.TargetPowerState = state.PowerOff
	}

	now, err := c.SyncPower(n)
	if err != nil {
		return err
	}

	var silent *Broken
	if _, err := c.Machine(n); err != nil && !AsBroken(err, &silent) {
		return err
	}

	if silent != nil {
		return c.powerFailed(n, "Failed to change power state to '"+n.TargetPowerState+"': "+silent.Text)
	}

	if now == n.TargetPowerState && slices.Contains([]string{state.PowerOn, state.PowerOff, state.SoftPowerOff}, target) {
		n.TargetPowerState = "" // nothing to do, but the credentials were tried

		return c.SaveNode(n)
	}

	n.Power = &record.PowerChange{Target: target, Until: c.Now.Add(c.Pace)}

	return c.SaveNode(n)
}

func (c *Conductor) powerFailed(n *record.Node, why string) error {
	n.Power, n.TargetPowerState, n.LastError, n.UpdatedAt = nil, "", why, c.Now
	if err := c.Note(n, "UNKNOWN", why, c.Now); err != nil {
		return err
	}

	return c.SaveNode(n)
}

// finishPower is the end of a power change.
func (c *Conductor) finishPower(n *record.Node, at time.Time) error {
	target, goal := n.Power.Target, n.TargetPowerState

	err := c.Change(n, func(m *machine.Machine) error { return press(n, m, Resets[target], at) })

	var why *Broken
	if AsBroken(err, &why) {
		return c.powerFailed(n, "Failed to change power state to '"+goal+"' by '"+target+"': "+why.Text)
	}

	if err != nil {
		return err
	}

	n.Power, n.TargetPowerState, n.PowerState, n.UpdatedAt = nil, "", goal, at
	n.DriverInternalInfo["last_power_state_change"] = at.Format("2006-01-02T15:04:05.000000")

	return nil
}
