// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// gotAge is how long a device that came in a run which is no more, and that no refresh saw in
// a state since, counts as left behind. Later it is somebody's decision that we do not know
// of, such as `terraform state rm`.
const gotAge = 15 * time.Minute

// leftover is a device that an order of an earlier run brought, and that is in no state.
type leftover struct {
	host   Host
	device fabric.Device
	intent Intent
}

// recover goes on from orders that were written down and whose end no state knows. What came
// of them is ours, also where it is more than wanted now: then it is detached like any
// surplus, instead of being forgotten. Where nothing is written down nobody is asked.
func (r *Run) recover(ctx context.Context, hosts []Host) bool {
	if r.Desk.Journal == nil {
		return true
	}

	found := make([][]leftover, len(hosts))
	errs := make([]error, len(hosts))

	r.parallel(ctx, len(hosts), func(i int) { found[i], errs[i] = r.leftovers(ctx, hosts[i]) })

	for i, err := range errs {
		if err != nil {
			r.fail(&Failure{Host: hosts[i].Label(), Step: "go on with an earlier order", Err: err, Advice: "Nothing was ordered. Apply again when that has ended."})
		}
	}

	home := home(r.Wanted, r.result.Devices)

	for _, l := range slices.Concat(found...) {
		// One of several resources of one kind takes what lies on one machine, and leaves the
		// other machines' to the others.
		if r.Wanted.Policy == SameNode && l.intent.Resource != r.Wanted.ID && home != "" && !SameMachine(home, l.host.MachineID) {
			continue
		}

		if r.adopt(l) && home == "" {
			home = l.host.MachineID
		}
	}

	return errors.Join(errs...) == nil
}

// leftovers finds out what came of this resource's orders on one machine.
func (r *Run) leftovers(ctx context.Context, h Host) ([]leftover, error) {
	unlock, err := r.Desk.work.lock(ctx, h.MachineID)
	if err != nil {
		return nil, err
	}
	defer unlock()

	all, err := r.Desk.Journal.Of(r.Desk.Fabric.Endpoint(), h.MachineID)
	if err != nil {
		return nil, err
	}

	var out []leftover

	for _, i := range all {
		mine, err := r.mine(i)
		if err != nil {
			return out, err
		}

		if !mine || i.Got != nil && r.isOurs(i.Got.device()) {
			continue // what the state has needs no looking after; a refresh drops the note
		}

		m, err := r.settle(ctx, h, i)
		if err != nil {
			return out, err
		}

		came := slices.DeleteFunc(since(m, i), r.isOurs)

		if len(came) == 1 {
			out = append(out, leftover{h, came[0], i})

			continue
		}

		if len(came) > 1 {
			r.warn(fmt.Sprintf("An earlier run ordered a device for %s at %s, and several came since: %s. None is taken as ours.",
				h.Label(), i.At.Format(time.RFC3339), ids(came)))
		}

		r.drop(i)
	}

	return out, nil
}

// mine reports whether an order is one that this resource goes on with: its own, or that of a
// dead run of the very same configuration, whose resource never came into a state.
func (r *Run) mine(i Intent) (bool, error) {
	j, w := r.Desk.Journal, r.Wanted

	switch {
	case !strings.EqualFold(i.Type, w.Type) || i.Model != w.Model:
		return false, nil
	case i.Resource == w.ID && i.Run != j.Run() && j.Live(i):
		return false, fmt.Errorf("another run (process %d) is at work on this very resource; its order is of %s", i.PID, i.At.Format(time.RFC3339))
	case i.Resource == w.ID:
		return true, nil
	case w.Size == 0 || i.Run == j.Run() || i.Fingerprint != w.fingerprint() || j.Live(i):
		return false, nil
	default:
		return i.Got == nil || time.Since(i.GotAt) < gotAge, nil
	}
}

// adopt takes a leftover for ours, unless another resource of this process was faster.
func (r *Run) adopt(l leftover) bool {
	w := r.Wanted
	if _, ok := r.Desk.claim(l.host.MachineID, w.Type, w.Model, w.ID); !ok || r.isOurs(l.device) {
		return false
	}

	rec := newRecord(l.device, l.host, Attaching)
	rec.AttachedAt = l.intent.At.UTC().Truncate(time.Second)
	r.keep(rec, true)
	r.warn(fmt.Sprintf("Device %s on %s was attached by an earlier run that did not finish (ordered at %s); this one goes on with it.",
		rec.Label(), l.host.Label(), l.intent.At.Format(time.RFC3339)))

	// From here on it is an order of this resource, until a refresh sees it in the state.
	i := l.intent
	i.Resource, i.Run, i.PID = w.ID, r.Desk.Journal.Run(), os.Getpid()
	i.Got, i.GotAt = &Known{rec.FabricID, rec.DeviceID}, time.Now()

	if err := r.Desk.Journal.Put(i); err != nil {
		r.warn(err.Error())
	}

	return true
}

