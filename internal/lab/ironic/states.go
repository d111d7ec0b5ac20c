// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

// The provision states, as Ironic spells them (ironic/common/states.py).
const (
	enroll         = "enroll"
	verifying      = "verifying"
	manageable     = "manageable"
	available      = "available"
	inspecting     = "inspecting"
	inspectWait    = "inspect wait"
	inspectFailed  = "inspect failed"
	cleaning       = "cleaning"
	cleanWait      = "clean wait"
	cleanHold      = "clean hold"
	cleanFailed    = "clean failed"
	deploying      = "deploying"
	waitCallBack   = "wait call-back"
	deployHold     = "deploy hold"
	deployFailed   = "deploy failed"
	active         = "active"
	deleting       = "deleting"
	failed         = "error"
	adopting       = "adopting"
	adoptFailed    = "adopt failed"
	servicing      = "servicing"
	serviceWait    = "service wait"
	serviceHold    = "service hold"
	serviceFailed  = "service failed"
	rescuing       = "rescuing"
	rescueWait     = "rescue wait"
	rescue         = "rescue"
	rescueFailed   = "rescue failed"
	unrescuing     = "unrescuing"
	unrescueFailed = "unrescue failed"
)

// The verbs: targets of PUT /v1/nodes/{node}/states/provision.
const (
	verbManage   = "manage"
	verbInspect  = "inspect"
	verbClean    = "clean"
	verbProvide  = "provide"
	verbAdopt    = "adopt"
	verbActive   = "active"
	verbRebuild  = "rebuild"
	verbDeleted  = "deleted"
	verbAbort    = "abort"
	verbUnhold   = "unhold"
	verbRescue   = "rescue"
	verbUnrescue = "unrescue"
	verbService  = "service"
)

// verbs is the table of what each state accepts and where it leads first.
var verbs = map[string]map[string]string{
	enroll:     {verbManage: verifying},
	manageable: {verbInspect: inspecting, verbClean: cleaning, verbProvide: cleaning, verbAdopt: adopting},
	available:  {verbActive: deploying, verbManage: manageable},

	inspecting:    {},
	inspectWait:   {verbAbort: inspectFailed},
	inspectFailed: {verbManage: manageable, verbInspect: inspecting},

	cleaning:    {},
	cleanWait:   {verbAbort: cleanFailed},
	cleanHold:   {verbUnhold: cleanWait, verbAbort: cleanFailed},
	cleanFailed: {verbManage: manageable},

	deploying:    {},
	waitCallBack: {verbDeleted: deleting, verbAbort: deployFailed},
	deployHold:   {verbUnhold: waitCallBack, verbAbort: deployFailed},
	deployFailed: {verbActive: deploying, verbRebuild: deploying, verbDeleted: deleting},
	active:       {verbRebuild: deploying, verbDeleted: deleting, verbRescue: rescuing, verbService: servicing},
	deleting:     {},
	failed:       {verbRebuild: deploying, verbDeleted: deleting},

	verifying:   {},
	adopting:    {},
	adoptFailed: {verbAdopt: adopting, verbManage: manageable},

	servicing:     {},
	serviceWait:   {verbAbort: serviceFailed, verbDeleted: deleting},
	serviceHold:   {verbService: servicing, verbUnhold: serviceWait, verbAbort: serviceFailed},
	serviceFailed: {verbService: servicing, verbRescue: rescuing, verbAbort: active, verbDeleted: deleting},

	rescuing:       {},
	rescueWait:     {verbAbort: rescueFailed, verbDeleted: deleting},
	rescue:         {verbRescue: rescuing, verbUnrescue: unrescuing, verbDeleted: deleting},
	rescueFailed:   {verbRescue: rescuing, verbUnrescue: unrescuing, verbDeleted: deleting},
	unrescuing:     {},
	unrescueFailed: {verbRescue: rescuing, verbUnrescue: unrescuing, verbDeleted: deleting},
}

// later are table entries that an older server does not have: the first API version whose
// server has them. 29.0.5 (1.96) refuses both.
var later = map[[2]string]int{
	{waitCallBack, verbAbort}:  110,
	{serviceFailed, verbAbort}: 110,
}

// accepts tells whether a server that speaks up to 1.minor takes a verb in a state, and the
// state that follows.
func accepts(state, verb string, minor int) (string, bool) {
	next, ok := verbs[state][verb]

	return next, ok && later[[2]string{state, verb}] <= minor
}

// aliases of verbs, from API 1.73 on.
var aliases = map[string]string{"deploy": verbActive, "undeploy": verbDeleted}

// verbSince is the API version that a verb needs; older requests get 406.
var verbSince = map[string]int{
	verbManage: 4, verbProvide: 4, verbInspect: 6, verbAbort: 13, verbClean: 15, verbAdopt: 17,
	verbRescue: 38, verbUnrescue: 38, "deploy": 73, "undeploy": 73, verbUnhold: 85, verbService: 87,
}

// updatable are the transitional states in which a node can be patched. 29.0.5 refuses a
// patch in "inspecting" from API 1.39 on, whatever its own list of states says.
var updatable = map[string]bool{
	deployFailed: true, inspectFailed: true, inspectWait: true, cleanFailed: true, failed: true, verifying: true,
	adoptFailed: true, rescueFailed: true, unrescueFailed: true, serviceHold: true, serviceFailed: true,
}

// configurable are the states in which driver and interfaces can be changed without maintenance.
var configurable = []string{enroll, inspecting, inspectWait, manageable, available}

// deletable are the states in which a node can be deleted without maintenance.
var deletable = []string{manageable, enroll, adoptFailed, available}

// ending is where a verb ends that fails on the way, and with which target and fault.
type ending struct{ state, target, fault string }

var endings = map[string]ending{
	verbManage:   {state: enroll},
	verbInspect:  {state: inspectFailed, target: manageable},
	verbClean:    {state: cleanFailed, target: manageable, fault: "clean failure"},
	verbProvide:  {state: cleanFailed, target: available, fault: "clean failure"},
	verbAdopt:    {state: adoptFailed, target: active},
	verbActive:   {state: deployFailed, target: active},
	verbRebuild:  {state: deployFailed, target: active},
	verbDeleted:  {state: failed, target: available},
	verbService:  {state: serviceFailed, target: active, fault: "service failure"},
	verbRescue:   {state: rescueFailed, target: rescue, fault: ""},
	verbUnrescue: {state: unrescueFailed, target: active},
}
