// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

// Goal is a state that a host can be brought to, in the baremetal-operator's spelling.
type Goal string

// The goals.
const (
	Provisioned           Goal = "provisioned"            // deployed as wanted
	Available             Goal = "available"              // inspected, nothing of ours on it
	ExternallyProvisioned Goal = "externally provisioned" // runs what somebody else put on it
	Deleted               Goal = "deleted"                // no record
)

// Step is the one thing to do next.
type Step string

// The steps. Those that begin a transition are named by Ironic's verb.
const (
	Stop       Step = "stop"       // the goal is reached
	Wait       Step = "wait"       // something is under way
	Register   Step = "register"   // make the record
	Configure  Step = "configure"  // bring settings and journal in line
	VerifyBMC  Step = "verify bmc" // ask for the power state that the machine has
	Examine    Step = "examine"    // take over the inventory
	Manage     Step = "manage"
	Inspect    Step = "inspect"
	Provide    Step = "provide"
	Adopt      Step = "adopt"
	Deploy     Step = "active"
	Rebuild    Step = "rebuild"
	Undeploy   Step = "deleted"
	Abort      Step = "abort"
	Unmaintain Step = "unset maintenance"
	Maintain   Step = "set maintenance"
	On         Step = "power on"
	Off        Step = "power off"
	SoftOff    Step = "soft power off"
	Reboot     Step = "reboot"
	Unclaim    Step = "remove the claim"
	Remove     Step = "delete the record"
)

// Next returns the step that brings a host from what was seen one step nearer to the goal.
//
// It is pure: time, attempts and consent come in as facts. A state without a row is an
// error that names it, never a silent wait.
func Next(f Facts, goal Goal) (Step, error) {
	row, ok := table[f.State]
	if !ok {
		return "", &StuckError{State: f.State, Goal: goal, Reason: "this provider does not know that state; please report it"}
	}

	if step, err := guard(f, goal); step != "" || err != nil {
		return step, err
	}

	step, err := row[column(goal)](f)

	var stuck *StuckError
	if errors.As(err, &stuck) {
		stuck.Goal = goal // the cells serve several
	}

	if err != nil {
		return "", err
	}

	// The first attempt follows a look, each further one a failure.
	if limit, limited := limits(f, step); limited && tried(f, step) >= limit {
		if step == Undeploy && f.Force && goal == Deleted {
			return withMaintenance(f, Remove), nil
		}

		return "", &FailedError{Step: step, State: f.State, LastError: f.LastError, Attempts: tried(f, step)}
	}

	return step, nil
}

// tried is how often this run did a step, under whichever of its names.
func tried(f Facts, s Step) int {
	if s == Deploy || s == Rebuild {
		return f.Tried[Deploy] + f.Tried[Rebuild]
	}

	return f.Tried[s]
}

// table is the whole machine: one row per provision state, one column per goal. A host
// of which there is no record is in the state "".
//
// RAID, BIOS settings and firmware updates get their place in the cells prepared (manual
// cleaning before provide) and rest (servicing); the states of both have their rows.
var table = map[ironic.State]row{
	//                     provisioned   available     external      deleted
	"":                    {register, register, register, stop},
	ironic.Enroll:         {manage, manage, manage, unclaimed},
	ironic.Verifying:      {await, await, await, await},
	ironic.Manageable:     {prepared, inspected, adopt, end},
	ironic.Inspecting:     {await, await, await, await},
	ironic.InspectWait:    {await, await, await, abort},
	ironic.InspectFailed:  {inspect, inspect, manage, manage},
	ironic.Cleaning:       {await, await, await, await},
	ironic.CleanWait:      {await, await, await, abortClean},
	ironic.CleanHold:      {held, held, held, abort},
	ironic.CleanFailed:    {cleanAgain, recoverClean, recoverClean, recoverClean},
	ironic.Available:      {deploy, offered, manage, end},
	ironic.Deploying:      {await, await, await, await},
	ironic.WaitCallBack:   {await, undeploy, await, endBroken},
	ironic.DeployHold:     {held, held, held, abort},
	ironic.DeployFailed:   {deployAgain, undeploy, broken, endBroken},
	ironic.Active:         {deployed, vacate, rest, endActive},
	ironic.Deleting:       {await, await, await, await},
	ironic.Error:          {undeploy, undeploy, broken, endBroken},
	ironic.Adopting:       {await, await, await, await},
	ironic.AdoptFailed:    {adoptAgain, manage, adopt, manage},
	ironic.Servicing:      {await, await, await, await},
	ironic.ServiceWait:    {await, vacate, await, abort},
	ironic.ServiceHold:    {held, held, held, abort},
	ironic.ServiceFailed:  {abortService, vacate, abortService, endActive},
	ironic.Rescuing:       {await, await, await, await},
	ironic.RescueWait:     {rescued, vacate, rescued, endActive},
	ironic.Rescue:         {rescued, vacate, rescued, endActive},
	ironic.RescueFailed:   {rescued, vacate, rescued, endActive},
	ironic.Unrescuing:     {await, await, await, await},
	ironic.UnrescueFailed: {rescued, vacate, rescued, endActive},
}

// row holds the cells of one state, in the order of the goals.
type row [4]cell

// cell decides the step for one state and goal.
type cell func(Facts) (Step, error)

func column(g Goal) int {
	switch g {
	case Provisioned:
		return 0
	case Available:
		return 1
	case ExternallyProvisioned:
		return 2
	default:
		return 3
	}
}

// limits bounds how often one run does a step that can fail.
func limits(f Facts, s Step) (int, bool) {
	switch s {
	case Manage:
		return 2, f.State == ironic.Enroll || f.State == ironic.InspectFailed || f.State == ironic.AdoptFailed
	case Inspect:
		return 2, true
	case Adopt:
		return 2, true
	case Deploy, Rebuild:
		return max(f.Attempts, 1), true
	case Undeploy:
		return 1 + undeployRetries, true
	case Provide:
		return provideAttempts, true
	case Abort:
		return 3, true
	case Unmaintain, Maintain, Unclaim, Remove:
		return stubborn, true
	default:
		return 0, false
	}
}

// provideAttempts is how often one run lets a host be cleaned for its deployment.
const provideAttempts = 3

// stubborn bounds what succeeds at once or is undone by somebody each time.
const stubborn = 8

// undeployRetries is how often a failed undeploy is begun again; the fourth failure is final,
// as in the baremetal-operator.
const undeployRetries = 3

// FailedError says that a step was done as often as it may be and did not succeed.
type FailedError struct {
	Step      Step
	State     ironic.State
	LastError string
	Attempts  int
}

func (e *FailedError) Error() string {
	s := fmt.Sprintf("%q did not succeed in %d attempts; the host is in %q", e.Step, e.Attempts, e.State)
	if e.Attempts == 1 {
		s = fmt.Sprintf("%q failed; the host is in %q", e.Step, e.State)
	}

	if e.LastError != "" {
		s += ": " + e.LastError
	}

	return s
}

// StuckError says that there is no way on that this provider may take by itself.
type StuckError struct {
	State  ironic.State
	Goal   Goal
	Reason string // a sentence without a full stop that also says what to do
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("no way from %q to %q: %s", e.State, e.Goal, e.Reason)
}
