// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// What is set and read of a machine outside of provisioning: boot mode, secure boot, RAID
// target, firmware, BIOS.

func (c *call) setBootMode() (answer, error) {
	return c.setState(func(n *node, target any) error {
		mode, _ := target.(string)
		if mode != "uefi" && mode != "bios" {
			return invalid("Invalid boot mode %v requested for node %s. Allowed boot modes are: bios, uefi", target, n.UUID)
		}

		n.BootMode = mode

		return nil
	})
}

func (c *call) setSecureBoot() (answer, error) {
	return c.setState(func(n *node, target any) error {
		on, err := toBool("target", target)
		if err != nil || on == nil {
			return invalid("Invalid secure boot state %v requested for node %s", target, n.UUID)
		}

		n.SecureBoot = on

		return c.change(n, func(m *machine.Machine) error {
			m.SecureBoot = *on

			return nil
		})
	})
}

func (c *call) setState(f func(*node, any) error) (answer, error) {
	var body struct{ Target any }
	if err := json.Unmarshal(c.body, &body); err != nil {
		return answer{}, invalid("%s", err)
	}

	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	if c.minor < 76 {
		return answer{}, refuse(http.StatusNotFound, "Not Found")
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	n.LastError = ""

	err = f(n, body.Target)

	var silent *broken
	if asBroken(err, &silent) { // asynchronous: a failure shows in last_error only
		n.LastError, err = silent.text, nil
	}

	if err != nil {
		return answer{}, err
	}

	n.UpdatedAt = c.now

	return answer{status: http.StatusAccepted, location: "nodes/" + c.r.PathValue("node") + "/states"}, c.save(n)
}

func (c *call) setRAID() (answer, error) {
	body, err := c.decode("raid")
	if err != nil {
		return answer{}, err
	}

	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	if n.Interfaces["raid"] == "no-raid" {
		return answer{}, refuse(http.StatusNotFound, "%s", unsupported(n.Driver, "raid"))
	}

	if disks, ok := body["logical_disks"]; ok {
		if list, isList := disks.([]any); !isList || len(list) == 0 {
			return answer{}, invalid("RAID config validation error: %v is too short", disks)
		}
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	n.TargetRAIDConfig, n.UpdatedAt = body, c.now

	return answer{status: http.StatusNoContent}, c.save(n)
}

// firmware is what Ironic keeps of a component: in driver_internal_info here.
func (c *call) readFirmware(n *node, m machine.Machine, at time.Time) error {
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
			known[component] = map[string]any{"initial": version, "current": version, "created_at": stamp(at)}
		case old["current"] != version:
			old["current"], old["flashed"], old["updated_at"] = version, version, stamp(at)
		}
	}

	n.DriverInternalInfo["lab_firmware"] = known

	return nil
}

func (c *call) listFirmware() (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	if c.minor < 86 {
		return answer{}, refuse(http.StatusNotFound, "Not Found")
	}

	list := []any{}
	known, _ := n.DriverInternalInfo["lab_firmware"].(map[string]any)

	for _, component := range slices.Sorted(maps.Keys(known)) {
		f, _ := known[component].(map[string]any)
		list = append(list, map[string]any{
			"component": component, "initial_version": f["initial"], "current_version": f["current"], "last_version_flashed": f["flashed"],
			"created_at": f["created_at"], "updated_at": f["updated_at"],
		})
	}

	return answer{status: http.StatusOK, body: map[string]any{"firmware": list}}, nil
}

func (c *call) listBIOS() (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	list := []any{}
	detail := strings.EqualFold(c.r.URL.Query().Get("detail"), "true")

	m, err := c.usable(n)
	if err != nil {
		return answer{}, err
	}

	if m != nil && n.Interfaces["bios"] != "no-bios" {
		for _, name := range slices.Sorted(maps.Keys(m.BIOS)) {
			list = append(list, c.settingDocument(n, name, m.BIOS[name], detail))
		}
	}

	return answer{status: http.StatusOK, body: map[string]any{"bios": list}}, nil
}

func (c *call) settingDocument(n *node, name string, v any, detail bool) map[string]any {
	kind, allowed := "Enumeration", []string{"Enabled", "Disabled"}

	switch v.(type) {
	case float64, int:
		kind, allowed = "Integer", nil
	case bool:
		kind, allowed = "Boolean", nil
	}

	doc := map[string]any{
		"name": name, "value": fmt.Sprint(v), "created_at": stamp(n.CreatedAt), "updated_at": nil,
		"links": links(c.base(), "nodes/"+c.r.PathValue("node")+"/bios/"+name),
	}

	if detail && c.minor >= 74 {
		maps.Copy(doc, map[string]any{
			"attribute_type": kind, "allowable_values": nonNil(allowed), "lower_bound": nil, "max_length": nil, "min_length": nil,
			"read_only": false, "reset_required": true, "unique": nil, "upper_bound": nil,
		})
	}

	return doc
}
