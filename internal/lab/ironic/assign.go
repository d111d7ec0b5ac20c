// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"maps"
	"slices"
	"strings"
)

// Fields that can be set are reached by name, for POST and PATCH alike.

func (n *node) texts() map[string]*string {
	return map[string]*string{
		"name": &n.Name, "description": &n.Description, "driver": &n.Driver, "instance_uuid": &n.InstanceUUID,
		"conductor_group": &n.ConductorGroup, "resource_class": &n.ResourceClass, "owner": &n.Owner, "lessee": &n.Lessee,
		"shard": &n.Shard, "parent_node": &n.ParentNode, "protected_reason": &n.ProtectedReason,
		"retired_reason": &n.RetiredReason, "chassis_uuid": &n.ChassisUUID, "instance_name": &n.InstanceName,
	}
}

func (n *node) flags() map[string]*bool {
	return map[string]*bool{
		"maintenance": &n.Maintenance, "protected": &n.Protected, "retired": &n.Retired, "disable_power_off": &n.DisablePowerOff,
	}
}

func (n *node) objects() map[string]*map[string]any {
	return map[string]*map[string]any{
		"driver_info": &n.DriverInfo, "extra": &n.Extra, "instance_info": &n.InstanceInfo, "network_data": &n.NetworkData,
		"properties": &n.Properties,
	}
}

// patchable is the node as a document of what can be patched. It shares nothing with the node.
func (n *node) patchable() map[string]any {
	n = clone(n)
	doc := map[string]any{}

	for field, v := range n.texts() {
		doc[field] = orNull(*v)
	}

	for field, v := range n.flags() {
		doc[field] = *v
	}

	for field, v := range n.objects() {
		doc[field] = *v
	}

	for kind, name := range n.Interfaces {
		doc[kind+"_interface"] = name
	}

	doc["automated_clean"] = nil
	if n.AutomatedClean != nil {
		doc["automated_clean"] = *n.AutomatedClean
	}

	return doc
}

// assign takes a document over into the node. A field that the document lacks, or has as
// null, goes back to its default.
func (n *node) assign(doc map[string]any) error {
	for field, p := range n.texts() {
		s, ok := doc[field].(string)
		if !ok && doc[field] != nil {
			return invalid("Schema error for node: %v is not of type 'string', 'null'", doc[field])
		}

		*p = s
	}

	n.ConductorGroup = strings.ToLower(n.ConductorGroup)

	for field, p := range n.flags() {
		v, present := doc[field]
		if present && v == nil && field == "maintenance" || !present && field == "maintenance" && *p {
			return refuse(500, "Field `maintenance' cannot be None")
		}

		b, err := toBool(field, v)
		if err != nil {
			return err
		}

		*p = b != nil && *b
	}

	for field, p := range n.objects() {
		m, ok := doc[field].(map[string]any)
		if !ok && doc[field] != nil {
			return invalid("Schema error for node: %v is not of type 'object', 'null'", doc[field])
		}

		*p = m
	}

	n.fill()

	clean, err := toBool("automated_clean", doc["automated_clean"])
	if err != nil {
		return err
	}

	n.AutomatedClean = clean

	return n.assignInterfaces(doc)
}

func (n *node) assignInterfaces(doc map[string]any) error {
	if n.Interfaces == nil {
		n.Interfaces = map[string]string{}
	}

	for _, kind := range slices.Sorted(maps.Keys(drivers["redfish"])) {
		v := doc[kind+"_interface"]

		name, ok := v.(string)
		if !ok && v != nil {
			return invalid("Schema error for node: %v is not of type 'string', 'null'", v)
		}

		if name == "" {
			delete(n.Interfaces, kind) // back to the driver's default
		} else {
			n.Interfaces[kind] = name
		}
	}

	return nil
}

// toBool reads a boolean the way Ironic does: "yes" and 1 count. nil stays nil.
func toBool(field string, v any) (*bool, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil //nolint:nilnil // null is a value
	case bool:
		return &v, nil
	case string:
		b, err := parseBool(field, v)

		return &b, err
	default:
		return nil, invalid("Schema error for node: %v is not of type 'string', 'boolean', 'null'", v)
	}
}
