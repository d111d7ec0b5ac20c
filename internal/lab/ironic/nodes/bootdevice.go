// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"maps"
	"net/http"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// bootDevices are Ironic's boot devices and what they are at the BMC.
var bootDevices = map[string]string{"pxe": "Pxe", "disk": "Hdd", "cdrom": "Cd", "bios": "BiosSetup", "uefihttp": "UefiHttp"}

func showBootDevice(c *api.Call) (api.Answer, error) {
	n, err := c.Target(0)
	if err != nil {
		return api.Answer{}, err
	}

	device, persistent := n.BootDevice, n.BootPersistent
	if device == "" && n.Simulated() {
		device = "pxe"
	}

	m, err := usable(c, n)
	if err != nil {
		return api.Answer{}, err
	}

	if m != nil {
		device, persistent = "", m.Boot.Enabled == "Continuous"

		for name, target := range bootDevices {
			if target == m.Boot.Target {
				device = name
			}
		}
	}

	return api.OK(map[string]any{"boot_device": record.OrNull(device), "persistent": persistent}), nil
}

func supportedBootDevices(c *api.Call) (api.Answer, error) {
	n, err := c.Target(0)
	if err != nil {
		return api.Answer{}, err
	}

	devices := slices.Sorted(maps.Keys(bootDevices))
	if n.Simulated() {
		devices = []string{"pxe"}
	}

	return api.OK(map[string]any{"supported_boot_devices": devices}), nil
}

func setBootDevice(c *api.Call) (api.Answer, error) {
	var body struct {
		BootDevice string `json:"boot_device"`
		Persistent bool   `json:"persistent"`
	}

	if err := c.Read(&body); err != nil {
		return api.Answer{}, err
	}

	n, err := c.Locked(0)
	if err != nil {
		return api.Answer{}, err
	}

	if bootDevices[body.BootDevice] == "" || n.Simulated() && body.BootDevice != "pxe" {
		return api.Answer{}, fault.Invalid("Invalid boot device %s specified.", body.BootDevice)
	}

	n.BootDevice, n.BootPersistent = body.BootDevice, body.Persistent

	m, err := usable(c, n)
	if err != nil {
		return api.Answer{}, err
	}

	if m != nil {
		m.Boot.Target, m.Boot.Enabled = bootDevices[body.BootDevice], "Once"
		if body.Persistent {
			m.Boot.Enabled = "Continuous"
		}

		if err := machine.Save(c.Tx, *m); err != nil {
			return api.Answer{}, err
		}
	}

	return api.Answer{Status: http.StatusNoContent}, c.SaveNode(n)
}
