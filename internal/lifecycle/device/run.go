// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// hostsAtOnce bounds the hosts of one resource that are worked on at a time.
const hostsAtOnce = 4

// Run brings the devices of one resource to what is wanted.
type Run struct {
	Desk   *Desk
	Wanted Wanted
	Log    func(ctx context.Context, words string) // progress for people; nil: nobody listens

	mu       sync.Mutex
	result   Result
	attached []Record // by this run, in order
}

func (r *Run) log(ctx context.Context, words string) {
	if r.Log != nil {
		r.Log(ctx, words)
	}
}

// Create attaches what is wanted. It goes on from what an unfinished run of before left
// behind (journal).
func (r *Run) Create(ctx context.Context) Result {
	r.guard(ctx, func() { r.converge(ctx, nil) })

	// A device that is merely not usable yet can be looked at again: that is no reason to give all back.
	failed := slices.ContainsFunc(r.result.Failures, func(f *Failure) bool { return !f.waits })
	if failed && len(r.result.Devices) < r.Wanted.Size && r.Wanted.OnPartial != PartialKeep && ctx.Err() == nil {
		r.guard(ctx, func() { r.rollBack(ctx) })
	}

	out := r.done()
	if len(out.Devices) == 0 && len(out.Failures) > 0 {
		r.Desk.release(r.Wanted.ID) // what came to nothing stands in nobody's way
	}

	return out
}

// Update detaches what is too much, then attaches what is missing. What was there before is
// never rolled back.
func (r *Run) Update(ctx context.Context, have []Record) Result {
	r.guard(ctx, func() { r.converge(ctx, have) })

	return r.done()
}

// Delete detaches all. The result has the devices that are still there.
func (r *Run) Delete(ctx context.Context, have []Record) Result {
	r.result.Devices = slices.Clone(have)
	r.guard(ctx, func() { r.detach(ctx, have) })
	r.Desk.release(r.Wanted.ID)

	return r.done()
}

// done sorts what the run left.
func (r *Run) done() Result {
	r.mu.Lock()
	defer r.mu.Unlock()

	Order(r.result.Devices)
	slices.Sort(r.result.Unmanaged)
	r.result.Unmanaged = slices.Compact(r.result.Unmanaged)

	return r.result
}

// converge is create and update: what is too much goes, then what is missing comes.
func (r *Run) converge(ctx context.Context, have []Record) {
	w := r.Wanted
	r.result.Devices = slices.Clone(have)

	kept, wrong := keep(w, have)
	r.dropMissing(wrong)

	wrong = slices.DeleteFunc(wrong, func(d Record) bool { return d.State == Missing })
	if surplus := len(kept) - w.Size; surplus > 0 {
		wrong = append(wrong, victims(w, kept, surplus, r.idle(ctx, kept))...)
	}

	if len(wrong) > 0 {
		r.detach(ctx, wrong)
	}

	if len(r.result.Failures) > 0 || ctx.Err() != nil {
		r.interrupted(ctx)

		return // the next apply goes on; nothing is added beside what should have gone
	}

	r.resume(ctx)

	if len(r.result.Devices) < w.Size {
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

	r.resume(ctx)

	// What an unfinished run left may be all that is missing.
	need := r.Wanted.Size - len(r.result.Devices)
	if need <= 0 {
		return
	}

	places, err := place(r.Wanted, all, need)
	if err != nil {
		r.fail(&Failure{Step: "place", Err: err, Advice: placeAdvice(err)})

		return
	}

	if !r.claim(all, places) {
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

// claim notes for other resources of this provider what is about to be done.
func (r *Run) claim(all []Candidate, places []Placement) bool {
	for _, p := range places {
		h := all[p.Host].Host
		if other, ok := r.Desk.claim(h.MachineID, r.Wanted.Type, r.Wanted.Model, r.Wanted.ID); !ok {
			r.fail(&Failure{
				Host: h.Label(), Step: "place", Err: fmt.Errorf("%w (%s)", ErrClaimed, other),
				Advice: "Put all devices of one type and model on a machine into one resource, or give the resources different hosts.",
			})

			return false
		}
	}

	return true
}

// check asks all chosen hosts whether they can use such devices, before any is attached.
func (r *Run) check(ctx context.Context, all []Candidate, places []Placement) bool {
	if !r.Wanted.DriverCheck {
		return true
	}

	before := len(r.result.Failures)

	r.parallel(ctx, len(places), func(i int) {
		c := all[places[i].Host]
		if c.Host.Node == nil || c.off() {
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

// idle tells which devices nobody uses, as far as hosts can be asked.
func (r *Run) idle(ctx context.Context, kept []Record) map[string]bool {
	out := map[string]bool{}

	for _, h := range append(r.Wanted.Hosts[:len(r.Wanted.Hosts):len(r.Wanted.Hosts)], r.Wanted.Former...) {
		here := slices.DeleteFunc(slices.Clone(kept), func(d Record) bool { return !SameMachine(d.MachineID, h.MachineID) })
		if h.Node == nil || len(here) == 0 {
			continue
		}

		limited, cancel := context.WithTimeout(ctx, 30*time.Second)
		told, err := h.Node.Idle(limited, here)

		cancel()

		if err != nil {
			r.log(ctx, h.Label()+": which devices are idle is not known: "+err.Error())

			continue
		}

		for id, free := range told {
			out[id] = free
		}
	}

	return out
}

// parallel runs f for 0 to n-1, some at a time, and waits for all.
func (r *Run) parallel(ctx context.Context, n int, f func(i int)) {
	var wg sync.WaitGroup

	gate := make(chan struct{}, hostsAtOnce)

	for i := range n {
		gate <- struct{}{}

		wg.Go(func() {
			defer func() { <-gate }()

			r.guard(ctx, func() { f(i) })
		})
	}

	wg.Wait()
}

// keep puts a device into the result, in the place of an older form of it.
func (r *Run) keep(d Record, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	put := func(all []Record) []Record {
		if i := slices.IndexFunc(all, func(o Record) bool { return o.device().Same(d.device()) }); i >= 0 {
			all[i] = d

			return all
		}

		return append(all, d)
	}

	r.result.Devices = put(r.result.Devices)
	if mine {
		r.attached = put(r.attached)
	}
}

// forget takes a device out of the result.
func (r *Run) forget(d Record) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.result.Devices = slices.DeleteFunc(r.result.Devices, func(o Record) bool { return o.device().Same(d.device()) })
}

func (r *Run) fail(f *Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.result.Failures = append(r.result.Failures, f)
}

func (r *Run) warn(words ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, w := range words {
		if w = strings.TrimSpace(w); w != "" && !slices.Contains(r.result.Warnings, w) {
			r.result.Warnings = append(r.result.Warnings, w)
		}
	}
}

func placeAdvice(err error) string {
	var there *StrangersError

	switch {
	case errors.As(err, &there):
		return fmt.Sprintf("Nothing was attached. If the devices are yours, import them (terraform import ADDRESS %q) or set existing_devices = \"adopt\"; "+
			"to leave them alone and attach others beside them, set existing_devices = \"ignore\".", there.Host.MachineID+"/"+strings.ReplaceAll(ids(there.Devices), ", ", ","))
	case errors.Is(err, ErrNoHost):
		return "Nothing was attached. Free devices, list further hosts, or ask for fewer."
	default:
		return ""
	}
}
