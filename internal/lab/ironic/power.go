// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

const (
	rebooting     = "rebooting"
	softRebooting = "soft rebooting"
	softPowerOff  = "soft power off"
)

// resets is what a power target is at the BMC.
var resets = map[string]string{
	powerOn: "On", powerOff: "ForceOff", rebooting: "ForceRestart", softPowerOff: "GracefulShutdown", softRebooting: "GracefulRestart",
}

func (c *call) power() (answer, error) {
	var body struct {
		Target  string
		Timeout *int
	}

	if err := json.Unmarshal(c.body, &body); err != nil {
		return answer{}, invalid("%s", err)
	}

	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	soft := body.Target == softPowerOff || body.Target == softRebooting

	switch {
	case body.Target == "":
		return answer{}, invalid("Missing mandatory parameter: target")
	case (soft || body.Timeout != nil) && c.minor < 27:
		return answer{}, notAcceptable()
	case body.Timeout != nil && *body.Timeout < 1:
		return answer{}, invalid("timeout has to be positive integer")
	case resets[body.Target] == "":
		power, err := c.syncPower(n)
		if err != nil {
			return answer{}, err
		}

		return answer{}, badState(body.Target, c.r.PathValue("node"), power)
	case n.ProvisionState == cleaning, n.ProvisionState == cleanWait:
		return answer{}, badState(body.Target, c.r.PathValue("node"), n.ProvisionState)
	case n.DisablePowerOff && (body.Target == powerOff || body.Target == softPowerOff):
		return answer{}, conflict("Failed to set node power state to %s.", body.Target)
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	if why := powerProblem(n); why != "" {
		return answer{}, invalid("%s", why)
	}

	return answer{status: http.StatusAccepted, location: "nodes/" + c.r.PathValue("node") + "/states"}, c.changePower(n, body.Target)
}

// changePower begins a power change. It fails at once where the BMC cannot be used, as real
// Ironic does in the background: the request is answered with 202 all the same.
func (c *call) changePower(n *node, target string) error {
	n.LastError = ""
	n.TargetPowerState = powerOn

	if target == powerOff || target == softPowerOff {
		n.TargetPowerState = powerOff
	}

	now, err := c.syncPower(n)
	if err != nil {
		return err
	}

	var silent *broken
	if _, err := c.machine(n); err != nil && !asBroken(err, &silent) {
		return err
	}

	if silent != nil {
		return c.powerFailed(n, "Failed to change power state to '"+n.TargetPowerState+"': "+silent.text)
	}

	if now == n.TargetPowerState && slices.Contains([]string{powerOn, powerOff, softPowerOff}, target) {
		n.TargetPowerState = "" // nothing to do, but the credentials were tried

		return c.save(n)
	}

	n.Power = &powerChange{Target: target, Until: c.now.Add(c.Pace)}

	return c.save(n)
}

func (c *call) powerFailed(n *node, why string) error {
	n.Power, n.TargetPowerState, n.LastError, n.UpdatedAt = nil, "", why, c.now
	if err := c.record(n, "UNKNOWN", why, c.now); err != nil {
		return err
	}

	return c.save(n)
}

// finishPower is the end of a power change.
func (c *call) finishPower(n *node, at time.Time) error {
	target, state := n.Power.Target, n.TargetPowerState

	err := c.change(n, func(m *machine.Machine) error { return press(n, m, resets[target], at) })

	var why *broken
	if asBroken(err, &why) {
		return c.powerFailed(n, "Failed to change power state to '"+state+"' by '"+target+"': "+why.text)
	}

	if err != nil {
		return err
	}

	n.Power, n.TargetPowerState, n.PowerState, n.UpdatedAt = nil, "", state, at
	n.DriverInternalInfo["last_power_state_change"] = at.Format("2006-01-02T15:04:05.000000")

	return nil
}
