// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// readFirmware notes the versions of a machine's components: in driver_internal_info here.
func (c *Conductor) readFirmware(n *record.Node, m machine.Machine, at time.Time) error {
	if n.Interfaces["firmware"] != "redfish" {
		return nil
	}

	known, _ := n.DriverInternalInfo["lab_firmware"].(map[string]any)
	if known == nil {
		known = map[string]any{}
	}

	for name, version := range m.Firmware {
		component := strings.ToLower(name)
		if strings.HasPrefix(component, "nic") {
			component = "nic:" + name
		}

		old, ok := known[component].(map[string]any)

		switch {
		case !ok:
			known[component] = map[string]any{"initial": version, "current": version, "created_at": record.Stamp(at)}
		case old["current"] != version:
			old["current"], old["flashed"], old["updated_at"] = version, version, record.Stamp(at)
		}
	}

	n.DriverInternalInfo["lab_firmware"] = known

	return nil
}
