// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/workload"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// tidyTime bounds what is done on a host after the fabric's part is over.
const tidyTime = time.Minute

// attach brings one device to a host. It reports whether the next one may be tried.
func (r *Run) attach(ctx context.Context, h Host) bool {
	unlock, err := r.Desk.work.lock(ctx, h.MachineID)
	if err != nil {
		return false // interrupted while somebody else worked on the machine
	}
	defer unlock()

	a := &attempt{run: r, host: h, goal: GoalOnline}
	if r.Wanted.WaitVisible {
		a.node = h.Node
	}

	err = a.drive(ctx, r.Wanted.Limits.Attach)
	r.closeIntent(a)

	return r.judge(ctx, a, err, true)
}

// prove brings a device that is on its machine to Online.
func (r *Run) prove(ctx context.Context, h Host, rec Record) {
	unlock, err := r.Desk.work.lock(ctx, h.MachineID)
	if err != nil {
		return
	}
	defer unlock()

	a := &attempt{run: r, host: h, goal: GoalOnline, record: rec, recorded: true, arrived: time.Now(), asked: Accepted}
	if r.Wanted.WaitVisible {
		a.node = h.Node
	}

	err = a.drive(ctx, r.Wanted.Limits.Attach)
	if a.ended == Vanished {
		r.forget(rec)
		r.warn(fmt.Sprintf("Device %s is no longer on %s.", rec.Label(), h.Label()))

		return
	}

	r.judge(ctx, a, err, false)
}

// judge puts into the result what an attempt to attach left. Only a device that this very
// attempt brought is given back where it is unfit: others may be in use.
func (r *Run) judge(ctx context.Context, a *attempt, err error, brought bool) bool {
	r.warn(a.warnings...)

	if a.node != nil {
		r.warn(a.node.Warnings()...)
	}

	rec := a.record

	switch {
	case err == nil:
		rec.State, rec.Error = Online, ""
		r.keep(rec, true)

		if rec.Health == fabric.HealthWarning {
			r.warn(fmt.Sprintf("Device %s on %s is attached with a warning: the fabric says %q.", rec.Label(), a.host.Label(), rec.HealthRaw))
		}

		if rec.Health == fabric.HealthCritical {
			r.warn(fmt.Sprintf("Device %s on %s is critical (the fabric says %q) and stays, as on_unhealthy says.", rec.Label(), a.host.Label(), rec.HealthRaw))
		}

		return true
	case a.recorded:
		rec.State, rec.Error = Attaching, err.Error()
		if a.ended == Critical || a.ended == Broken {
			rec.State = Failed
		}

		r.keep(rec, true)
	}

	f := &Failure{Host: a.host.Label(), Step: "attach", Elapsed: time.Since(a.began), Err: err, Advice: attachAdvice(a, r.Wanted)}
	if a.recorded {
		f.Device, f.Step = rec.Label(), arrivalStep(a.ended)
		f.waits = a.ended == Invisible || a.ended == HealthUntold
	}

	r.fail(f)

	if unfit := a.ended == Critical || a.ended == Broken; unfit && brought {
		r.takeBack(ctx, a, f)
	} else if unfit {
		f.Advice = "It stays as it is, and nothing is attached beside it. To have another one, name it in detach_first and lower size by one, apply, then raise size again."
	}

	return false
}

// arrivalStep names the step at which a device that came was found wanting.
func arrivalStep(s Sight) string {
	switch s {
	case Critical, Broken, HealthUntold, HealthAwaited:
		return "check the health of"
	case Hidden, HiddenLong, Invisible:
		return "wait for the host to show"
	default:
		return "attach"
	}
}

// takeBack detaches a device that arrived unfit: leaving it would leak it. The host may have
// taken the device at once, so it is told to let go; nothing that it says keeps the device there.
func (r *Run) takeBack(ctx context.Context, a *attempt, f *Failure) {
	// The lock of the machine is held already.
	back := &attempt{run: r, host: a.host, goal: GoalGone, record: a.record, recorded: true, node: a.host.Node, unfit: true}
	if r.leave(ctx, back) {
		f.Advice = "It was detached again. " + f.Advice
	}
}

// closeIntent drops a written order whose end is known to be "nothing".
func (r *Run) closeIntent(a *attempt) {
	if r.Desk.Journal == nil || a.intent.ID == "" {
		return
	}

	if slices.Contains([]Sight{Nothing, AnswerLost, Several, WasRefused}, a.ended) {
		if err := r.Desk.Journal.Drop(a.intent.ID); err != nil {
			r.warn(err.Error())
		}
	}
}

// detach takes devices away: machines side by side, the devices of one in order.
func (r *Run) detach(ctx context.Context, all []Record) {
	var machines [][]Record

	for _, d := range all {
		i := slices.IndexFunc(machines, func(m []Record) bool { return SameMachine(m[0].MachineID, d.MachineID) })
		if i < 0 {
			machines = append(machines, []Record{d})
		} else {
			machines[i] = append(machines[i], d)
		}
	}

	r.parallel(ctx, len(machines), func(i int) {
		for _, d := range machines[i] {
			h, ok := r.Wanted.host(d.MachineID)
			if !ok {
				h = Host{MachineID: d.MachineID, Name: d.HostName}
			}

			if ctx.Err() != nil {
				r.fail(&Failure{Host: h.Label(), Device: d.Label(), Step: "detach", Err: context.Cause(ctx)})

				return
			}

			if r.detachOne(ctx, h, d) {
				return // nobody knows what the machine does: another order may meet the first
			}
		}
	})
}

