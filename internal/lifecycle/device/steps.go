// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Do implements [lifecycle.Machine].
func (a *attempt) Do(ctx context.Context, seen look, step Step) (look, bool, error) {
	switch step {
	case LookStep:
		after, err := a.Look(ctx, seen, 0)

		return after, true, err
	case OrderStep:
		return a.order(ctx, seen)
	case RecordStep:
		return a.take(ctx, seen)
	case RescanStep:
		return a.askHost(ctx, seen)
	case ReleaseStep:
		return a.release(ctx, seen)
	default:
		return seen, true, fmt.Errorf("step %d cannot be done: this is a bug of the provider, please report it", step)
	}
}

// order gives the order, after it was written down. The machine was looked at just before.
func (a *attempt) order(ctx context.Context, seen look) (look, bool, error) {
	if a.asked == TurnedAway {
		// Nothing was done: this pause may be interrupted, and the machine is looked at again.
		pause := max(turnedAway.Jittered(turnedAway.Delay(a.busy)), wait.RetryAfter(a.refusal))
		a.busy++
		a.asked = NotAsked

		after, err := a.Look(ctx, seen, pause)

		return after, true, err
	}

	if stop := a.until(ctx); stop.Err() != nil {
		return seen, true, context.Cause(stop)
	}

	unlock, err := a.run.Desk.orders.lock(a.until(ctx), a.run.Desk.Fabric.LockKey(a.host.MachineID))
	if err != nil {
		return seen, true, err
	}
	defer unlock()

	a.run.Desk.forget(a.host.MachineID)
	defer a.run.Desk.forget(a.host.MachineID)

	if a.goal == GoalGone {
		a.hint, err = a.run.Desk.Fabric.Detach(ctx, a.host.MachineID, a.record.device())
	} else if err = a.prepare(ctx, seen); err == nil {
		want := fabric.Want{Type: a.run.Wanted.Type, Model: a.run.Wanted.Model, Count: len(a.before) + 1}
		if a.chosen != nil {
			want.Device = *a.chosen
		}

		a.hint, err = a.run.Desk.Fabric.Attach(ctx, a.host.MachineID, want)
	} else {
		return seen, true, err
	}

	a.times++
	a.quietReads = 0
	a.sort(err)
	a.note()

	after, err := a.Look(ctx, seen, 0)

	return after, true, err
}

// sort says what an answer means for the outcome.
func (a *attempt) sort(err error) {
	var e *fabric.Error

	a.refusal, a.maybe = err, false

	switch {
	case err == nil:
		a.asked = Accepted
	case errors.Is(err, fabric.ErrBusy):
		a.asked = TurnedAway
		a.maybe = errors.As(err, &e) && e.Status == 503
	case fabric.NothingDone(err), errors.Is(err, fabric.ErrSuspended):
		a.asked = Refused
	default:
		a.asked = Lost
	}

	if a.asked != TurnedAway {
		a.busy = 0
	}

	if a.goal == GoalGone && errors.Is(err, fabric.ErrNotFound) {
		a.asked = Accepted // gone already, says the manager; the next look proves it
	}
}

// prepare chooses a device where the fabric wants that, and writes the intent down.
func (a *attempt) prepare(ctx context.Context, seen look) error {
	w := a.run.Wanted
	a.before = known(seen.machine.Of(w.Type, w.Model))

	if a.node != nil && seen.machine.Power != fabric.PowerOff {
		limited, cancel := context.WithTimeout(a.until(ctx), time.Minute)
		defer cancel()

		if err := a.node.Remember(limited); err != nil {
			return fmt.Errorf("nothing was ordered: %w", err)
		}
	}

	if a.run.Desk.Fabric.Caps().PicksDevice {
		if err := a.choose(ctx); err != nil {
			return err
		}
	}

	if a.run.Desk.Journal == nil {
		return nil
	}

	id := a.intent.ID // a repeated order has its intent already
	if id == "" {
		id = uuid.NewString()
	}

	a.intent = Intent{
		ID: id, Fabric: a.run.Desk.Fabric.Endpoint(), Machine: a.host.MachineID, Type: w.Type, Model: w.Model,
		Resource: w.ID, Fingerprint: w.fingerprint(), Before: a.before, At: time.Now(), Run: a.run.Desk.Journal.Run(), PID: os.Getpid(),
	}

	if a.chosen != nil {
		a.intent.Chosen = a.chosen.FabricID
	}

	if err := a.run.Desk.Journal.Put(a.intent); err != nil {
		a.intent = Intent{}

		return fmt.Errorf("nothing was ordered, because the order could not be written down first: %w. "+
			"Set fabric.journal_dir to a directory that can be written, or to \"off\"", err)
	}

	return nil
}

