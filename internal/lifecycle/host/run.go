// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Run brings one host to one goal. It is made for one verb and not used again.
type Run struct {
	Backend Backend
	Wanted  Wanted
	Goal    Goal
	Budget  *wait.Budget // stopped while the host waits at the capacity gate; may be nil

	// Direct tries changed BMC credentials before they are written, where that is possible.
	Direct Direct

	// Log tells what happens: the message, then pairs of keys and values. It may be nil.
	Log func(ctx context.Context, msg string, fields map[string]any)

	// Inventory is what an inspection of this run found, nil where none was made.
	Inventory json.RawMessage
	// Warnings are sentences for the user about what was met on the way.
	Warnings []string
	// Words are the failures that the far side reported during this run, oldest first.
	Words []string

	mem       memory
	inGate    string    // the host's id at the capacity gate; empty: it has no place
	pressed   time.Time // when the last power request was sent
	pressedOn Seen
	moved     bool // the power target was seen after it
	phase     Phase
	entered   time.Time // when the phase began
	faultAt   time.Time
	written   bool
	opaque    bool // a transition was begun that may end before the first look shows it
}

// Settled reports whether the settings that the user wants were written to the far side.
func (r *Run) Settled() bool { return r.written }

// To drives the host from what was seen to the run's goal and returns the last look.
func (r *Run) To(ctx context.Context, seen Seen) (Seen, error) {
	r.init()

	defer r.leaveGate()

	r.note(seen)
	r.phase, r.entered = Phase(seen.ProvisioningState()), time.Now() // what is under way counts from now on

	seen, err := lifecycle.Drive[Seen, Step](ctx, r, seen)
	r.Backend.Forget() // who reads after this run must not be answered from a list of before its end

	if err == nil && r.Goal != Deleted {
		r.written = true
	}

	return seen, err
}

func (r *Run) init() {
	if r.mem.tried == nil {
		r.mem.tried = map[Step]int{}
	}
}

// Next implements [lifecycle.Machine].
func (r *Run) Next(seen Seen) (Step, lifecycle.Kind, error) {
	step, err := Next(Observe(seen, r.Wanted, r.Goal, r.differs(seen), r.mem), r.Goal)

	// Ironic's second word on a failure is often an emptier one.
	var failed *FailedError
	if errors.As(err, &failed) && failed.LastError == "" && len(r.Words) > 0 {
		failed.LastError = r.Words[len(r.Words)-1]
	}

	switch late := r.overdue(seen); {
	case err != nil:
		return step, lifecycle.End, err
	case step == Stop:
		return step, lifecycle.End, nil
	case late != nil:
		return step, lifecycle.End, late
	case step == Wait:
		return step, lifecycle.Idle, nil
	default:
		return step, lifecycle.Act, nil
	}
}

// differs asks the backend only where the answer matters: in states that take changes.
func (r *Run) differs(seen Seen) []string {
	if r.Goal == Deleted || r.Wanted.Tenancy != nil || !Resting(seen.Node.ProvisionState) {
		return nil
	}

	return r.Backend.Differs(seen, r.Wanted)
}

// Look implements [lifecycle.Machine].
func (r *Run) Look(ctx context.Context, seen Seen, within time.Duration) (Seen, error) {
	id := seen.Node.UUID
	if id == "" {
		id = r.Wanted.ID
	}

	glance, err := r.Backend.Glance(ctx, id, within)
	if gone(err) {
		return Seen{}, nil
	}

	if err != nil {
		return seen, err
	}

	before := seen.Node.ProvisionState
	if (before == ironic.Enroll || before == ironic.Verifying) && glance.ProvisionState == ironic.Manageable {
		r.mem.verified = true // Ironic has just logged in to the BMC
	}

	after := seen
	after.Node = glance.Onto(seen.Node)
	r.opaque = r.opaque || rewrites(before) || rewrites(glance.ProvisionState)

	// The record itself changes only in some transitions; then the cheap look is not enough.
	if Resting(after.Node.ProvisionState) && (r.opaque || stale(before, after.Node.ProvisionState)) {
		r.opaque = false

		if after, err = r.Backend.Look(ctx, id); gone(err) {
			return Seen{}, nil
		} else if err != nil {
			return seen, err
		}
	}

	r.note(after)

	return after, nil
}

// rewrites reports whether a state stands for work that changes more of a record than a
// glance shows: inspection fills in properties and times, an undeploy wipes instance_info and
// the claim. The states that follow it may hide it.
func rewrites(s ironic.State) bool {
	switch s {
	case ironic.Inspecting, ironic.InspectWait, ironic.Deleting, ironic.Adopting:
		return true
	default:
		return false
	}
}

