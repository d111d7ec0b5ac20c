// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"net/http"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/conductor"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
)

func power(c *api.Call) (api.Answer, error) {
	var body struct {
		Target  string
		Timeout *int
	}

	if err := c.Read(&body); err != nil {
		return api.Answer{}, err
	}

	n, err := c.Target(0)
	if err != nil {
		return api.Answer{}, err
	}

	soft := body.Target == state.SoftPowerOff || body.Target == state.SoftRebooting

	switch {
	case body.Target == "":
		return api.Answer{}, fault.Invalid("Missing mandatory parameter: target")
	case (soft || body.Timeout != nil) && c.Minor < 27:
		return api.Answer{}, fault.NotAcceptable()
	case body.Timeout != nil && *body.Timeout < 1:
		return api.Answer{}, fault.Invalid("timeout has to be positive integer")
	case conductor.Resets[body.Target] == "":
		power, err := c.SyncPower(n)
		if err != nil {
			return api.Answer{}, err
		}

		return api.Answer{}, fault.BadState(body.Target, c.R.PathValue("node"), power)
	case n.ProvisionState == state.Cleaning, n.ProvisionState == state.CleanWait:
		return api.Answer{}, fault.BadState(body.Target, c.R.PathValue("node"), n.ProvisionState)
	case n.DisablePowerOff && (body.Target == state.PowerOff || body.Target == state.SoftPowerOff):
		return api.Answer{}, fault.Conflict("Failed to set node power state to %s.", body.Target)
	}

	if err := c.Lock(n); err != nil {
		return api.Answer{}, err
	}

	if why := conductor.PowerProblem(n); why != "" {
		return api.Answer{}, fault.Invalid("%s", why)
	}

	return api.Answer{Status: http.StatusAccepted, Location: statesPath(c)}, c.ChangePower(n, body.Target)
}
