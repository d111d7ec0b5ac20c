// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"slices"
	"strings"
	"time"
)

const mask = "******"

// stamp is a time as Ironic writes it; a zero time is null.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}

	return t.UTC().Format("2006-01-02T15:04:05.000000+00:00")
}

func orNull(s string) any {
	if s == "" {
		return nil
	}

	return s
}

// links are the self and bookmark links of a resource.
func links(base, path string) []any {
	return []any{
		map[string]any{"href": base + "/v1/" + path, "rel": "self"},
		map[string]any{"href": base + "/" + path, "rel": "bookmark"},
	}
}

// shortFields are what a list shows that was asked for nothing else.
var shortFields = []string{"instance_uuid", "maintenance", "power_state", "provision_state", "uuid", "name"}

// document is a node as the API shows it at the version of the request. Fields limits it;
// nil shows everything. The links are there either way.
func (c *call) document(n *node, fields []string) (map[string]any, error) {
	all, err := c.fields(n)
	if err != nil {
		return nil, err
	}

	doc := map[string]any{"links": links(c.base(), "nodes/"+n.UUID)}

	for field, v := range all {
		if fieldSince[field] <= c.minor && (fields == nil || slices.Contains(fields, field)) {
			doc[field] = v
		}
	}

	if fields == nil {
		for name, since := range map[string]int{"ports": 1, "states": 14, "portgroups": 24, "volume": 32} {
			if c.minor >= since {
				doc[name] = links(c.base(), "nodes/"+n.UUID+"/"+name)
			}
		}
	}

	if c.minor < 2 && n.ProvisionState == available {
		doc["provision_state"] = nil // NOSTATE, before "available" had a name
	}

	c.script.rewrite("node", doc)

	return doc, nil
}

func (c *call) fields(n *node) (map[string]any, error) {
	power, err := c.syncPower(n)
	if err != nil {
		return nil, err
	}

	doc := map[string]any{
		"uuid": n.UUID, "created_at": stamp(n.CreatedAt), "updated_at": stamp(n.UpdatedAt), "name": orNull(n.Name),
		"automated_clean": n.AutomatedClean, "boot_mode": orNull(n.BootMode), "secure_boot": n.SecureBoot,
		"conductor_group": n.ConductorGroup, "console_enabled": n.ConsoleEnabled, "disable_power_off": n.DisablePowerOff,
		"description": orNull(n.Description), "driver": n.Driver, "driver_info": masked(n.DriverInfo),
		"driver_internal_info": masked(n.DriverInternalInfo), "extra": n.Extra, "fault": orNull(n.Fault),
		"inspection_finished_at": stamp(n.InspectionFinishedAt), "inspection_started_at": stamp(n.InspectionStartedAt),
		"instance_info": masked(n.InstanceInfo), "instance_uuid": orNull(n.InstanceUUID),
		"last_error": orNull(n.LastError), "lessee": orNull(n.Lessee), "maintenance": n.Maintenance,
		"maintenance_reason": orNull(n.MaintenanceReason), "network_data": n.NetworkData, "owner": orNull(n.Owner),
		"parent_node": orNull(n.ParentNode), "power_state": orNull(power), "properties": n.Properties,
		"protected": n.Protected, "protected_reason": orNull(n.ProtectedReason), "provision_state": n.ProvisionState,
		"provision_updated_at": stamp(n.ProvisionUpdatedAt), "raid_config": n.RAIDConfig,
		"reservation": orNull(n.reservedBy(c.Conductor)), "resource_class": orNull(n.ResourceClass), "retired": n.Retired,
		"retired_reason": orNull(n.RetiredReason), "shard": orNull(n.Shard), "clean_step": n.CleanStep,
		"deploy_step": n.DeployStep, "service_step": n.ServiceStep, "target_power_state": orNull(n.TargetPowerState),
		"target_provision_state": orNull(n.TargetProvisionState), "target_raid_config": n.TargetRAIDConfig,
		"traits": nonNil(n.Traits), "allocation_uuid": orNull(n.AllocationUUID), "chassis_uuid": orNull(n.ChassisUUID),
		"conductor": orNull(c.conductorOf(n)),
	}

	for kind, name := range n.Interfaces {
		doc[kind+"_interface"] = name
	}

	if c.Service.minor >= 104 {
		doc["instance_name"] = orNull(n.InstanceName)
	}

	if c.Service.minor >= 109 {
		doc["health"] = c.health(n)
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

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}

	return list
}