// stale reports whether a transition may have changed more of a record than a glance shows.
// Those on the way from a new record to a deployed machine do not.
func stale(before, after ironic.State) bool {
	if before == after || !Resting(after) {
		return false
	}

	switch before {
	case ironic.Verifying, ironic.Deploying, ironic.WaitCallBack:
		return false
	case ironic.Enroll:
		return after != ironic.Manageable
	case ironic.Manageable, ironic.Cleaning, ironic.CleanWait:
		return after != ironic.Available
	default:
		return true
	}
}

// Note implements [lifecycle.Machine].
func (r *Run) Note(seen Seen) string {
	n := seen.Node
	if n.ProvisionState == "" {
		return "no record"
	}

	s := fmt.Sprintf("%q", n.ProvisionState)
	if n.TargetProvisionState != "" {
		s += fmt.Sprintf(" on the way to %q", n.TargetProvisionState)
	}

	if n.TargetPowerState != "" {
		s += fmt.Sprintf(", %q asked for", n.TargetPowerState)
	}

	if n.Fault != "" {
		s += fmt.Sprintf(", fault %q", n.Fault)
	}

	if n.Reservation != "" {
		s += ", locked by " + n.Reservation
	}

	return s
}

// note keeps what a look adds to this run's memory.
func (r *Run) note(seen Seen) {
	n := seen.Node

	if words := strings.TrimSpace(n.LastError); words != "" && (Failed(n.ProvisionState) || n.ProvisionState == ironic.Enroll) {
		if len(r.Words) == 0 || r.Words[len(r.Words)-1] != words {
			r.Words = append(r.Words, words)
		}
	}

	if r.pressed.IsZero() {
		return
	}

	if n.TargetPowerState != "" {
		r.moved = true
	}

	// The request is accepted before the conductor notes its target, so an old last_error
	// counts only once the target was seen, the words changed, or some time has passed.
	const begun = 3 * time.Second

	settled := n.TargetPowerState == "" && (r.moved || n.LastError != r.pressedOn.Node.LastError || time.Since(r.pressed) > begun)
	r.mem.pressing = !settled
	if r.mem.powerError = ""; settled {
		r.mem.powerError = n.LastError
	}
}

// Failed reports whether a state is one in which Ironic stops after a failure.
func Failed(s ironic.State) bool { return s == ironic.Error || strings.HasSuffix(string(s), "failed") }

// overdue ends a phase that lasts longer than the user allows, and a power failure that
// does not heal.
func (r *Run) overdue(seen Seen) error {
	// Ironic looks after a machine in power failure every five minutes by default.
	const healing = 12 * time.Minute

	if seen.Node.Fault != faultPower {
		r.faultAt = time.Time{}
	} else if r.faultAt.IsZero() {
		r.faultAt = time.Now()
	}

	if limit := r.limit(phasePower, healing); !r.faultAt.IsZero() && time.Since(r.faultAt) > limit {
		return &StuckError{seen.Node.ProvisionState, r.Goal, fmt.Sprintf("the power state of the machine could not be read for %s (fault %q): %s",
			limit, seen.Node.Fault, seen.Node.MaintenanceReason)}
	}

	if r.Goal == Deleted && !r.phase.ends() {
		return nil // what was under way before bounds no delete
	}

	if limit := r.limit(r.phase, 0); limit > 0 && !r.entered.IsZero() && time.Since(r.entered) > limit {
		return &wait.TimeoutError{Waited: time.Since(r.entered), Note: fmt.Sprintf("%s (phase_timeouts.%s = %s)", r.Note(seen), phaseKey(r.phase), limit), Cause: context.DeadlineExceeded}
	}

	return nil
}

func (r *Run) limit(p Phase, otherwise time.Duration) time.Duration {
	if d, ok := r.Wanted.PhaseTimeouts[p]; ok {
		return d
	}

	return otherwise
}

// phasePower is not a phase of a host's life, but waiting for its power has a bound, too.
const phasePower Phase = "power"

// phaseKey is the key of phase_timeouts that bounds a phase.
func phaseKey(p Phase) string {
	switch p {
	case PhaseRegistering:
		return "register"
	case PhaseInspecting:
		return "inspect"
	case PhasePreparing:
		return "prepare"
	case PhaseProvisioning:
		return "provision"
	case PhaseDeprovisioning:
		return "deprovision"
	default:
		return "power"
	}
}

func (r *Run) log(ctx context.Context, msg string, fields map[string]any) {
	if r.Log == nil {
		return
	}

	fields["host"] = NodeName(r.Wanted.Namespace, r.Wanted.Name)
	r.Log(ctx, msg, fields)
}
