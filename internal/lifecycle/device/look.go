// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Look implements [lifecycle.Machine]: one read of the machine, and of what else the stage needs.
func (a *attempt) Look(ctx context.Context, seen look, within time.Duration) (look, error) {
	patience := ctx
	if a.asked == NotAsked || (a.goal == GoalOnline && a.recorded) {
		patience = a.until(ctx) // nothing is lost if the user stops us here
	}

	if err := wait.Sleep(patience, a.run.Desk.pace(within)); err != nil {
		return seen, err
	}

	m, err := a.run.Desk.Fabric.Machine(ctx, a.host.MachineID)
	if errors.Is(err, fabric.ErrNotFound) {
		m, err = fabric.Machine{ID: a.host.MachineID, Status: "not found", State: fabric.Gone}, nil
	}

	if err != nil {
		return seen, a.forgivable(err)
	}

	a.looked = time.Now()
	a.run.saw(m)
	out := look{machine: m, task: seen.task}

	if a.hint.Task != "" && seen.task.State != fabric.TaskDone && seen.task.State != fabric.TaskFailed {
		a.askTask(ctx, &out)
	}

	a.facts(&out)

	if a.goal == GoalOnline && a.recorded && out.Here {
		a.seeNode(ctx, &out)
	}

	out.sight, _ = next(out.Facts, a.goal)
	if out.sight != seen.sight && a.run.Log != nil {
		a.run.log(ctx, a.host.Label()+": "+a.Note(out))
	}

	return out, nil
}

// forgivable marks errors of reads that must not end an attempt whose order was given: a
// gateway's page or a broken answer says nothing of the device, and giving up would lose it.
func (a *attempt) forgivable(err error) error {
	if a.asked == NotAsked || errors.Is(err, fabric.ErrAuth) || errors.Is(err, fabric.ErrConfig) || wait.IsTransient(err) {
		return err
	}

	return wait.Transient(err)
}

// askTask asks the manager how its job stands. What it does not answer the devices tell.
func (a *attempt) askTask(ctx context.Context, out *look) {
	tasks, ok := a.run.Desk.Fabric.(fabric.Tasks)
	if !ok {
		return
	}

	if t, err := tasks.Task(ctx, a.hint.Task); err == nil {
		out.task = t
	}
}

// facts turns a look into what the table decides on.
func (a *attempt) facts(out *look) {
	w, now, m := a.run.Wanted, time.Now(), out.machine
	working := a.hint.Task != "" && out.task.State == fabric.TaskRunning && out.task.ID != ""

	out.Facts = Facts{
		Seen: true, Machine: m.State, Settled: m.Settled(w.Type, w.Model) && !working,
		Recorded: a.recorded, Asked: a.asked, MaybeDone: a.maybe, Times: a.times,
		Task: out.task.State, TellsHealth: a.run.Desk.Fabric.Caps().ReportsHealth,
		KeepCritical: w.OnUnhealthy == UnhealthyKeep, Released: a.released, Due: now.Sub(a.began) > a.limit(),
	}

	if a.recorded {
		a.factsOfRecord(out, now)
	} else if a.asked != NotAsked {
		a.factsOfNew(out)
	}

	a.quiet(out, now)
}

// factsOfRecord are what a look shows of our device.
func (a *attempt) factsOfRecord(out *look, now time.Time) {
	out.HealthDue = now.Sub(a.arrived) > healthTime
	out.VisibleDue = now.Sub(a.arrived) > a.run.Wanted.Limits.Visible
	out.RescanDue = now.Sub(a.arrived) >= rescanTime && (a.rescan.IsZero() || now.Sub(a.rescan) > time.Minute)

	dev, here := out.machine.Find(a.record.device())
	if out.Here = here; !here {
		return
	}

	if out.Mistaken = a.record.mistakes(dev); !out.Mistaken {
		a.record = a.record.seen(dev)
	}

	out.Phase, out.Health = dev.Phase, dev.Health
	out.Shown = a.shown || a.node == nil || out.machine.Power == fabric.PowerOff
}

// factsOfNew are what came since the order.
func (a *attempt) factsOfNew(out *look) {
	w := a.run.Wanted

	for _, d := range out.machine.Of(w.Type, w.Model) {
		if a.chosen != nil && !a.chosen.Same(d) {
			continue // the order named its device: others are not what we wait for
		}

		if !has(a.before, d) {
			out.fresh = append(out.fresh, d)
		}
	}

	out.New = len(out.fresh)
	out.Elsewhere = a.namedElsewhere(out.fresh)
	_, out.Named = a.ours(out.fresh)
}

// namedElsewhere reports whether the answer names a device that is neither one of those that
// were there nor one of those that came.
func (a *attempt) namedElsewhere(fresh []fabric.Device) bool {
	for _, h := range a.hint.Devices {
		if !has(a.before, h) {
			return !slices.ContainsFunc(fresh, h.Same)
		}
	}

	return false
}

// ours picks the device that came of the order: the only one, or the only one that the
// answer names.
func (a *attempt) ours(fresh []fabric.Device) (fabric.Device, bool) {
	if len(fresh) == 1 && !a.namedElsewhere(fresh) {
		return fresh[0], true
	}

	var named []fabric.Device

	for _, d := range fresh {
		for _, h := range a.hint.Devices {
			if h.Same(d) {
				named = append(named, d)

				break
			}
		}
	}

	if len(named) == 1 {
		return named[0], true
	}

	return fabric.Device{}, false
}

// quiet counts the looks in a row that show nothing new on a settled machine.
func (a *attempt) quiet(out *look, now time.Time) {
	still := out.Settled && a.asked != NotAsked && (out.New == 0 || out.Elsewhere)

	if !still {
		a.quietReads, a.quietSince = 0, time.Time{}

		return
	}

	if a.quietReads++; a.quietReads == 1 {
		a.quietSince = now
	}

	need := settleTime
	if a.asked == Lost || a.maybe {
		need = settleTimeLost
	}

	// A job that the manager itself calls failed will not bring anything any more.
	if out.task.State == fabric.TaskFailed {
		need = 0
	}

	out.Quiet = a.quietReads >= settleReads && now.Sub(a.quietSince) >= need
}

// seeNode looks for the device on the host.
func (a *attempt) seeNode(ctx context.Context, out *look) {
	if a.node == nil || out.Shown {
		return
	}

	ctx, cancel := context.WithTimeout(a.until(ctx), time.Minute)
	defer cancel()

	after, visible, err := a.node.See(ctx, a.record)
	if err != nil {
		out.hidden = err.Error()

		return
	}

	a.record, a.shown = after, visible
	out.Shown = visible
}
