// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"net/http"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
)

func showStates(c *api.Call) (api.Answer, error) {
	n, err := c.Target(0)
	if err != nil {
		return api.Answer{}, err
	}

	doc, err := document(c, n, []string{
		"console_enabled", "last_error", "power_state", "provision_state", "target_power_state", "target_provision_state",
		"provision_updated_at", "raid_config", "target_raid_config", "boot_mode", "secure_boot",
	})
	delete(doc, "links")

	return api.OK(doc), err
}

func setMaintenance(c *api.Call) (api.Answer, error) {
	var body struct{ Reason string }
	if len(c.Body) > 0 {
		if err := c.Read(&body); err != nil {
			return api.Answer{}, err
		}
	}

	return maintain(c, true, body.Reason)
}

func unsetMaintenance(c *api.Call) (api.Answer, error) { return maintain(c, false, "") }

func maintain(c *api.Call, on bool, reason string) (api.Answer, error) {
	n, err := c.Locked(0)
	if err != nil {
		return api.Answer{}, err
	}

	n.Maintenance, n.MaintenanceReason, n.UpdatedAt = on, reason, c.Now
	if !on {
		n.Fault = ""
	}

	return api.Answer{Status: http.StatusAccepted}, c.SaveNode(n)
}
