// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/conductor"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// What is set and read of a machine outside of provisioning: boot mode, secure boot, RAID
// target, firmware, BIOS.

func setBootMode(c *api.Call) (api.Answer, error) {
	return setState(c, func(n *record.Node, target any) error {
		mode, _ := target.(string)
		if mode != "uefi" && mode != "bios" {
			return fault.Invalid("Invalid boot mode %v requested for node %s. Allowed boot modes are: bios, uefi", target, n.UUID)
		}

		n.BootMode = mode

		return nil
	})
}

func setSecureBoot(c *api.Call) (api.Answer, error) {
	return setState(c, func(n *record.Node, target any) error {
		on, err := record.ToBool("target", target)
		if err != nil || on == nil {
			return fault.Invalid("Invalid secure boot state %v requested for node %s", target, n.UUID)
		}

		n.SecureBoot = on

		return c.Change(n, func(m *machine.Machine) error {
			m.SecureBoot = *on

			return nil
		})
	})
}

func setState(c *api.Call, f func(*record.Node, any) error) (api.Answer, error) {
	var body struct{ Target any }
	if err := c.Read(&body); err != nil {
		return api.Answer{}, err
	}

	n, err := c.Locked(76)
	if err != nil {
		return api.Answer{}, err
	}

	n.LastError = ""

	err = f(n, body.Target)

	var silent *conductor.Broken
	if conductor.AsBroken(err, &silent) { // asynchronous: a failure shows in last_error only
		n.LastError, err = silent.Text, nil
	}

	if err != nil {
		return api.Answer{}, err
	}

	n.UpdatedAt = c.Now

	return api.Answer{Status: http.StatusAccepted, Location: statesPath(c)}, c.SaveNode(n)
}

func setRAID(c *api.Call) (api.Answer, error) {
	body, err := c.Decode("raid")
	if err != nil {
		return api.Answer{}, err
	}

	n, err := c.Target(0)
	if err != nil {
		return api.Answer{}, err
	}

	if n.Interfaces["raid"] == "no-raid" {
		return api.Answer{}, fault.Refuse(http.StatusNotFound, "%s", fault.Unsupported(n.Driver, "raid"))
	}

	if disks, ok := body["logical_disks"]; ok {
		if list, isList := disks.([]any); !isList || len(list) == 0 {
			return api.Answer{}, fault.Invalid("RAID config validation error: %v is too short", disks)
		}
	}

	if err := c.Lock(n); err != nil {
		return api.Answer{}, err
	}

	n.TargetRAIDConfig, n.UpdatedAt = body, c.Now

	return api.Answer{Status: http.StatusNoContent}, c.SaveNode(n)
}

func listFirmware(c *api.Call) (api.Answer, error) {
	n, err := c.Target(86)
	if err != nil {
		return api.Answer{}, err
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

	return api.OK(map[string]any{"firmware": list}), nil
}

func listBIOS(c *api.Call) (api.Answer, error) {
	n, err := c.Target(0)
	if err != nil {
		return api.Answer{}, err
	}

	list := []any{}
	detail := strings.EqualFold(c.R.URL.Query().Get("detail"), "true")

	m, err := usable(c, n)
	if err != nil {
		return api.Answer{}, err
	}

	if m != nil && n.Interfaces["bios"] != "no-bios" {
		for _, name := range slices.Sorted(maps.Keys(m.BIOS)) {
			list = append(list, settingDocument(c, n, name, m.BIOS[name], detail))
		}
	}

	return api.OK(map[string]any{"bios": list}), nil
}

func settingDocument(c *api.Call, n *record.Node, name string, v any, detail bool) map[string]any {
	kind, allowed := "Enumeration", []string{"Enabled", "Disabled"}

	switch v.(type) {
	case float64, int:
		kind, allowed = "Integer", nil
	case bool:
		kind, allowed = "Boolean", nil
	}

	doc := map[string]any{
		"name": name, "value": fmt.Sprint(v), "created_at": record.Stamp(n.CreatedAt), "updated_at": nil,
		"links": api.Links(c.Base(), "nodes/"+c.R.PathValue("node")+"/bios/"+name),
	}

	if detail && c.Minor >= 74 {
		maps.Copy(doc, map[string]any{
			"attribute_type": kind, "allowable_values": api.NonNil(allowed), "lower_bound": nil, "max_length": nil, "min_length": nil,
			"read_only": false, "reset_required": true, "unique": nil, "upper_bound": nil,
		})
	}

	return doc
}
