// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// settleAll does what has become due on any node since the last request.
func (c *call) settleAll() error {
	if c.down {
		return nil
	}

	ids, err := c.overdue(c.now)
	if err != nil || len(ids) == 0 {
		return err
	}

	if !c.write {
		return errReadOnly
	}

	for _, id := range ids {
		n, err := c.node(id)
		if err != nil {
			return err
		}

		if err := c.settle(n); err != nil {
			return err
		}
	}

	return nil
}

// settle brings a node up to now, each stage at the time at which it was due.
func (c *call) settle(n *node) error {
	for due := n.due(); !due.IsZero() && !c.now.Before(due); due = n.due() {
		if n.Power != nil {
			if err := c.finishPower(n, due); err != nil {
				return err
			}

			continue
		}

		if n.Walk.At++; n.Walk.At >= len(n.Walk.Stages) {
			n.halt()

			break
		}

		if err := c.enter(n, due); err != nil {
			return err
		}
	}

	return c.save(n)
}

// begin starts a walk.
func (c *call) begin(n *node, verb string, steps []map[string]any) error {
	fail, err := c.failure(n, verb)
	if err != nil {
		return err
	}

	target, stages := c.walkOf(n, verb, steps)
	n.Walk = &walk{Verb: verb, Target: target, Started: c.now, Pace: c.Pace, Stages: stages, Steps: steps, Fail: fail}
	n.LastError = ""

	if err := c.enter(n, c.now); err != nil {
		return err
	}

	return c.settle(n)
}

// enter enters the stage that the walk is at, and does what it says. An effect that fails
// ends the walk; an error of the store is returned.
func (c *call) enter(n *node, at time.Time) error {
	w := n.Walk
	s := w.stage()

	n.set(s.State, w.Target, at)
	n.TargetPowerState = s.Power
	n.show(s)

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

		var broke *broken
		if errors.As(err, &broke) {
			return c.abandon(n, broke.text, at)
		}

		if err != nil {
			return err
		}
	}

	if w.At == len(w.Stages)-1 && n.Walk == w {
		n.TargetProvisionState = ""
		n.halt()
	}

	return nil
}

// show puts the step of a stage where its kind of walk shows it.
func (n *node) show(s stage) {
	step := map[string]any{}
	if s.Step != "" {
		step = map[string]any{"step": s.Step, "interface": "deploy", "priority": 80, "abortable": true, "args": map[string]any{}}
	}

	if s.Step != "" && s.Index < len(n.Walk.Steps) {
		for k, v := range n.Walk.Steps[s.Index] {
			step[k] = v
		}
	}

	switch n.Walk.Verb {
	case verbClean, verbProvide, verbDeleted:
		n.CleanStep = step
	case verbService:
		n.ServiceStep = step
	default:
		n.DeployStep = step
	}
}

// broken is what an effect returns when the machine, not the lab, does not play along.
type broken struct{ text string }

func (b *broken) Error() string { return b.text }

func broke(format string, args ...any) error { return &broken{fmt.Sprintf(format, args...)} }

// eventTypes are what the history calls the walks of a verb.
var eventTypes = map[string]string{
	verbManage: "verify", verbInspect: "introspection", verbClean: "cleaning", verbProvide: "cleaning", verbAdopt: "adoption",
	verbActive: "deploying", verbRebuild: "deploying", verbDeleted: "unprovision", verbService: "servicing",
	verbRescue: "rescue", verbUnrescue: "rescue",
}

// abandon ends a walk in the state that its verb fails in.
func (c *call) abandon(n *node, why string, at time.Time) error {
	w := n.Walk
	last := endings[w.Verb]

	if w.Verb == verbDeleted && n.ProvisionState != deleting { // it is the cleaning that failed
		last = endings[verbProvide]
	}

	if w.Verb == verbProvide || w.Verb == verbDeleted && last.state == cleanFailed {
		last.target = w.Target
	}

	n.set(last.state, last.target, at)
	n.LastError = why

	if last.fault != "" && w.Begun {
		n.Maintenance, n.Fault, n.MaintenanceReason = true, last.fault, why
	}

	n.halt()

	return c.record(n, eventTypes[w.Verb], why, at)
}

// scripted applies what a test asked to go wrong in this walk. It strikes where the failure
// names a state, else in the walk's last stage but the end.
func (c *call) scripted(n *node, at time.Time) (done bool, err error) {
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
		w.Stages = append(w.Stages[:w.At+1:w.At+1], stage{State: n.ProvisionState, Locked: true, Do: "fail"})

		return true, nil
	}

	return true, c.failAs(n, at)
}

// failAs ends a walk exactly as a test's failure says.
func (c *call) failAs(n *node, at time.Time) error {
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
