// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
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
	attached []Record                  // by this run, in order
	gone     []Record                  // detached by this run
	seen     map[string]fabric.Machine // last looks at our machines
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

// Delete detaches all, also what an order of this resource brought that no state knows. The
// result has the devices that are still there.
func (r *Run) Delete(ctx context.Context, have []Record) Result {
	r.result.Devices = slices.Clone(have)
	r.guard(ctx, func() {
		if !r.recover(ctx, r.Wanted.hosts(have)) {
			return
		}

		r.dropMissing(slices.Clone(r.result.Devices))
		r.detach(ctx, slices.Clone(r.result.Devices))
	})

	if len(r.result.Devices) == 0 {
		r.Desk.release(r.Wanted.ID)
	}

	return r.done()
}

// done sorts what the run left.
func (r *Run) done() Result {
	r.mu.Lock()
	defer r.mu.Unlock()

	Order(r.result.Devices)
	r.result.Unmanaged = r.strangers()

	return r.result
}

// strangers are the devices of the kind that the last looks at our machines showed and that
// are not ours; nil where nobody looked.
func (r *Run) strangers() []string {
	if len(r.seen) == 0 {
		return nil
	}

	out := []string{}

	for _, m := range r.seen {
		for _, d := range m.Of(r.Wanted.Type, r.Wanted.Model) {
			if !slices.ContainsFunc(r.result.Devices, func(o Record) bool { return o.device().Same(d) }) &&
				!slices.ContainsFunc(r.gone, func(o Record) bool { return o.device().Same(d) }) {
				out = append(out, d.FabricID)
			}
		}
	}

	slices.Sort(out)

	return out
}

// idle tells which devices nobody uses, as far as hosts can be asked.
func (r *Run) idle(ctx context.Context, kept []Record) map[string]bool {
	out := map[string]bool{}

	for _, h := range r.Wanted.hosts(nil) {
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

// parallel runs f for 0 to n-1, some hosts at a time, and waits for all. A panic of one is a
// failure like others.
func (r *Run) parallel(ctx context.Context, n int, f func(i int)) {
	some(n, hostsAtOnce, func(i int) { r.guard(ctx, func() { f(i) }) })
}

// some runs f for 0 to n-1, at most so many at a time, and waits for all.
func some(n, atOnce int, f func(i int)) {
	var wg sync.WaitGroup

	gate := make(chan struct{}, atOnce)

	for i := range n {
		gate <- struct{}{}

		wg.Go(func() {
			defer func() { <-gate }()

			f(i)
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

// saw keeps what a look at a machine showed.
func (r *Run) saw(m fabric.Machine) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.seen == nil {
		r.seen = map[string]fabric.Machine{}
	}

	r.seen[strings.ToLower(m.ID)] = m
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
