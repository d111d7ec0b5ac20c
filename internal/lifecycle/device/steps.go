// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
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

// take makes the new device ours, before anything else may fail.
func (a *attempt) take(ctx context.Context, seen look) (look, bool, error) {
	dev, ok := a.ours(seen.fresh)
	if !ok {
		return seen, true, ErrAmbiguous
	}

	a.record = newRecord(dev, a.host, Attaching)
	a.record.AttachedAt = time.Now().UTC().Truncate(time.Second)
	a.recorded, a.arrived, a.refusal = true, time.Now(), nil
	a.giveWay()
	a.run.log(ctx, fmt.Sprintf("%s: device %s was attached after %s", a.host.Label(), a.record.Label(), time.Since(a.began).Round(time.Second)))

	if j := a.run.Desk.Journal; j != nil && a.intent.ID != "" {
		a.intent.Got, a.intent.GotAt = &Known{dev.FabricID, dev.DeviceID}, time.Now()
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
			a.warnings = append(a.warnings, fmt.Sprintf("Device %s of %s goes without a drain, as skip_drain or force_detach says: %v.", a.record.Label(), a.host.Label(), err))
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
