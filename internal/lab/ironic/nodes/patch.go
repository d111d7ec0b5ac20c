// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
)

// patchableFields are what PATCH may change, in the order in which Ironic names them.
var patchableFields = []string{
	"automated_clean", "bios_interface", "boot_interface", "chassis_uuid", "conductor_group", "console_interface",
	"deploy_interface", "description", "disable_power_off", "driver", "driver_info", "extra", "inspect_interface",
	"instance_info", "instance_uuid", "lessee", "maintenance", "management_interface", "name", "network_data",
	"network_interface", "owner", "power_interface", "properties", "protected", "protected_reason", "raid_interface",
	"rescue_interface", "resource_class", "retired", "retired_reason", "shard", "storage_interface", "vendor_interface",
	"parent_node", "firmware_interface", "instance_name",
}

// patchOnly are fields that a node gets by PATCH but not by POST.
var patchOnly = []string{"protected", "protected_reason"}

func isPatchable(field string) bool { return slices.Contains(patchableFields, field) }

func patchNode(c *api.Call) (api.Answer, error) {
	ops, err := c.Operations(patchableFields)
	if err != nil {
		return api.Answer{}, err
	}

	old, err := c.Target(0)
	if err != nil {
		return api.Answer{}, err
	}

	if err := mayPatch(c, old, ops); err != nil {
		return api.Answer{}, err
	}

	doc := old.Patchable()
	for _, op := range ops {
		if err := op.Apply(doc); err != nil {
			return api.Answer{}, err
		}
	}

	if doc["driver"] == nil {
		return api.Answer{}, fault.Invalid("Schema error for patch: 'driver' is a required property")
	}

	n := old.Clone()
	if err := n.Assign(doc); err != nil {
		return api.Answer{}, err
	}

	if err := checkPatched(c, n, old); err != nil {
		return api.Answer{}, err
	}

	n.UpdatedAt = c.Now
	if err := c.SaveNode(n); err != nil {
		return api.Answer{}, err
	}

	out, err := document(c, n, nil)
	if err == nil {
		out["reservation"] = c.Host // the answer is made while the lock is still held
	}

	return api.OK(out), err
}

// mayPatch refuses a patch in the states in which Ironic refuses it.
func mayPatch(c *api.Call, n *record.Node, ops []api.Operation) error {
	freed := len(ops) == 1 && ops[0].Op == "remove" && ops[0].Path == "/instance_uuid"

	switch {
	case n.Maintenance && freed:
	case n.TargetProvisionState != "" && !state.Updatable[n.ProvisionState] && n.ProvisionState != state.Inspecting:
		return fault.Conflict("Node %s can not be updated while a state transition is in progress.", c.R.PathValue("node"))
	case n.ProvisionState == state.Inspecting && c.Minor >= 39:
		return fault.Conflict(`Cannot update node "%s" while it is in state "inspecting".`, n.UUID)
	}

	for _, op := range ops {
		if name, _ := op.Value.(string); op.Path == "/name" && op.Op != "remove" && name != "" && !validName(name) {
			return fault.Invalid("Node %s: Cannot change name to invalid name '%s'", c.R.PathValue("node"), name)
		}
	}

	return nil
}
