// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package state is the provision states of Ironic and the table of verbs: what each state
// accepts, where it leads, and where it ends when it fails.
package state

// The provision states, as Ironic spells them (ironic/common/states.py).
const (
	Enroll         = "enroll"
	Verifying      = "verifying"
	Manageable     = "manageable"
	Available      = "available"
	Inspecting     = "inspecting"
	InspectWait    = "inspect wait"
	InspectFailed  = "inspect failed"
	Cleaning       = "cleaning"
	CleanWait      = "clean wait"
	CleanHold      = "clean hold"
	CleanFailed    = "clean failed"
	Deploying      = "deploying"
	WaitCallBack   = "wait call-back"
	DeployHold     = "deploy hold"
	DeployFailed   = "deploy failed"
	Active         = "active"
	Deleting       = "deleting"
	Failed         = "error"
	Adopting       = "adopting"
	AdoptFailed    = "adopt failed"
	Servicing      = "servicing"
	ServiceWait    = "service wait"
	ServiceHold    = "service hold"
	ServiceFailed  = "service failed"
	Rescuing       = "rescuing"
	RescueWait     = "rescue wait"
	Rescue         = "rescue"
	RescueFailed   = "rescue failed"
	Unrescuing     = "unrescuing"
	UnrescueFailed = "unrescue failed"
)

// The power states, and what else a power change can be told.
const (
	PowerOn       = "power on"
	PowerOff      = "power off"
	Rebooting     = "rebooting"
	SoftRebooting = "soft rebooting"
	SoftPowerOff  = "soft power off"
)

// The verbs: targets of PUT /v1/nodes/{node}/states/provision.
const (
	VerbManage   = "manage"
	VerbInspect  = "inspect"
	VerbClean    = "clean"
	VerbProvide  = "provide"
	VerbAdopt    = "adopt"
	VerbActive   = "active"
	VerbRebuild  = "rebuild"
	VerbDeleted  = "deleted"
	VerbAbort    = "abort"
	VerbUnhold   = "unhold"
	VerbRescue   = "rescue"
	VerbUnrescue = "unrescue"
	VerbService  = "service"
)

// verbs is the table of what each state accepts and where it leads first.
var verbs = map[string]map[string]string{
	Enroll:     {VerbManage: Verifying},
	Manageable: {VerbInspect: Inspecting, VerbClean: Cleaning, VerbProvide: Cleaning, VerbAdopt: Adopting},
	Available:  {VerbActive: Deploying, VerbManage: Manageable},

	Inspecting:    {},
	InspectWait:   {VerbAbort: InspectFailed},
	InspectFailed: {VerbManage: Manageable, VerbInspect: Inspecting},

	Cleaning:    {},
	CleanWait:   {VerbAbort: CleanFailed},
	CleanHold:   {VerbUnhold: CleanWait, VerbAbort: CleanFailed},
	CleanFailed: {VerbManage: Manageable},

	Deploying:    {},
	WaitCallBack: {VerbDeleted: Deleting, VerbAbort: DeployFailed},
	DeployHold:   {VerbUnhold: WaitCallBack, VerbAbort: DeployFailed},
	DeployFailed: {VerbActive: Deploying, VerbRebuild: Deploying, VerbDeleted: Deleting},
	Active:       {VerbRebuild: Deploying, VerbDeleted: Deleting, VerbRescue: Rescuing, VerbService: Servicing},
	Deleting:     {},
	Failed:       {VerbRebuild: Deploying, VerbDeleted: Deleting},

	Verifying:   {},
	Adopting:    {},
	AdoptFailed: {VerbAdopt: Adopting, VerbManage: Manageable},

	Servicing:     {},
	ServiceWait:   {VerbAbort: ServiceFailed, VerbDeleted: Deleting},
	ServiceHold:   {VerbService: Servicing, VerbUnhold: ServiceWait, VerbAbort: ServiceFailed},
	ServiceFailed: {VerbService: Servicing, VerbRescue: Rescuing, VerbAbort: Active, VerbDeleted: Deleting},

	Rescuing:       {},
	RescueWait:     {VerbAbort: RescueFailed, VerbDeleted: Deleting},
	Rescue:         {VerbRescue: Rescuing, VerbUnrescue: Unrescuing, VerbDeleted: Deleting},
	RescueFailed:   {VerbRescue: Rescuing, VerbUnrescue: Unrescuing, VerbDeleted: Deleting},
	Unrescuing:     {},
	UnrescueFailed: {VerbRescue: Rescuing, VerbUnrescue: Unrescuing, VerbDeleted: Deleting},
}

// IsState tells whether there is such a state.
func IsState(name string) bool { return verbs[name] != nil }

// later are table entries that an older server does not have: the first API version whose
// server has them. 29.0.5 (1.96) refuses both.
var later = map[[2]string]int{
	{WaitCallBack, VerbAbort}:  110,
	{ServiceFailed, VerbAbort}: 110,
}

// Accepts tells whether a server that speaks up to 1.minor takes a verb in a state, and the
// state that follows.
func Accepts(state, verb string, minor int) (string, bool) {
	next, ok := verbs[state][verb]

	return next, ok && later[[2]string{state, verb}] <= minor
}

// Aliases of verbs, from API 1.73 on.
var Aliases = map[string]string{"deploy": VerbActive, "undeploy": VerbDeleted}

// VerbSince is the API version that a verb needs; older requests get 406.
var VerbSince = map[string]int{
	VerbManage: 4, VerbProvide: 4, VerbInspect: 6, VerbAbort: 13, VerbClean: 15, VerbAdopt: 17,
	VerbRescue: 38, VerbUnrescue: 38, "deploy": 73, "undeploy": 73, VerbUnhold: 85, VerbService: 87,
}

// Updatable are the transitional states in which a node can be patched. 29.0.5 refuses a
// patch in "inspecting" from API 1.39 on, whatever its own list of states says.
var Updatable = map[string]bool{
	DeployFailed: true, InspectFailed: true, InspectWait: true, CleanFailed: true, Failed: true, Verifying: true,
	AdoptFailed: true, RescueFailed: true, UnrescueFailed: true, ServiceHold: true, ServiceFailed: true,
}

// Configurable are the states in which driver and interfaces can be changed without maintenance.
var Configurable = []string{Enroll, Inspecting, InspectWait, Manageable, Available}

// Deletable are the states in which a node can be deleted without maintenance.
var Deletable = []string{Manageable, Enroll, AdoptFailed, Available}

// Ending is where a verb ends that fails on the way, and with which target and fault.
type Ending struct{ State, Target, Fault string }

// Endings are where the verbs end that fail.
var Endings = map[string]Ending{
	VerbManage:   {State: Enroll},
	VerbInspect:  {State: InspectFailed, Target: Manageable},
	VerbClean:    {State: CleanFailed, Target: Manageable, Fault: "clean failure"},
	VerbProvide:  {State: CleanFailed, Target: Available, Fault: "clean failure"},
	VerbAdopt:    {State: AdoptFailed, Target: Active},
	VerbActive:   {State: DeployFailed, Target: Active},
	VerbRebuild:  {State: DeployFailed, Target: Active},
	VerbDeleted:  {State: Failed, Target: Available},
	VerbService:  {State: ServiceFailed, Target: Active, Fault: "service failure"},
	VerbRescue:   {State: RescueFailed, Target: Rescue},
	VerbUnrescue: {State: UnrescueFailed, Target: Active},
}
