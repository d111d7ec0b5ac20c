// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"maps"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
)

// settle brings a node up to now, each stage at the time at which it was due.
func (c *Conductor) settle(n *record.Node) error {
	for due := n.Due(); !due.IsZero() && !c.Now.Before(due); due = n.Due() {
		if n.Power != nil {
			if err := c.finishPower(n, due); err != nil {
				return err
			}

			continue
		}

		if n.Walk.At++; n.Walk.At >= len(n.Walk.Stages) {
			n.Halt()

			break
		}

		if err := c.enter(n, due); err != nil {
			return err
		}
	}

	return c.SaveNode(n)
}

// begin starts a walk.
func (c *Conductor) begin(n *record.Node, verb string, steps []map[string]any) error {
	fail, err := c.TakeFailure(n, verb)
	if err != nil {
		return err
	}

	target, stages := c.walkOf(n, verb, steps)
	n.Walk = &record.Walk{Verb: verb, Target: target, Pace: c.Pace, Stages: stages, Steps: steps, Fail: fail}
	n.LastError = ""

	if err := c.enter(n, c.Now); err != nil {
		return err
	}

	return c.settle(n)
}

// enter enters the stage that the walk is at, and does what it says. An effect that fails
// ends the walk; an error of the store is returned.
func (c *Conductor) enter(n *record.Node, at time.Time) error {
	w := n.Walk
	s := w.Current()

	n.Set(s.State, w.Target, at)
	n.TargetPowerState = s.Power
	showStep(n, s)

	w.Until = time.Time{}
	if s.Paces >= 0 {
		w.Until = at.Add(time.Duration(s.Paces) * w.Pace)
	}

	if w.Fail != nil {
		if done, err := c.scripted(n, at); done || err != nil {
			return err
		}
	}

	for _, name := range strings.Split(s.Do, ",") {
		if name == "" {
			continue
		}

		err := effects[name](c, n, at)

		var why *Broken
		if AsBroken(err, &why) {
			return c.abandon(n, why.Text, at)
		}

		if err != nil {
			return err
		}
	}

	if w.At == len(w.Stages)-1 && n.Walk == w {
		n.TargetProvisionState = ""
		n.Halt()
	}

	return nil
}

// showStep puts the step of a stage where its kind of walk shows it.
func showStep(n *record.Node, s record.Stage) {
	step := map[string]any{}
	if s.Step != "" {
		step = map[string]any{"step": s.Step, "interface": "deploy", "priority": 80, "abortable": true, "args": map[string]any{}}
	}

	if s.Step != "" && s.Index < len(n.Walk.Steps) {
		maps.Copy(step, n.Walk.Steps[s.Index])
	}

	switch n.Walk.Verb {
	case state.VerbClean, state.VerbProvide, state.VerbDeleted:
		n.CleanStep = step
	case state.VerbService:
		n.ServiceStep = step
	default:
		n.DeployStep = step
	}
}

// eventTypes are what the history calls the walks of a verb.
var eventTypes = map[string]string{
	state.VerbManage: "verify", state.VerbInspect: "introspection", state.VerbClean: "cleaning", state.VerbProvide: "cleaning",
	state.VerbAdopt: "adoption", state.VerbActive: "deploying", state.VerbRebuild: "deploying", state.VerbDeleted: "unprovision",
	state.VerbService: "servicing",
	state.VerbRescue:  "rescue", state.VerbUnrescue: "rescue",
}

// abandon ends a walk in the state that its verb fails in.
func (c *Conductor) abandon(n *record.Node, why string, at time.Time) error {
	w := n.Walk
	last := state.Endings[w.Verb]

	if w.Verb == state.VerbDeleted && n.ProvisionState != state.Deleting { // it is the cleaning that failed
		last = state.Endings[state.VerbProvide]
	}

	if w.Verb == state.VerbProvide || w.Verb == state.VerbDeleted && last.State == state.CleanFailed {
		last.Target = w.Target
	}

	n.Set(last.State, last.Target, at)
	n.LastError = why

	if last.Fault != "" && w.Begun {
		n.Maintenance, n.Fault, n.MaintenanceReason = true, last.Fault, why
	}

	n.Halt()

	return c.Note(n, eventTypes[w.Verb], why, at)
}

// scripted applies what a test asked to go wrong in this walk. It strikes where the failure
// names a state, else in the walk's last stage but the end.
func (c *Conductor) scripted(n *record.Node, at time.Time) (done bool, err error) {
	w, f := n.Walk, n.Walk.Fail

	here := f.In == n.ProvisionState || f.In == "" && w.At == max(0, len(w.Stages)-2)
	if !here {
		return false, nil
	}

	if f.Hang {
		w.Until = time.Time{}

		return true, nil
	}

	if f.After > 0 && w.At < len(w.Stages)-1 { // it fails when this stage is over
		w.Until = at.Add(f.After)
		w.Stages = append(w.Stages[:w.At+1:w.At+1], record.Stage{State: n.ProvisionState, Locked: true, Do: "fail"})

		return true, nil
	}

	return true, c.failAs(n, at)
}

// failAs ends a walk exactly as a test's failure says.
func (c *Conductor) failAs(n *record.Node, at time.Time) error {
	f := n.Walk.Fail
	n.Walk.Begun = n.Walk.Begun || f.Fault != ""

	if err := c.abandon(n, f.LastError, at); err != nil {
		return err
	}

	if f.State != "" {
		n.ProvisionState = f.State
	}

	if f.Fault != "" {
		n.Maintenance, n.Fault, n.MaintenanceReason = true, f.Fault, f.LastError
	}

	return nil
}