// choose picks the device that the order will name. One that was chosen before and is still
// free is chosen again: a repeated order then cannot bring a second device.
func (a *attempt) choose(ctx context.Context) error {
	w := a.run.Wanted

	free, err := a.run.Desk.Fabric.Free(ctx, a.host.MachineID, w.Type, w.Model)
	if err != nil {
		return err
	}

	if a.chosen != nil {
		for _, d := range free.Devices {
			if a.chosen.Same(d) {
				return nil
			}
		}
	}

	if len(free.Devices) == 0 {
		return fmt.Errorf("%s %s for %s: %w", w.Type, w.Model, a.host.Label(), fabric.ErrCapacity)
	}

	a.chosen = &free.Devices[0]

	return nil
}

// note brings the journal in line with the answer.
func (a *attempt) note() {
	j := a.run.Desk.Journal
	if j == nil || a.intent.ID == "" {
		return
	}

	var err error

	switch {
	case a.asked == Refused, a.asked == TurnedAway && !a.maybe:
		err = j.Drop(a.intent.ID)
		a.intent = Intent{}
	case a.hint.Task != "":
		a.intent.Task = a.hint.Task
		err = j.Put(a.intent)
	}

	if err != nil {
		a.warnings = append(a.warnings, err.Error())
	}
}

// take makes the new device ours, before anything else may fail.
func (a *attempt) take(ctx context.Context, seen look) (look, bool, error) {
	dev, ok := a.ours(seen.fresh)
	if !ok {
		return seen, true, ErrAmbiguous
	}

	a.record = newRecord(dev, a.host, Attaching)
	a.record.AttachedAt = time.Now().UTC().Truncate(time.Second)
	a.recorded, a.arrived, a.refusal = true, time.Now(), nil
	a.run.log(ctx, fmt.Sprintf("%s: device %s was attached after %s", a.host.Label(), a.record.Label(), time.Since(a.began).Round(time.Second)))

	if j := a.run.Desk.Journal; j != nil && a.intent.ID != "" {
		a.intent.Got = &Known{dev.FabricID, dev.DeviceID}
		if err := j.Put(a.intent); err != nil {
			a.warnings = append(a.warnings, err.Error())
		}
	}

	// What was just read is judged without asking again.
	out := look{machine: seen.machine, task: seen.task}
	a.facts(&out)

	if out.Here {
		a.seeNode(ctx, &out)
	}

	return out, true, nil
}

// askHost makes the host look for new devices.
func (a *attempt) askHost(ctx context.Context, seen look) (look, bool, error) {
	a.rescan = time.Now()

	ctx, cancel := context.WithTimeout(a.until(ctx), 2*time.Minute)
	defer cancel()

	if err := a.node.Rescan(ctx); err != nil {
		seen.hidden = err.Error()
	}

	return seen, false, nil
}

// release makes the host let go of the device.
func (a *attempt) release(ctx context.Context, seen look) (look, bool, error) {
	w := a.run.Wanted

	if a.node != nil && seen.machine.Power != fabric.PowerOff && w.SkipDrain != SkipAlways {
		limited, cancel := context.WithTimeout(a.until(ctx), w.Limits.Drain)
		defer cancel()

		err := a.node.Release(limited, a.record, w.ForceDetach)

		switch {
		case errors.Is(err, ErrUnreachable) && w.SkipDrain == SkipIfUnreachable:
			a.warnings = append(a.warnings, fmt.Sprintf("Device %s of %s goes without a drain, as skip_drain says: %v.", a.record.Label(), a.host.Label(), err))
			a.node = nil
		case err != nil && a.unfit:
			a.warnings = append(a.warnings, fmt.Sprintf("Device %s of %s goes without a drain, because it arrived unfit: %v.", a.record.Label(), a.host.Label(), err))
			a.node = nil
		case err != nil:
			return seen, true, &drainError{err}
		}
	}

	if a.node != nil && seen.machine.Power == fabric.PowerOff {
		a.warnings = append(a.warnings, fmt.Sprintf("%s is powered off, says the fabric: device %s goes without a drain.", a.host.Label(), a.record.Label()))
		a.node = nil // nothing to tidy up either
	}

	a.released, a.began = true, time.Now() // the fabric's limit begins here

	after, err := a.Look(ctx, seen, 0)

	return after, true, err
}

// drainError says that the host did not let go of the device: nothing was ordered.
type drainError struct{ err error }

func (e *drainError) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *drainError) Unwrap() error { return e.err }
