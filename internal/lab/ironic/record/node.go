// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
)

// Node is what the lab's Ironic remembers of a node: bucket "ironic.nodes", key UUID. Empty
// strings and nil values are what the API shows as null.
type Node struct {
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
	Walk  *Walk        `json:"walk,omitempty"`
	Power *PowerChange `json:"power,omitempty"`

	// Lost is when the BMC was first found not to answer; BMCDead makes it so without a machine.
	Lost    time.Time `json:"lost,omitzero"`
	BMCDead bool      `json:"bmc_dead,omitempty"`
}

// PowerChange is a power action that is done at Until.
type PowerChange struct {
	Target string    `json:"target"` // as it was asked for: "power on", "soft rebooting", …
	Until  time.Time `json:"until"`
}

// ReservedBy is the conductor that holds the node's lock; "" where nobody does.
func (n *Node) ReservedBy(conductor string) string {
	switch {
	case n.Reservation != "":
		return n.Reservation
	case n.Power != nil, n.Walk != nil && n.Walk.Current().Locked:
		return conductor
	}

	return ""
}

// Due is when the node changes by itself; zero: never.
func (n *Node) Due() time.Time {
	switch {
	case n.Power != nil:
		return n.Power.Until
	case n.Walk != nil:
		return n.Walk.Until
	}

	return time.Time{}
}

// Set moves the node to a provision state.
func (n *Node) Set(to, target string, at time.Time) {
	n.ProvisionState, n.TargetProvisionState, n.ProvisionUpdatedAt = to, target, at
	n.UpdatedAt = at
}

// Halt ends the transition under way.
func (n *Node) Halt() {
	n.Walk = nil
	n.CleanStep, n.DeployStep, n.ServiceStep = map[string]any{}, map[string]any{}, map[string]any{}
	n.TargetPowerState = ""
}

// Fill replaces nil maps, which the API shows as {}.
func (n *Node) Fill() {
	for _, m := range []*map[string]any{
		&n.Properties, &n.DriverInfo, &n.DriverInternalInfo, &n.InstanceInfo, &n.Extra, &n.NetworkData,
		&n.RAIDConfig, &n.TargetRAIDConfig, &n.CleanStep, &n.DeployStep, &n.ServiceStep,
	} {
		if *m == nil {
			*m = map[string]any{}
		}
	}
}

// Simulated tells whether the node's driver talks to no BMC at all.
func (n *Node) Simulated() bool {
	return n.Driver == "fake-hardware" || n.Driver == "manual-management"
}

// Free tells whether a node may be configured anew.
func (n *Node) Free() bool {
	return n.Maintenance || slices.Contains(state.Configurable, n.ProvisionState)
}

// Clone copies a node, maps included.
func (n *Node) Clone() *Node {
	raw, err := json.Marshal(n)
	if err != nil {
		panic(err) // a node came from JSON
	}

	out := &Node{}
	if err := json.Unmarshal(raw, out); err != nil {
		panic(err)
	}

	out.Fill()

	return out
}
