// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"fmt"
	"time"
)

// node is what the lab's Ironic remembers of a node: bucket "ironic.nodes", key UUID. Empty
// strings and nil values are what the API shows as null.
type node struct {
	UUID        string    `json:"uuid"`
	Seq         int       `json:"seq"` // order of creation, the order of lists
	Name        string    `json:"name,omitempty"`
	Description string    `json:"description,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at,omitzero"`

	Driver     string            `json:"driver"`
	Interfaces map[string]string `json:"interfaces"` // by kind: "boot", "deploy", …

	ProvisionState       string    `json:"provision_state"`
	TargetProvisionState string    `json:"target_provision_state,omitempty"`
	ProvisionUpdatedAt   time.Time `json:"provision_updated_at,omitzero"`
	PowerState           string    `json:"power_state,omitempty"`
	TargetPowerState     string    `json:"target_power_state,omitempty"`
	LastError            string    `json:"last_error,omitempty"`
	Maintenance          bool      `json:"maintenance,omitempty"`
	MaintenanceReason    string    `json:"maintenance_reason,omitempty"`
	Fault                string    `json:"fault,omitempty"`
	Reservation          string    `json:"reservation,omitempty"` // set by tests; a transition reserves by itself
	InspectionStartedAt  time.Time `json:"inspection_started_at,omitzero"`
	InspectionFinishedAt time.Time `json:"inspection_finished_at,omitzero"`

	InstanceUUID       string         `json:"instance_uuid,omitempty"`
	InstanceName       string         `json:"instance_name,omitempty"`
	AllocationUUID     string         `json:"allocation_uuid,omitempty"`
	ChassisUUID        string         `json:"chassis_uuid,omitempty"`
	Properties         map[string]any `json:"properties"`
	DriverInfo         map[string]any `json:"driver_info"`
	DriverInternalInfo map[string]any `json:"driver_internal_info"`
	InstanceInfo       map[string]any `json:"instance_info"`
	Extra              map[string]any `json:"extra"`
	NetworkData        map[string]any `json:"network_data"`
	RAIDConfig         map[string]any `json:"raid_config"`
	TargetRAIDConfig   map[string]any `json:"target_raid_config"`
	CleanStep          map[string]any `json:"clean_step"`
	DeployStep         map[string]any `json:"deploy_step"`
	ServiceStep        map[string]any `json:"service_step"`
	Traits             []string       `json:"traits,omitempty"`
	Ports              []string       `json:"ports,omitempty"`

	AutomatedClean  *bool  `json:"automated_clean,omitempty"`
	DisablePowerOff bool   `json:"disable_power_off,omitempty"`
	ConsoleEnabled  bool   `json:"console_enabled,omitempty"`
	ConductorGroup  string `json:"conductor_group,omitempty"`
	ResourceClass   string `json:"resource_class,omitempty"`
	Owner           string `json:"owner,omitempty"`
	Lessee          string `json:"lessee,omitempty"`
	Shard           string `json:"shard,omitempty"`
	ParentNode      string `json:"parent_node,omitempty"`
	Protected       bool   `json:"protected,omitempty"`
	ProtectedReason string `json:"protected_reason,omitempty"`
	Retired         bool   `json:"retired,omitempty"`
	RetiredReason   string `json:"retired_reason,omitempty"`
	BootMode        string `json:"boot_mode,omitempty"`
	SecureBoot      *bool  `json:"secure_boot,omitempty"`
	BootDevice      string `json:"boot_device,omitempty"`
	BootPersistent  bool   `json:"boot_persistent,omitempty"`

	// Walk is the transition under way, Power the power change; at most one of them moves.
	Walk  *walk        `json:"walk,omitempty"`
	Power *powerChange `json:"power,omitempty"`

	// Lost is when the BMC was first found not to answer; BMCDead makes it so without a machine.
	Lost    time.Time `json:"lost,omitzero"`
	BMCDead bool      `json:"bmc_dead,omitempty"`
}

// powerChange is a power action that is done at Until.
type powerChange struct {
	Target string    `json:"target"` // as it was asked for: "power on", "soft rebooting", …
	Until  time.Time `json:"until"`
}

// reservedBy is the conductor that holds the node's lock; "" where nobody does.
func (n *node) reservedBy(conductor string) string {
	switch {
	case n.Reservation != "":
		return n.Reservation
	case n.Power != nil, n.Walk != nil && n.Walk.stage().Locked:
		return conductor
	}

	return ""
}

// due is when the node changes by itself; zero: never.
func (n *node) due() time.Time {
	switch {
	case n.Power != nil:
		return n.Power.Until
	case n.Walk != nil:
		return n.Walk.Until
	}

	return time.Time{}
}

// set moves the node to a provision state.
func (n *node) set(state, target string, at time.Time) {
	n.ProvisionState, n.TargetProvisionState, n.ProvisionUpdatedAt = state, target, at
	n.UpdatedAt = at
}

// halt ends the transition under way.
func (n *node) halt() {
	n.Walk = nil
	n.CleanStep, n.DeployStep, n.ServiceStep = map[string]any{}, map[string]any{}, map[string]any{}
	n.TargetPowerState = ""
}

// fill replaces nil maps, which the API shows as {}.
func (n *node) fill() {
	for _, m := range []*map[string]any{
		&n.Properties, &n.DriverInfo, &n.DriverInternalInfo, &n.InstanceInfo, &n.Extra, &n.NetworkData,
		&n.RAIDConfig, &n.TargetRAIDConfig, &n.CleanStep, &n.DeployStep, &n.ServiceStep,
	} {
		if *m == nil {
			*m = map[string]any{}
		}
	}
}

// text is a value of one of the node's maps as a string.
func text(m map[string]any, key string) string {
	switch v := m[key].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}
