// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// maintenanceReason says in Ironic why a node is in maintenance before its record goes.
const maintenanceReason = ManagedBy + ": the record is being deleted"

// Do implements [lifecycle.Machine]: one step.
func (r *Run) Do(ctx context.Context, seen Seen, step Step) (Seen, bool, error) {
	p := phaseOfStep(step)
	if step == On || step == Off || step == SoftOff || step == Reboot {
		p = phasePower
	}

	if p != "" && p != r.phase {
		r.phase, r.entered = p, time.Now()
	}

	if err := r.enterGate(ctx, seen, step); err != nil {
		return seen, false, err
	}

	r.log(ctx, "step", map[string]any{"step": string(step), "node_uuid": seen.Node.UUID, "ironic_state": string(seen.Node.ProvisionState), "attempt": r.mem.tried[step] + 1})
	after, fresh, err := r.do(ctx, seen, step)

	switch {
	case errors.Is(err, ironic.ErrTransition), errors.Is(err, ironic.ErrRefused) && verbOf(step) != "",
		errors.Is(err, ironic.ErrConflict) && (step == Deploy || step == Rebuild):
		// The host moved between look and verb, or was claimed: by a write of an earlier run
		// even, which was cut short while Ironic had it still in a queue. Look again, at the
		// whole record, and decide anew. A refusal that comes back each time is final.
		r.opaque = true

		if r.mem.tried[refusal]++; r.mem.tried[refusal] > 5 {
			return after, false, err
		}

		return seen, false, wait.Transient(err)
	case err == nil || !wait.IsTransient(err):
		r.mem.tried[step]++
	}

	return after, fresh, err
}

// refusal counts the verbs that Ironic refused although the table allows them.
const refusal Step = "refused"

func (r *Run) do(ctx context.Context, seen Seen, step Step) (Seen, bool, error) {
	id := seen.Node.UUID

	switch step {
	case Register:
		after, err := r.register(ctx)

		return after, err == nil, err
	case Configure:
		after, err := r.configure(ctx, seen)

		return after, err == nil, err
	case Examine:
		after, err := r.examine(ctx, seen)

		return after, err == nil, err
	case Unclaim:
		after, err := r.write(ctx, seen, r.enter(seen, step), PartUnclaim)

		return after, err == nil, err
	case Unmaintain:
		r.Warnings = append(r.Warnings, fmt.Sprintf("The node was in maintenance (%s); it was taken out, because Ironic refuses %s in maintenance.",
			orNone(seen.Node.MaintenanceReason), "what had to be done"))

		return r.afterwards(ctx, seen, r.Backend.Maintain(ctx, id, ""))
	case Maintain:
		return r.afterwards(ctx, seen, r.Backend.Maintain(ctx, id, maintenanceReason))
	case Remove:
		return seen, false, r.remove(ctx, seen)
	case On, Off, SoftOff, Reboot, VerifyBMC:
		return seen, false, r.power(ctx, seen, step)
	default:
		after, err := r.begin(ctx, seen, step)

		return after, false, err
	}
}

// afterwards looks anew after a change that a glance would show only later.
func (r *Run) afterwards(ctx context.Context, seen Seen, err error) (Seen, bool, error) {
	if err != nil {
		return seen, false, err
	}

	after, err := r.Backend.Look(ctx, seen.Node.UUID)
	if err != nil {
		return seen, false, err
	}

	return after, true, nil
}

// begin writes what a transition needs and then starts it. The journal goes first: Ironic
// refuses changes of a record during a transition.
func (r *Run) begin(ctx context.Context, seen Seen, step Step) (Seen, error) {
	part := PartSettings
	if step == Deploy || step == Rebuild || step == Adopt && r.runsAsWanted(seen) {
		part = PartDeploy
	}

	// Verbs that only end something need no settings; in deletions none are wanted at all.
	if r.Goal == Deleted || step == Abort || step == Undeploy {
		part = PartJournal
	}

	if Resting(seen.Node.ProvisionState) { // nothing can be written in any other state
		after, err := r.write(ctx, seen, r.enter(seen, step), part)
		if err != nil {
			return seen, err
		}

		moved := after.Node.ProvisionState != seen.Node.ProvisionState
		if seen = after; moved {
			return seen, ironic.ErrTransition // decide anew; the step was not tried
		}
	}

	if step == Inspect {
		r.remarkInspection(ctx)
	}

	if step == Deploy || step == Rebuild {
		if err := r.Backend.Validate(ctx, seen.Node.UUID); err != nil {
			return seen, err
		}
	}

	r.opaque = r.opaque || step == Inspect || step == Undeploy || step == Rebuild || step == Adopt

	return seen, r.Backend.Start(ctx, seen, r.Wanted, verbOf(step))
}

// runsAsWanted reports whether what runs on a host whose record was made anew is what is
// wanted: then the record says so again, as it did before.
func (r *Run) runsAsWanted(seen Seen) bool {
	wanted := r.Wanted.Image != nil || r.Wanted.CustomDeploy != nil

	return wanted && seen.Journal.Adopt && len(Differences(seen.Applied(), seen.Journal.TriggersSHA256, r.Wanted)) == 0
}

// remarkInspection says where the machine cannot be inspected as it is wanted: "agent" is
// the default, so an old far side does what its driver does instead of failing.
func (r *Run) remarkInspection(ctx context.Context) {
	if r.Wanted.InspectionMode != "agent" || r.mem.tried[Inspect] > 0 {
		return
	}

	if err := r.Backend.Supports(ctx, FeatureAgentInspection); err != nil && !wait.IsTransient(err) {
		r.Warnings = append(r.Warnings, err.Error()+"; the machine is inspected as its driver does by default, which may give no inventory.")
	}
}

