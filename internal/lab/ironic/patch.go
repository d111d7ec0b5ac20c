// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
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

// operation is one line of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

func (c *call) patchNode() (answer, error) {
	ops, err := c.operations(patchableFields)
	if err != nil {
		return answer{}, err
	}

	old, err := c.target()
	if err != nil {
		return answer{}, err
	}

	if err := c.mayPatch(old, ops); err != nil {
		return answer{}, err
	}

	doc := old.patchable()
	for _, op := range ops {
		if err := op.apply(doc); err != nil {
			return answer{}, err
		}
	}

	if doc["driver"] == nil {
		return answer{}, invalid("Schema error for patch: 'driver' is a required property")
	}

	n := clone(old)
	if err := n.assign(doc); err != nil {
		return answer{}, err
	}

	if err := c.checkPatched(n, old); err != nil {
		return answer{}, err
	}

	n.UpdatedAt = c.now
	if err := c.save(n); err != nil {
		return answer{}, err
	}

	out, err := c.document(n, nil)
	if err == nil {
		out["reservation"] = c.Conductor // the answer is made while the lock is still held
	}

	return answer{status: http.StatusOK, body: out}, err
}

// operations reads a JSON patch for an object with these fields.
func (c *call) operations(fields []string) ([]operation, error) {
	var raw any
	if err := json.Unmarshal(c.body, &raw); err != nil {
		return nil, refuse(http.StatusInternalServerError, "Expecting value: %s", err)
	}

	list, ok := raw.([]any)
	if !ok {
		return nil, invalid("Schema error for patch: %s is not of type 'array'", c.body)
	}

	ops := make([]operation, 0, len(list))

	for _, v := range list {
		m, _ := v.(map[string]any)
		op := operation{Op: text(m, "op"), Path: text(m, "path"), Value: m["value"]}

		switch {
		case m["path"] == nil:
			return nil, invalid("Schema error for patch: 'path' is a required property")
		case !slices.Contains([]string{"add", "replace", "remove"}, op.Op):
			return nil, invalid("Schema error for patch: '%s' is not one of ['add', 'replace', 'remove']", op.Op)
		}

		field, _, _ := strings.Cut(strings.TrimPrefix(op.Path, "/"), "/")
		if !slices.Contains(fields, field) {
			return nil, invalid("Cannot patch %s. Only the following can be updated: %s", op.Path, strings.Join(fields, ", "))
		}

		if fieldSince[field] > c.minor {
			return nil, notAcceptable()
		}

		ops = append(ops, op)
	}

	return ops, nil
}

// mayPatch refuses a patch in the states in which Ironic refuses it.
func (c *call) mayPatch(n *node, ops []operation) error {
	freed := len(ops) == 1 && ops[0].Op == "remove" && ops[0].Path == "/instance_uuid"

	switch {
	case n.Maintenance && freed:
	case n.TargetProvisionState != "" && !updatable[n.ProvisionState] && n.ProvisionState != inspecting:
		return conflict("Node %s can not be updated while a state transition is in progress.", c.r.PathValue("node"))
	case n.ProvisionState == inspecting && c.minor >= 39:
		return conflict(`Cannot update node "%s" while it is in state "inspecting".`, n.UUID)
	}

	for _, op := range ops {
		if name, _ := op.Value.(string); op.Path == "/name" && op.Op != "remove" && name != "" && !validName(name) {
			return invalid("Node %s: Cannot change name to invalid name '%s'", c.r.PathValue("node"), name)
		}
	}

	return nil
}

// checkPatched refuses changes that the conductor refuses.
func (c *call) checkPatched(n, old *node) error {
	if n.InstanceUUID != "" && !isUUID(n.InstanceUUID) {
		return invalid("Expected UUID for instance_uuid: %s", n.InstanceUUID)
	}

	if old.Maintenance && !n.Maintenance {
		n.MaintenanceReason, n.Fault = "", ""
	}

	if err := checkMarks(n, old); err != nil {
		return err
	}

	if err := c.checkConfigured(n, old); err != nil {
		return err
	}

	if err := c.lock(old); err != nil {
		return err
	}

	if err := c.checkClaim(n, old); err != nil {
		return err
	}

	return c.unique(n, old)
}

// free tells whether a node may be configured anew.
func (n *node) free() bool { return n.Maintenance || slices.Contains(configurable, n.ProvisionState) }

