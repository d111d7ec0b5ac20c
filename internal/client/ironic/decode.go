// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"net"
	"strings"
)

// decodeNode reads a node; false where the JSON is no node.
func decodeNode(raw []byte) (Node, bool) {
	o, ok := parseObject(raw)
	if !ok || o.text("uuid") == "" {
		return Node{}, false
	}

	n := Node{
		UUID:                 o.text("uuid"),
		Name:                 o.text("name"),
		Description:          o.text("description"),
		Driver:               o.text("driver"),
		Interfaces:           map[string]string{},
		ProvisionState:       State(o.text("provision_state")),
		TargetProvisionState: State(o.text("target_provision_state")),
		PowerState:           Power(o.text("power_state")),
		TargetPowerState:     Power(o.text("target_power_state")),
		LastError:            o.text("last_error"),
		Maintenance:          o.is("maintenance"),
		MaintenanceReason:    o.text("maintenance_reason"),
		Fault:                o.text("fault"),
		Reservation:          o.text("reservation"),
		InstanceUUID:         o.text("instance_uuid"),
		AllocationUUID:       o.text("allocation_uuid"),
		Properties:           o.dict("properties"),
		DriverInfo:           o.dict("driver_info"),
		InstanceInfo:         o.dict("instance_info"),
		Extra:                o.dict("extra"),
		NetworkData:          o.dict("network_data"),
		AutomatedClean:       o.flag("automated_clean"),
		DisablePowerOff:      o.flag("disable_power_off"),
		ConductorGroup:       o.text("conductor_group"),
		ResourceClass:        o.text("resource_class"),
		Owner:                o.text("owner"),
		Lessee:               o.text("lessee"),
		Traits:               o.texts("traits"),
		Protected:            o.is("protected"),
		ProtectedReason:      o.text("protected_reason"),
		Retired:              o.is("retired"),
		RetiredReason:        o.text("retired_reason"),
		Health:               o.text("health"),
		ParentNode:           o.text("parent_node"),
		DeployStep:           o.dict("deploy_step"),
		CleanStep:            o.dict("clean_step"),
		InspectionStartedAt:  o.at("inspection_started_at"),
		InspectionFinishedAt: o.at("inspection_finished_at"),
		ProvisionUpdatedAt:   o.at("provision_updated_at"),
	}

	for key := range o {
		if kind, ok := strings.CutSuffix(key, "_interface"); ok && o.text(key) != "" {
			n.Interfaces[kind] = o.text(key)
		}
	}

	return n, true
}

// glanceFields are the fields of a Glance.
const glanceFields = "uuid,provision_state,target_provision_state,power_state,target_power_state,last_error,maintenance,fault,reservation,boot_interface"

func decodeGlance(raw []byte) (Glance, bool) {
	o, ok := parseObject(raw)
	if !ok || o.text("uuid") == "" {
		return Glance{}, false
	}

	return Glance{
		UUID:                 o.text("uuid"),
		ProvisionState:       State(o.text("provision_state")),
		TargetProvisionState: State(o.text("target_provision_state")),
		PowerState:           Power(o.text("power_state")),
		TargetPowerState:     Power(o.text("target_power_state")),
		LastError:            o.text("last_error"),
		Maintenance:          o.is("maintenance"),
		Fault:                o.text("fault"),
		Reservation:          o.text("reservation"),
		BootInterface:        o.text("boot_interface"),
	}, true
}

// portFields are the fields of a Port.
const portFields = "uuid,address,node_uuid,pxe_enabled,physical_network,local_link_connection"

func decodePort(raw []byte) (Port, bool) {
	o, ok := parseObject(raw)
	if !ok || o.text("uuid") == "" {
		return Port{}, false
	}

	p := Port{
		UUID:            o.text("uuid"),
		NodeUUID:        o.text("node_uuid"),
		Address:         normaliseMAC(o.text("address")),
		PXEEnabled:      o.is("pxe_enabled"),
		PhysicalNetwork: o.text("physical_network"),
	}

	if link, ok := parseObject(o["local_link_connection"]); ok {
		for key := range link {
			if value := link.text(key); value != "" {
				if p.LocalLink == nil {
					p.LocalLink = map[string]string{}
				}

				p.LocalLink[key] = value
			}
		}
	}

	return p, true
}

// normaliseMAC gives every spelling of a MAC the form that Ironic uses.
func normaliseMAC(mac string) string {
	if hw, err := net.ParseMAC(strings.TrimSpace(mac)); err == nil {
		return hw.String()
	}

	return strings.ToLower(strings.TrimSpace(mac))
}
