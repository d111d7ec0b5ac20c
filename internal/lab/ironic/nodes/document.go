// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/version"
)

const mask = "******"

// shortFields are what a list shows that was asked for nothing else.
var shortFields = []string{"instance_uuid", "maintenance", "power_state", "provision_state", "uuid", "name"}

// document is a node as the API shows it: see [api.Call.Shape].
func document(c *api.Call, n *record.Node, fields []string) (map[string]any, error) {
	all, err := everything(c, n)
	if err != nil {
		return nil, err
	}

	doc := c.Shape("nodes/"+n.UUID, all, version.FieldSince, fields)

	if fields == nil {
		for name, since := range map[string]int{"ports": 1, "states": 14, "portgroups": 24, "volume": 32} {
			if c.Minor >= since {
				doc[name] = api.Links(c.Base(), "nodes/"+n.UUID+"/"+name)
			}
		}
	}

	if c.Minor < 2 && n.ProvisionState == state.Available {
		doc["provision_state"] = nil // NOSTATE, before "available" had a name
	}

	c.Rewrite("node", doc)

	return doc, nil
}

// everything is all that a node is, at whatever version.
func everything(c *api.Call, n *record.Node) (map[string]any, error) {
	power, err := c.SyncPower(n)
	if err != nil {
		return nil, err
	}

	doc := map[string]any{
		"uuid": n.UUID, "created_at": record.Stamp(n.CreatedAt), "updated_at": record.Stamp(n.UpdatedAt), "name": record.OrNull(n.Name),
		"automated_clean": n.AutomatedClean, "boot_mode": record.OrNull(n.BootMode), "secure_boot": n.SecureBoot,
		"conductor_group": n.ConductorGroup, "console_enabled": n.ConsoleEnabled, "disable_power_off": n.DisablePowerOff,
		"description": record.OrNull(n.Description), "driver": n.Driver, "driver_info": masked(n.DriverInfo),
		"driver_internal_info": masked(n.DriverInternalInfo), "extra": n.Extra, "fault": record.OrNull(n.Fault),
		"inspection_finished_at": record.Stamp(n.InspectionFinishedAt), "inspection_started_at": record.Stamp(n.InspectionStartedAt),
		"instance_info": masked(n.InstanceInfo), "instance_uuid": record.OrNull(n.InstanceUUID),
		"last_error": record.OrNull(n.LastError), "lessee": record.OrNull(n.Lessee), "maintenance": n.Maintenance,
		"maintenance_reason": record.OrNull(n.MaintenanceReason), "network_data": n.NetworkData, "owner": record.OrNull(n.Owner),
		"parent_node": record.OrNull(n.ParentNode), "power_state": record.OrNull(power), "properties": n.Properties,
		"protected": n.Protected, "protected_reason": record.OrNull(n.ProtectedReason), "provision_state": n.ProvisionState,
		"provision_updated_at": record.Stamp(n.ProvisionUpdatedAt), "raid_config": n.RAIDConfig,
		"reservation": record.OrNull(n.ReservedBy(c.Host)), "resource_class": record.OrNull(n.ResourceClass), "retired": n.Retired,
		"retired_reason": record.OrNull(n.RetiredReason), "shard": record.OrNull(n.Shard), "clean_step": n.CleanStep,
		"deploy_step": n.DeployStep, "service_step": n.ServiceStep, "target_power_state": record.OrNull(n.TargetPowerState),
		"target_provision_state": record.OrNull(n.TargetProvisionState), "target_raid_config": n.TargetRAIDConfig,
		"traits": api.NonNil(n.Traits), "allocation_uuid": record.OrNull(n.AllocationUUID), "chassis_uuid": record.OrNull(n.ChassisUUID),
		"conductor": record.OrNull(c.ConductorOf(n)),
	}

	for kind, name := range n.Interfaces {
		doc[kind+"_interface"] = name
	}

	if c.Newest >= 104 {
		doc["instance_name"] = record.OrNull(n.InstanceName)
	}

	if c.Newest >= 109 {
		doc["health"] = c.Health(n)
	}

	return doc, nil
}

// masked hides secrets as Ironic does: by the words in their keys.
func masked(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))

	for k, v := range m {
		switch lower := strings.ToLower(k); {
		case v == nil:
			out[k] = v
		case strings.Contains(lower, "password"), strings.Contains(lower, "secret"), strings.HasSuffix(lower, "_token"),
			k == "configdrive", k == "image_url", k == "image_pull_secret", k == "snmp_community":
			out[k] = mask
		default:
			out[k] = v
		}
	}

	return out
}