// checkConfigured are the rules of driver, interfaces and resource class.
func (c *call) checkConfigured(n, old *node) error {
	states := strings.Join(configurable, ", ")

	for _, kind := range c.kinds() {
		if n.Interfaces[kind] != old.Interfaces[kind] && !n.free() {
			return conflict("Node %s can not have %s_interface updated unless it is in one of allowed (%s) states or in maintenance mode.",
				n.UUID, kind, states)
		}
	}

	if n.ResourceClass != old.ResourceClass && old.ResourceClass != "" && !slices.Contains(configurable, n.ProvisionState) {
		return conflict("Node %s can not have resource_class updated unless it is in one of allowed (%s) states.", n.UUID, states)
	}

	if v := c.r.URL.Query().Get("reset_interfaces"); booleans[strings.ToLower(v)] {
		for kind, name := range n.Interfaces {
			if name == old.Interfaces[kind] {
				delete(n.Interfaces, kind)
			}
		}
	}

	return c.checkInterfaces(n)
}

// checkClaim are the rules of instance_uuid: it is given once, and taken back before it is
// given again.
func (c *call) checkClaim(n, old *node) error {
	if n.InstanceUUID != old.InstanceUUID && n.InstanceUUID != "" && old.InstanceUUID != "" {
		return conflict("Node %s is associated with instance %s.", n.UUID, old.InstanceUUID)
	}

	if old.AllocationUUID == "" || n.InstanceUUID != "" {
		return nil
	}

	if !n.free() {
		return conflict("Node %s with an allocation can not have instance_uuid removed unless it is in one of allowed (%s) states or "+
			"in maintenance mode.", n.UUID, strings.Join(configurable, ", "))
	}

	n.AllocationUUID = ""

	return c.tx.Delete(allocationsBucket, old.AllocationUUID)
}

// checkMarks are the rules of "protected" and "retired".
func checkMarks(n, old *node) error {
	if !n.Protected && old.Protected {
		n.ProtectedReason = ""
	}

	if !n.Retired && old.Retired {
		n.RetiredReason = ""
	}

	switch {
	case n.Protected && !old.Protected && n.ProvisionState != active && n.ProvisionState != rescue:
		return conflict("Node %s can only be made protected in provision states 'active' or 'rescue', the current state is '%s'",
			n.UUID, n.ProvisionState)
	case n.ProtectedReason != "" && !n.Protected:
		return invalid("The protected_reason field can only be set when protected is True")
	case n.Retired && !old.Retired && n.ProvisionState == available:
		return conflict("Node %s can not have 'retired' set in provision state 'available', the current state is '%s'", n.UUID, n.ProvisionState)
	case n.RetiredReason != "" && !n.Retired:
		return invalid("The retired_reason field can only be set when retired is True")
	}

	return nil
}

// apply changes a document. "add" replaces what is there.
func (o operation) apply(doc map[string]any) error {
	parts := strings.Split(strings.TrimPrefix(o.Path, "/"), "/")
	for i, p := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}

	fail := func(verb, key string) error {
		shown := fmt.Sprintf("{'op': '%s', 'path': '%s'}", o.Op, o.Path)
		if o.Op != "remove" {
			shown = fmt.Sprintf("{'op': '%s', 'path': '%s', 'value': %v}", o.Op, o.Path, o.Value)
		}

		return invalid("Couldn't apply patch '%s'. Reason: can't %s a non-existent object '%s'", shown, verb, key)
	}

	for len(parts) > 1 {
		next, ok := doc[parts[0]].(map[string]any)
		if !ok {
			return fail(o.Op, parts[0])
		}

		doc, parts = next, parts[1:]
	}

	if _, ok := doc[parts[0]]; !ok && o.Op != "add" {
		return fail(o.Op, parts[0])
	}

	if o.Op == "remove" {
		delete(doc, parts[0])
	} else {
		doc[parts[0]] = o.Value
	}

	return nil
}

// clone copies a node, maps included.
func clone(n *node) *node {
	raw, err := json.Marshal(n)
	if err != nil {
		panic(err) // a node came from JSON
	}

	out := &node{}
	if err := json.Unmarshal(raw, out); err != nil {
		panic(err)
	}

	out.fill()

	return out
}