// detachOne takes one device away. One that fails does not stop the others, unless the order's
// end is open.
func (r *Run) detachOne(ctx context.Context, h Host, d Record) (open bool) {
	unlock, err := r.Desk.work.lock(ctx, h.MachineID)
	if err != nil {
		r.fail(&Failure{Host: h.Label(), Device: d.Label(), Step: "detach", Err: err})

		return false
	}
	defer unlock()

	a := &attempt{run: r, host: h, goal: GoalGone, record: d, recorded: true, node: h.Node}
	gone := r.leave(ctx, a)

	return !gone && a.asked != NotAsked && (a.ended == "" || a.ended == OutOfTime)
}

// leave takes one device away; the caller holds the machine's lock.
func (r *Run) leave(ctx context.Context, a *attempt) bool {
	h, d := a.host, a.record
	err := a.drive(ctx, r.Wanted.Limits.Detach)

	r.warn(a.warnings...)

	tidy := a.node != nil && a.released && r.Wanted.SkipDrain != SkipAlways
	if tidy {
		r.tidy(ctx, a, err)
	}

	if err == nil {
		r.away(a, d)

		return true
	}

	rec := a.record
	step := "detach"

	if drain := (*drainError)(nil); errors.As(err, &drain) {
		step = "drain"
	} else if a.asked != NotAsked {
		rec.State = Detaching
	}

	rec.Error = err.Error()
	r.keep(rec, false)
	r.fail(&Failure{Host: h.Label(), Device: d.Label(), Step: step, Elapsed: time.Since(a.began), Err: err, Advice: detachAdvice(a, err)})

	return false
}

// away takes a device that is gone out of everything that knew of it.
func (r *Run) away(a *attempt, d Record) {
	r.forget(d)
	r.dropGot(d)

	r.mu.Lock()
	r.gone = append(r.gone, d)
	r.mu.Unlock()

	if a.ended == MachineGone {
		r.warn(fmt.Sprintf("The fabric has no %s any more: device %s counts as detached.", a.host.Label(), d.Label()))
	}
}

// tidy ends what was begun on the host: whatever became of the device, what the host lost
// for its sake comes back.
func (r *Run) tidy(ctx context.Context, a *attempt, err error) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()

	after := a.node.Finish
	if err != nil {
		after = a.node.Restore
	}

	if err := after(limited); err != nil {
		r.warn(fmt.Sprintf("%s: %v.", a.host.Label(), strings.TrimRight(err.Error(), ".")))
	}

	r.warn(a.node.Warnings()...)
}

func attachAdvice(a *attempt, w Wanted) string {
	err := a.refusal

	switch {
	case a.ended == Several:
		return "Somebody else changes this machine too. Find out whose the devices are, import what is yours, then apply again."
	case a.ended == Critical || a.ended == Broken:
		return "Have the device looked at; the next apply asks for another one."
	case a.ended == HealthUntold, a.ended == HealthAwaited:
		return "The device is attached and stays in the state; the next apply looks at it again."
	case a.ended == Invisible, a.ended == Hidden, a.ended == HiddenLong:
		return "The device is attached and stays in the state; the next apply goes on waiting without attaching another. Look at the host's kernel log, or set wait_for_visible = false."
	case errors.Is(err, fabric.ErrCapacity):
		return fmt.Sprintf("Free a device of model %s, or ask for fewer.", w.Model)
	case errors.Is(err, fabric.ErrAuth):
		return "Correct fabric.auth of the provider."
	case errors.Is(err, fabric.ErrUnsent):
		return "Nothing was ordered. Check fabric.endpoint and whether the manager runs."
	case a.ended == OutOfTime && a.asked != NotAsked:
		return "The order stays in the fabric journal: the next apply finds out what became of it. For a slow fabric raise timeouts.attach."
	default:
		return ""
	}
}

func detachAdvice(a *attempt, err error) string {
	switch {
	case errors.Is(err, ErrInUse) && a.run.Wanted.Type == CXLMemory:
		return "Take the memory out of use on the host, then go on."
	case errors.Is(err, workload.ErrInUse) && a.run.Wanted.ForceDetach:
		return "force_detach had the pods ended, and they did not go. End them, or pull the device away under them with skip_drain = \"always\"."
	case errors.Is(err, workload.ErrInUse):
		return "Nothing was detached. End the pods, or set force_detach = true: pods with ResourceClaims are ended then, others are not asked about."
	case errors.Is(err, ErrInUse) && a.run.Wanted.ForceDetach:
		return "force_detach skips the checks, and the driver refuses all the same. Stop the processes, or pull the device away under them with skip_drain = \"always\"."
	case errors.Is(err, ErrInUse):
		return "Stop the processes, or set force_detach = true to skip the check."
	case errors.Is(err, workload.ErrUnreachable):
		return "Nothing was detached, for nobody says whether pods use it. Mend the cluster's API, or correct workload; or set skip_drain = \"if_unreachable\" and apply, if the cluster is gone for good."
	case errors.Is(err, ErrUnreachable):
		return "Nothing was detached. Bring the host back, or set skip_drain = \"if_unreachable\" and apply, if it is gone for good."
	case a.ended == Mistaken:
		return "Nothing was detached: the device that has this fabric id now is not the one that was attached. Look at the fabric; take the old one out with `terraform state rm` where it is gone."
	case wait.IsTransient(err), errors.Is(err, fabric.ErrUnsent):
		return "The next apply or destroy goes on."
	default:
		return ""
	}
}