// settle waits until a machine on which something was ordered shows what came of it.
func (r *Run) settle(ctx context.Context, h Host, i Intent) (m fabric.Machine, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.Wanted.Limits.Attach)
	defer cancel()

	var (
		reads int
		calm  time.Time
	)

	err = wait.Until(ctx, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		m, err = r.Desk.Fabric.Machine(ctx, h.MachineID)
		if errors.Is(err, fabric.ErrNotFound) || err == nil && m.State == fabric.Gone {
			return wait.Done, "", nil
		}

		if err != nil {
			return wait.Again, "", err
		}

		note := "machine status " + m.Status

		task, err := r.task(ctx, i)
		if err != nil {
			return wait.Again, note, err
		}

		if !m.Settled(i.Type, i.Model) || task == fabric.TaskRunning {
			reads = 0

			return wait.Again, note, nil
		}

		if reads++; reads == 1 {
			calm = time.Now()
		}

		over := i.Got != nil || len(since(m, i)) > 0 || task == fabric.TaskFailed
		old := time.Since(i.At) > settleTimeLost+settleTime

		if over || old || reads >= settleReads && time.Since(calm) >= settleTimeLost {
			return wait.Done, note, nil
		}

		return wait.Again, note, nil
	})
	if err != nil {
		return m, fmt.Errorf("an order of %s is still open: %w", i.At.Format(time.RFC3339), err)
	}

	return m, nil
}

// task asks how the job of an order stands; without a job it is over. A job that the manager
// no longer knows is over too.
func (r *Run) task(ctx context.Context, i Intent) (fabric.TaskState, error) {
	tasks, ok := r.Desk.Fabric.(fabric.Tasks)
	if !ok || i.Task == "" || i.Got != nil {
		return fabric.TaskDone, nil
	}

	t, err := tasks.Task(ctx, i.Task)

	switch {
	case errors.Is(err, fabric.ErrNotFound), err == nil && t.ID == "":
		return fabric.TaskDone, nil
	case err != nil:
		return fabric.TaskRunning, err
	case t.State == fabric.TaskSuspended:
		return t.State, fmt.Errorf("%s: %s", JobSuspended, t.Text)
	default:
		return t.State, nil
	}
}

// since are the devices of an intent's kind that came after it was written.
func since(m fabric.Machine, i Intent) []fabric.Device {
	var out []fabric.Device

	for _, d := range m.Of(i.Type, i.Model) {
		switch {
		case i.Got != nil && !i.Got.device().Same(d):
		case i.Chosen != "" && !strings.EqualFold(i.Chosen, d.FabricID):
		case !has(i.Before, d):
			out = append(out, d)
		}
	}

	return out
}

// dropGot forgets the orders that brought a device which is gone now.
func (r *Run) dropGot(d Record) {
	if r.Desk.Journal == nil {
		return
	}

	all, err := r.Desk.Journal.Of(r.Desk.Fabric.Endpoint(), d.MachineID)
	if err != nil {
		r.warn(err.Error())
	}

	for _, i := range all {
		if i.Got != nil && i.Got.device().Same(d.device()) {
			r.drop(i)
		}
	}
}

func (r *Run) drop(i Intent) {
	if err := r.Desk.Journal.Drop(i.ID); err != nil {
		r.warn(err.Error())
	}
}

func (r *Run) isOurs(d fabric.Device) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	return slices.ContainsFunc(r.result.Devices, func(o Record) bool { return o.device().Same(d) })
}

// resume brings devices that are on their machine and not yet proved to Online: those of an
// earlier run that did not finish. It reports whether all are.
func (r *Run) resume(ctx context.Context) bool {
	var open []Record

	for _, d := range r.result.Devices {
		if d.State == Attaching || d.State == Detaching || d.State == Failed {
			open = append(open, d)
		}
	}

	before := len(r.result.Failures)

	r.parallel(ctx, len(open), func(i int) {
		if h, ok := r.Wanted.host(open[i].MachineID); ok {
			r.prove(ctx, h, open[i])
		}
	})

	return len(r.result.Failures) == before
}
