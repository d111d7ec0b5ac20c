// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"net/http"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
)

// Fields that can be set are reached by name, for POST and PATCH alike.

func (n *Node) texts() map[string]*string {
	return map[string]*string{
		"name": &n.Name, "description": &n.Description, "driver": &n.Driver, "instance_uuid": &n.InstanceUUID,
		"conductor_group": &n.ConductorGroup, "resource_class": &n.ResourceClass, "owner": &n.Owner, "lessee": &n.Lessee,
		"shard": &n.Shard, "parent_node": &n.ParentNode, "protected_reason": &n.ProtectedReason,
		"retired_reason": &n.RetiredReason, "chassis_uuid": &n.ChassisUUID, "instance_name": &n.InstanceName,
	}
}

func (n *Node) flags() map[string]*bool {
	return map[string]*bool{
		"maintenance": &n.Maintenance, "protected": &n.Protected, "retired": &n.Retired, "disable_power_off": &n.DisablePowerOff,
	}
}

func (n *Node) objects() map[string]*map[string]any {
	return map[string]*map[string]any{
		"driver_info": &n.DriverInfo, "extra": &n.Extra, "instance_info": &n.InstanceInfo, "network_data": &n.NetworkData,
		"properties": &n.Properties,
	}
}

// Patchable is the node as a document of what can be patched. It shares nothing with the node.
func (n *Node) Patchable() map[string]any {
	n = n.Clone()
	doc := map[string]any{}

	for field, v := range n.texts() {
		doc[field] = OrNull(*v)
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

// Assign takes a document over into the node. A field that the document lacks, or has as
// null, goes back to its default.
func (n *Node) Assign(doc map[string]any) error {
	for field, p := range n.texts() {
		s, ok := doc[field].(string)
		if !ok && doc[field] != nil {
			return fault.Invalid("Schema error for node: %v is not of type 'string', 'null'", doc[field])
		}

		*p = s
	}

	n.ConductorGroup = strings.ToLower(n.ConductorGroup)

	for field, p := range n.flags() {
		v, present := doc[field]
		if present && v == nil && field == "maintenance" || !present && field == "maintenance" && *p {
			return fault.Refuse(http.StatusInternalServerError, "Field `maintenance' cannot be None")
		}

		b, err := ToBool(field, v)
		if err != nil {
			return err
		}

		*p = b != nil && *b
	}

	for field, p := range n.objects() {
		m, ok := doc[field].(map[string]any)
		if !ok && doc[field] != nil {
			return fault.Invalid("Schema error for node: %v is not of type 'object', 'null'", doc[field])
		}

		*p = m
	}

	n.Fill()

	clean, err := ToBool("automated_clean", doc["automated_clean"])
	if err != nil {
		return err
	}

	n.AutomatedClean = clean

	return n.assignInterfaces(doc)
}

// InterfaceKinds are the kinds of interface that a node has, in the order of the alphabet.
var InterfaceKinds = []string{
	"bios", "boot", "console", "deploy", "firmware", "inspect", "management", "network", "power", "raid", "rescue", "storage", "vendor",
}

func (n *Node) assignInterfaces(doc map[string]any) error {
	if n.Interfaces == nil {
		n.Interfaces = map[string]string{}
	}

	for _, kind := range InterfaceKinds {
		v := doc[kind+"_interface"]

		name, ok := v.(string)
		if !ok && v != nil {
			return fault.Invalid("Schema error for node: %v is not of type 'string', 'null'", v)
		}

		if name == "" {
			delete(n.Interfaces, kind) // back to the driver's default
		} else {
			n.Interfaces[kind] = name
		}
	}

	return nil
}
