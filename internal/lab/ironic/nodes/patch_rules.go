// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
)

// checkPatched refuses changes that the conductor refuses.
func checkPatched(c *api.Call, n, old *record.Node) error {
	if n.InstanceUUID != "" && !record.IsUUID(n.InstanceUUID) {
		return fault.Invalid("Expected UUID for instance_uuid: %s", n.InstanceUUID)
	}

	if old.Maintenance && !n.Maintenance {
		n.MaintenanceReason, n.Fault = "", ""
	}

	if err := checkMarks(n, old); err != nil {
		return err
	}

	if err := checkConfigured(c, n, old); err != nil {
		return err
	}

	if err := c.Lock(old); err != nil {
		return err
	}

	if err := checkClaim(c, n, old); err != nil {
		return err
	}

	return unique(c, n, old)
}

// checkConfigured are the rules of driver, interfaces and resource class.
func checkConfigured(c *api.Call, n, old *record.Node) error {
	states := strings.Join(state.Configurable, ", ")

	for _, kind := range c.Kinds() {
		if n.Interfaces[kind] != old.Interfaces[kind] && !n.Free() {
			return fault.Conflict("Node %s can not have %s_interface updated unless it is in one of allowed (%s) states or in maintenance mode.",
				n.UUID, kind, states)
		}
	}

	if n.ResourceClass != old.ResourceClass && old.ResourceClass != "" && !slices.Contains(state.Configurable, n.ProvisionState) {
		return fault.Conflict("Node %s can not have resource_class updated unless it is in one of allowed (%s) states.", n.UUID, states)
	}

	if reset, _ := record.ParseBool("", c.R.URL.Query().Get("reset_interfaces")); reset {
		for kind, name := range n.Interfaces {
			if name == old.Interfaces[kind] {
				delete(n.Interfaces, kind)
			}
		}
	}

	return c.CheckInterfaces(n)
}

// checkClaim are the rules of instance_uuid: it is given once, and taken back before it is
// given again.
func checkClaim(c *api.Call, n, old *record.Node) error {
	if n.InstanceUUID != old.InstanceUUID && n.InstanceUUID != "" && old.InstanceUUID != "" {
		return fault.Conflict("Node %s is associated with instance %s.", n.UUID, old.InstanceUUID)
	}

	if old.AllocationUUID == "" || n.InstanceUUID != "" {
		return nil
	}

	if !n.Free() {
		return fault.Conflict("Node %s with an allocation can not have instance_uuid removed unless it is in one of allowed (%s) states or "+
			"in maintenance mode.", n.UUID, strings.Join(state.Configurable, ", "))
	}

	n.AllocationUUID = ""

	return c.DropAllocation(old.AllocationUUID)
}

// checkMarks are the rules of "protected" and "retired".
func checkMarks(n, old *record.Node) error {
	if !n.Protected && old.Protected {
		n.ProtectedReason = ""
	}

	if !n.Retired && old.Retired {
		n.RetiredReason = ""
	}

	switch {
	case n.Protected && !old.Protected && n.ProvisionState != state.Active && n.ProvisionState != state.Rescue:
		return fault.Conflict("Node %s can only be made protected in provision states 'active' or 'rescue', the current state is '%s'",
			n.UUID, n.ProvisionState)
	case n.ProtectedReason != "" && !n.Protected:
		return fault.Invalid("The protected_reason field can only be set when protected is True")
	case n.Retired && !old.Retired && n.ProvisionState == state.Available:
		return fault.Conflict("Node %s can not have 'retired' set in provision state 'available', the current state is '%s'", n.UUID, n.ProvisionState)
	case n.RetiredReason != "" && !n.Retired:
		return fault.Invalid("The retired_reason field can only be set when retired is True")
	}

	return nil
}