// verbOf is Ironic's verb for a step, empty for steps that are none.
func verbOf(s Step) ironic.Verb {
	switch s {
	case Manage, Inspect, Provide, Adopt, Deploy, Rebuild, Undeploy, Abort:
		return ironic.Verb(s)
	default:
		return ""
	}
}

// enter returns the journal of a host that enters a step's phase.
func (r *Run) enter(seen Seen, step Step) Journal {
	j, p := seen.Journal, phaseOfStep(step)
	if r.Wanted.Tenancy != nil {
		return j // the host's; a machine has its own note
	}

	if r.Goal != Deleted {
		j = j.settings(r.Wanted)
	}

	// Provide needs no entry of its own: the state tells it.
	if p != "" && p != j.Phase && step != Provide {
		j.Phase, j.PhaseStarted = p, stamp(time.Now().Truncate(time.Second))
	}

	switch step {
	case Inspect:
		j.InspectBefore = stamp(seen.Node.InspectionFinishedAt)
	case Deploy, Rebuild:
		j.Applied = WantedApplied(r.Wanted)
		j.TriggersSHA256 = r.Wanted.Reprovision.TriggersSHA256
	case Adopt:
		if r.Wanted.Image != nil || r.Wanted.CustomDeploy != nil {
			j.Applied.InstanceUUID = r.Wanted.claim()
		}
	default: // nothing but the phase
	}

	return j
}

// write writes a part of the record. Credentials are sent again once: Ironic masks them, so
// nothing shows whether they are there.
func (r *Run) write(ctx context.Context, seen Seen, j Journal, part Part) (Seen, error) {
	after, err := r.Backend.Write(ctx, seen, r.Wanted, j, part)
	if err == nil && r.Wanted.BMC.Rewrite && (part == PartSettings || part == PartDeploy) {
		r.Wanted.BMC.Rewrite, r.mem.rewritten = false, true
	}

	return after, err
}

// configure brings settings, ports, traits and the journal of a host at rest in line.
func (r *Run) configure(ctx context.Context, seen Seen) (Seen, error) {
	j := seen.Journal.settings(r.Wanted)
	if !seen.consumed(r.Wanted, r.Goal) && (r.mem.tried[Configure] > 0 || r.final(seen)) {
		j = seen.finished(r.Wanted, r.Goal, r.mem, time.Now().Truncate(time.Second))
	}

	if r.Wanted.BMC.Rewrite && r.mem.tried[Configure] == 0 {
		if err := r.Direct.Check(ctx, r.Wanted.BMC); err != nil {
			return seen, err // nothing was written: what works still works
		}
	}

	ports := seen.Ports

	after, err := r.write(ctx, seen, j, PartSettings)
	if err != nil {
		return seen, err
	}

	if after.Ports, err = r.Backend.EnsurePorts(ctx, after, r.Wanted); err != nil {
		after.Ports = ports

		return after, err
	}

	if err = r.Backend.EnsureTraits(ctx, after, r.Wanted); err == nil && r.Wanted.Traits != nil {
		after.Node.Traits = r.Wanted.Traits // the record in hand is from before
	}

	return after, err
}

// final reports whether nothing but settings keeps the host from its goal.
func (r *Run) final(seen Seen) bool {
	f := Observe(seen, r.Wanted, r.Goal, nil, r.mem)
	f.InSync, f.VerifyBMC = true, false
	f.PowerIgnored = true

	step, err := Next(f, r.Goal)

	return err == nil && (step == Stop || step == Configure)
}

// examine takes over the inventory of an inspection.
func (r *Run) examine(ctx context.Context, seen Seen) (Seen, error) {
	raw, err := r.Backend.Inventory(ctx, seen.Node.UUID)
	if err != nil && !gone(err) {
		return seen, err
	}

	r.Inventory = raw
	seen.Journal.InspectedAt = stamp(seen.Node.InspectionFinishedAt)
	seen.Journal.InventorySHA256 = ""

	if raw != nil {
		sum := sha256.Sum256(raw)
		seen.Journal.InventorySHA256 = hex.EncodeToString(sum[:])
	}

	seen.Journal.InspectTrigger = r.Wanted.InspectTrigger

	return seen, nil
}

// power asks for a power state once; the looks that follow wait for it.
func (r *Run) power(ctx context.Context, seen Seen, step Step) error {
	target := ironic.Power(step)

	switch step {
	case Reboot:
		target = ironic.SoftRebooting
		if r.Wanted.RebootMode == "hard" {
			target = ironic.Rebooting
		}
	case VerifyBMC:
		return r.verify(ctx, seen)
	default: // the step is the target
	}

	r.pressed, r.pressedOn, r.moved = time.Now(), seen, false
	r.mem.powerError, r.mem.pressing = "", true

	return r.Backend.Power(ctx, seen.Node.UUID, target)
}

// remove deletes the record. A record that is gone already is what was wanted.
func (r *Run) remove(ctx context.Context, seen Seen) error {
	if n := seen.Node; n.Protected && n.ProtectedReason == ProtectedReason && Resting(n.ProvisionState) {
		// Ironic deletes no protected record, also not one that is in maintenance.
		if _, err := r.write(ctx, seen, seen.Journal, PartJournal); err != nil && !gone(err) {
			return err
		}
	}

	if err := r.Backend.Remove(ctx, seen.Node.UUID); err != nil && !gone(err) {
		return err
	}

	return nil
}

func orNone(s string) string {
	if s == "" {
		return "no reason given"
	}

	return s
}
