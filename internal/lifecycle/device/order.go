// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// order gives the order, after it was written down.
func (a *attempt) order(ctx context.Context, seen look) (look, bool, error) {
	if a.asked == TurnedAway && !a.rested {
		// Nothing was done, as far as anybody knows: this pause may be interrupted, and the
		// machine is looked at again before the order is given again.
		pause := max(turnedAway.Jittered(turnedAway.Delay(a.busy)), wait.RetryAfter(a.refusal))
		a.busy++
		a.rested = true
		a.giveWay()

		return a.pause(ctx, seen, pause)
	}

	if err := a.remember(ctx, seen); err != nil {
		return seen, true, err
	}

	if err := a.queue(ctx); err != nil {
		return seen, true, err
	}

	if !a.run.Desk.Fabric.Caps().OneAtATime {
		defer a.giveWay()
	}

	// What was decided on may be old by now: the host was asked, or somebody else had the lock.
	if time.Since(a.looked) > freshLook {
		after, err := a.Look(ctx, seen, 0)
		if _, step := next(after.Facts, a.goal); err != nil || step != OrderStep {
			a.giveWay()

			return after, true, err
		}

		seen = after
	}

	if stop := a.until(ctx); stop.Err() != nil {
		return seen, true, context.Cause(stop)
	}

	if a.goal == GoalOnline {
		ready, err := a.prepare(ctx, seen)
		if err != nil {
			return seen, true, err
		}

		if !ready {
			a.giveWay()

			return a.pause(ctx, seen, yieldPause)
		}
	}

	a.send(ctx)

	after, err := a.Look(ctx, seen, 0)

	return after, true, err
}

// send gives the order and notes what came of it.
func (a *attempt) send(ctx context.Context) {
	a.run.Desk.forget(a.host.MachineID)
	defer a.run.Desk.forget(a.host.MachineID)

	var err error

	if a.goal == GoalGone {
		a.hint, err = a.run.Desk.Fabric.Detach(ctx, a.host.MachineID, a.record.device())
	} else {
		a.hint, err = a.attach(ctx)
	}

	a.times++
	a.quietReads, a.rested = 0, false
	a.sort(err)
	a.note()
}

// queue waits for its turn with the fabric, and giveWay ends the turn. With a fabric that
// takes one order at a time the turn lasts until it is seen what came of the order: others would
// only be turned away, and come back late.
func (a *attempt) queue(ctx context.Context) (err error) {
	if a.turn == nil {
		a.turn, err = a.run.Desk.orders.lock(a.until(ctx), a.run.Desk.Fabric.LockKey(a.host.MachineID))
	}

	return err
}

func (a *attempt) giveWay() {
	if a.turn != nil {
		a.turn()
		a.turn = nil
	}
}

// How old a look may be that an order is given on, and how long an order waits for another
// run's.
const (
	freshLook  = time.Second
	yieldPause = 5 * time.Second
)

// pause waits and looks again.
func (a *attempt) pause(ctx context.Context, seen look, pause time.Duration) (look, bool, error) {
	if err := wait.Sleep(a.until(ctx), pause); err != nil {
		return seen, true, err
	}

	after, err := a.Look(ctx, seen, 0)

	return after, true, err
}

// remember notes what is on the host before the device comes.
func (a *attempt) remember(ctx context.Context, seen look) error {
	if a.goal == GoalGone || a.node == nil || seen.machine.Power == fabric.PowerOff {
		return nil
	}

	limited, cancel := context.WithTimeout(a.until(ctx), time.Minute)
	defer cancel()

	if err := a.node.Remember(limited); err != nil {
		return fmt.Errorf("nothing was ordered: %w", err)
	}

	return nil
}

// attach sends the order for one more device.
func (a *attempt) attach(ctx context.Context) (fabric.Hint, error) {
	w := a.run.Wanted
	want := fabric.Want{Type: w.Type, Model: w.Model, Count: len(a.before) + 1}

	if a.chosen != nil {
		want.Device = *a.chosen
	}

	return a.run.Desk.Fabric.Attach(ctx, a.host.MachineID, want)
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

// prepare chooses a device where the fabric wants that, and writes the intent down. It says
// no where another order must come to its end first.
func (a *attempt) prepare(ctx context.Context, seen look) (ready bool, err error) {
	w := a.run.Wanted

	// What came of an order that may have been carried out counts as new until the end.
	if a.times == 0 || a.asked == TurnedAway && !a.maybe {
		a.before = known(seen.machine.Of(w.Type, w.Model))
	}

	if a.run.Desk.Fabric.Caps().PicksDevice {
		if ready, err = a.choose(ctx); err != nil || !ready {
			return false, err
		}
	}

	j := a.run.Desk.Journal
	if j == nil {
		return true, nil
	}

	id := a.intent.ID // a repeated order has its intent already
	if id == "" {
		id = uuid.NewString()
	}

	a.intent = Intent{
		ID: id, Fabric: a.run.Desk.Fabric.Endpoint(), Machine: a.host.MachineID, Type: w.Type, Model: w.Model,
		Resource: w.ID, Fingerprint: w.fingerprint(), Before: a.before, At: time.Now(), Run: j.Run(), PID: os.Getpid(),
	}

	if a.chosen != nil {
		a.intent.Chosen = a.chosen.FabricID
	}

	if err := j.Put(a.intent); err != nil {
		a.intent = Intent{}

		return false, fmt.Errorf("nothing was ordered, because the order could not be written down first: %w. "+
			"Set fabric.journal_dir to a directory that can be written, or to \"off\"", err)
	}

	return a.first()
}

// first reports whether no order of another living run for the same kind on the machine was
// written down before ours. Each run writes first and looks afterwards, so of two at most one
// goes on; the other takes its note back and waits.
func (a *attempt) first() (bool, error) {
	j := a.run.Desk.Journal

	all, err := j.Of(a.intent.Fabric, a.intent.Machine)
	if err != nil {
		return false, err
	}

	for _, i := range all {
		same := strings.EqualFold(i.Type, a.intent.Type) && i.Model == a.intent.Model
		earlier := cmp.Or(i.At.Compare(a.intent.At), cmp.Compare(i.ID, a.intent.ID)) < 0

		if same && i.Got == nil && i.Run != j.Run() && earlier && j.Live(i) {
			err := j.Drop(a.intent.ID)
			a.intent = Intent{}
			a.yields = fmt.Sprintf("another run (process %d) ordered for the same machine at %s", i.PID, i.At.Format(time.RFC3339))

			return false, err
		}
	}

	a.yields = ""

	return true, nil
}

// choose picks the device that the order will name. One that an order named before is named
// again, while it is free: a repeated order then cannot bring a second device. While it is
// neither free nor here it may be on its way, so no other is ordered.
func (a *attempt) choose(ctx context.Context) (ready bool, err error) {
	w, others := a.run.Wanted, a.run.Desk.chosen.of(a)

	free, err := a.run.Desk.Fabric.Free(ctx, a.host.MachineID, w.Type, w.Model)
	if err != nil {
		return false, err
	}

	if a.chosen != nil && slices.ContainsFunc(free.Devices, a.chosen.Same) {
		return true, nil
	}

	if mayCome := a.asked == Lost || a.maybe; a.chosen != nil && mayCome {
		return false, nil
	}

	if !a.run.Desk.chosen.take(a, free.Devices, others) {
		return false, fmt.Errorf("%s %s for %s: %w", w.Type, w.Model, a.host.Label(), fabric.ErrCapacity)
	}

	return true, nil
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
