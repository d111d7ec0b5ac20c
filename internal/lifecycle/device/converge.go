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
)

// converge is create and update: what is too much goes, then what is missing comes.
func (r *Run) converge(ctx context.Context, have []Record) {
	w := r.Wanted
	r.result.Devices = slices.Clone(have)

	if !r.recover(ctx, w.hosts(have)) {
		return
	}

	kept, wrong := keep(w, r.result.Devices)
	r.dropMissing(wrong)

	wrong = slices.DeleteFunc(wrong, func(d Record) bool { return d.State == Missing })
	if surplus := len(kept) - w.Size; surplus > 0 {
		wrong = append(wrong, victims(w, kept, surplus, r.idle(ctx, kept))...)
	}

	if len(wrong) > 0 {
		r.detach(ctx, wrong)
	}

	// The next apply goes on; nothing is added beside what should have gone, or is not usable.
	ready := len(r.result.Failures) == 0 && ctx.Err() == nil && r.resume(ctx)

	if ready && len(r.result.Devices) < w.Size {
		r.add(ctx)
	}

	r.interrupted(ctx)
}

// interrupted notes that the user stopped the run, where nothing says so yet.
func (r *Run) interrupted(ctx context.Context) {
	if ctx.Err() != nil && len(r.result.Failures) == 0 {
		r.fail(&Failure{Step: "go on", Err: context.Cause(ctx)})
	}
}

// dropMissing forgets devices that somebody moved to another machine: they are not ours to take from there.
func (r *Run) dropMissing(wrong []Record) {
	for _, d := range wrong {
		if d.State == Missing {
			r.forget(d)
			r.warn(fmt.Sprintf("Device %s is no longer looked after: %s.", d.Label(), d.Error))
		}
	}
}

// add finds places for what is missing and attaches it, after everything was checked that can be.
func (r *Run) add(ctx context.Context) {
	start := time.Now()

	all, err := r.candidates(ctx)
	if err != nil {
		r.fail(&Failure{Step: "look at the machines", Elapsed: time.Since(start), Err: err})

		return
	}

	places, err := r.reserve(all, r.Wanted.Size-len(r.result.Devices))
	if err != nil {
		r.fail(&Failure{Step: "place", Err: err, Advice: placeAdvice(err)})

		return
	}

	if !r.check(ctx, all, places) {
		return
	}

	r.parallel(ctx, len(places), func(i int) {
		p := places[i]
		r.fill(ctx, all[p.Host].Host, p)
	})

	if got := len(r.result.Devices); got < r.Wanted.Size && len(r.result.Failures) == 0 && ctx.Err() == nil {
		r.fail(&Failure{Step: "place", Err: fmt.Errorf("%d of %d devices: the pool has no more", got, r.Wanted.Size), Advice: "The next apply goes on with what is missing."})
	}
}

// reserve places devices and claims the places for other resources of this provider to see.
// Where one of them was faster, another place is looked for.
func (r *Run) reserve(all []Candidate, need int) ([]Placement, error) {
	w := r.Wanted

	for {
		places, err := place(w, all, need)
		if err != nil {
			return nil, err
		}

		again := false

		for _, p := range places {
			c := &all[p.Host]
			if other, ok := r.Desk.claim(c.Host.MachineID, w.Type, w.Model, w.ID); !ok {
				c.Claimed, again = other, true
			}
		}

		if !again {
			return places, nil
		}
	}
}

// check asks all chosen hosts whether they can use such devices, before any is attached.
func (r *Run) check(ctx context.Context, all []Candidate, places []Placement) bool {
	if !r.Wanted.DriverCheck {
		return true
	}

	before := len(r.result.Failures)

	r.parallel(ctx, len(places), func(i int) {
		c := all[places[i].Host]
		if c.Host.Node == nil || c.Power == fabric.PowerOff {
			return
		}

		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()

		start := time.Now()
		err := c.Host.Node.Check(limited)
		r.warn(c.Host.Node.Warnings()...)

		if err != nil {
			r.fail(&Failure{
				Host: c.Host.Label(), Step: "check the driver on", Elapsed: time.Since(start), Err: err,
				Advice: "Nothing was attached. Mend the host, or set driver_check = \"skip\".",
			})
		}
	})

	return len(r.result.Failures) == before
}

// fill brings the devices of one placement to one host, strictly one after the other.
func (r *Run) fill(ctx context.Context, h Host, p Placement) {
	for _, d := range p.Adopt {
		rec := newRecord(d, h, Online)
		r.keep(rec, false)
		r.warn(fmt.Sprintf("Device %s was on %s already and is adopted, as existing_devices says.", rec.Label(), h.Label()))
	}

	for range p.Add {
		if ctx.Err() != nil || !r.attach(ctx, h) {
			return
		}
	}
}

// rollBack detaches what this run attached.
func (r *Run) rollBack(ctx context.Context) {
	failures := r.result.Failures
	adopted := slices.DeleteFunc(slices.Clone(r.result.Devices), func(d Record) bool {
		return slices.ContainsFunc(r.attached, func(a Record) bool { return a.device().Same(d.device()) })
	})

	for _, d := range adopted {
		r.forget(d) // it was there before us, and stays
	}

	if mine := slices.Clone(r.result.Devices); len(mine) > 0 {
		r.warn(fmt.Sprintf("%d device(s) that this apply attached are detached again, because on_partial is \"rollback\".", len(mine)))
		r.detach(ctx, mine)
	}

	for _, f := range r.result.Failures[len(failures):] {
		f.Step = "roll back: " + f.Step
	}
}

func placeAdvice(err error) string {
	var there *StrangersError

	switch {
	case errors.As(err, &there):
		return fmt.Sprintf("Nothing was attached. Another resource or another tool may own them. If nobody does, import them (terraform import ADDRESS %q) or set existing_devices = \"adopt\"; "+
			"to leave them alone and attach others beside them, set existing_devices = \"ignore\".", there.Host.MachineID+"/"+strings.ReplaceAll(ids(there.Devices), ", ", ","))
	case errors.Is(err, ErrNoHost):
		return "Nothing was attached. Free devices, list further hosts, or ask for fewer."
	default:
		return ""
	}
}
