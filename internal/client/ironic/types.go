// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import "time"

// State is a provision state in Ironic's spelling. The empty state means that there is no node.
type State string

// The provision states of Ironic (ironic/common/states.py).
const (
	Enroll         State = "enroll"
	Verifying      State = "verifying"
	Manageable     State = "manageable"
	Available      State = "available"
	Inspecting     State = "inspecting"
	InspectWait    State = "inspect wait"
	InspectFailed  State = "inspect failed"
	Cleaning       State = "cleaning"
	CleanWait      State = "clean wait"
	CleanHold      State = "clean hold"
	CleanFailed    State = "clean failed"
	Deploying      State = "deploying"
	WaitCallBack   State = "wait call-back"
	DeployHold     State = "deploy hold"
	DeployFailed   State = "deploy failed"
	Active         State = "active"
	Deleting       State = "deleting"
	Error          State = "error"
	Adopting       State = "adopting"
	AdoptFailed    State = "adopt failed"
	Servicing      State = "servicing"
	ServiceWait    State = "service wait"
	ServiceHold    State = "service hold"
	ServiceFailed  State = "service failed"
	Rescuing       State = "rescuing"
	RescueWait     State = "rescue wait"
	Rescue         State = "rescue"
	RescueFailed   State = "rescue failed"
	Unrescuing     State = "unrescuing"
	UnrescueFailed State = "unrescue failed"
)

// Verb is a target of PUT /v1/nodes/{id}/states/provision.
type Verb string

// The provision verbs (ironic/common/states.py, VERBS).
const (
	VerbManage  Verb = "manage"
	VerbInspect Verb = "inspect"
	VerbClean   Verb = "clean"
	VerbProvide Verb = "provide"
	VerbAdopt   Verb = "adopt"
	VerbActive  Verb = "active"
	VerbRebuild Verb = "rebuild"
	VerbDeleted Verb = "deleted"
	VerbAbort   Verb = "abort"
	VerbUnhold  Verb = "unhold" // from API 1.85 on
)

// Power is a power state or target in Ironic's spelling; empty means that Ironic does not know it.
type Power string

// The power states and targets of Ironic.
const (
	PowerOn       Power = "power on"
	PowerOff      Power = "power off"
	SoftPowerOff  Power = "soft power off"
	Rebooting     Power = "rebooting"
	SoftRebooting Power = "soft rebooting"
	PowerError    Power = "error"
)

// Node is what Ironic says of one node. Secrets in it are masked by Ironic ("******").
type Node struct {
	UUID                 string
	Name                 string
	Description          string
	Driver               string
	Interfaces           map[string]string // kind ("boot", "deploy", …) -> interface name
	ProvisionState       State
	TargetProvisionState State
	PowerState           Power
	TargetPowerState     Power
	LastError            string
	Maintenance          bool
	MaintenanceReason    string
	Fault                string // "power failure", "clean failure", … implies Maintenance
	Reservation          string // conductor that holds the node's lock
	InstanceUUID         string
	AllocationUUID       string
	Properties           map[string]any
	DriverInfo           map[string]any
	InstanceInfo         map[string]any
	Extra                map[string]any
	NetworkData          map[string]any
	AutomatedClean       *bool // nil: the conductor's default
	DisablePowerOff      *bool // nil below API 1.95
	ConductorGroup       string
	ResourceClass        string
	Owner                string
	Lessee               string
	Traits               []string
	Protected            bool
	ProtectedReason      string
	Retired              bool
	RetiredReason        string
	Health               string // "OK", "Warning", "Critical"; empty below API 1.109
	ParentNode           string
	DeployStep           map[string]any
	CleanStep            map[string]any
	InspectionStartedAt  time.Time // zero where Ironic says null
	InspectionFinishedAt time.Time
	ProvisionUpdatedAt   time.Time
}

// Glance is the cheap part of a node that a wait looks at; one list gives it for all nodes.
type Glance struct {
	UUID                 string
	ProvisionState       State
	TargetProvisionState State
	PowerState           Power
	TargetPowerState     Power
	LastError            string
	Maintenance          bool
	Fault                string
	Reservation          string
	BootInterface        string // empty where Ironic says null
}

// Glance returns the cheap part of a node.
func (n Node) Glance() Glance {
	return Glance{
		UUID:                 n.UUID,
		ProvisionState:       n.ProvisionState,
		TargetProvisionState: n.TargetProvisionState,
		PowerState:           n.PowerState,
		TargetPowerState:     n.TargetPowerState,
		LastError:            n.LastError,
		Maintenance:          n.Maintenance,
		Fault:                n.Fault,
		Reservation:          n.Reservation,
		BootInterface:        n.Interfaces["boot"],
	}
}

// Port is a network port of a node.
type Port struct {
	UUID            string
	NodeUUID        string
	Address         string // MAC, lower case with colons
	PXEEnabled      bool
	PhysicalNetwork string
	LocalLink       map[string]string // local_link_connection
}

// Create is the body of POST /v1/nodes. Zero values are left out.
type Create struct {
	UUID            string
	Name            string
	Description     string
	Driver          string
	Interfaces      map[string]string
	DriverInfo      map[string]any
	Properties      map[string]any
	Extra           map[string]any
	NetworkData     map[string]any
	AutomatedClean  *bool
	DisablePowerOff *bool // needs API 1.95
	ConductorGroup  string
	ResourceClass   string
}

// Patch is one operation of a JSON patch. Use "add" to set (it works for new and for
// existing keys) and "remove" only for a key that was just read.
type Patch struct {
	Op    string // "add" or "remove"
	Path  string // e.g. "/instance_info/image_source"
	Value any    // for "add"; a nil value is sent as null
}

// Provision is the body of PUT /v1/nodes/{id}/states/provision.
type Provision struct {
	Target      Verb
	ConfigDrive map[string]any   // meta_data, network_data, user_data, vendor_data; nil sends none
	CleanSteps  []map[string]any // for VerbClean
	DeploySteps []map[string]any // for VerbActive with a custom deploy
}

// Validation is what GET /v1/nodes/{id}/validate says of one interface.
type Validation struct {
	Result bool
	Reason string
}

// Event is an entry of a node's history (API 1.78).
type Event struct {
	At       time.Time
	Severity string
	Type     string
	Text     string
}

// Onto returns node with the values of the glance, which is the younger of the two.
func (g Glance) Onto(node Node) Node {
	node.ProvisionState, node.TargetProvisionState = g.ProvisionState, g.TargetProvisionState
	node.PowerState, node.TargetPowerState = g.PowerState, g.TargetPowerState
	node.LastError, node.Maintenance, node.Fault, node.Reservation = g.LastError, g.Maintenance, g.Fault, g.Reservation

	return node
}
