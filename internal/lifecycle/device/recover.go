// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// gotAge is how long a device that came and was never seen in a state counts as left by a
// killed run. Later it is somebody's decision that we do not know of, such as `terraform state rm`.
const gotAge = 15 * time.Minute

// recover goes on from orders that were written down and whose end no state knows: what
// came of them is ours.
func (r *Run) recover(ctx context.Context, h Host, m fabric.Machine) (fabric.Machine, error) {
	j := r.Desk.Journal
	if j == nil {
		return m, nil
	}

	all, err := j.Of(r.Desk.Fabric.Endpoint(), h.MachineID)
	if err != nil {
		return m, err
	}

	for _, i := range all {
		if i.Run == j.Run() || !strings.EqualFold(i.Type, r.Wanted.Type) || i.Model != r.Wanted.Model {
			continue
		}

		if j.Live(i) {
			return m, fmt.Errorf("another run (process %d) ordered a %s %s for this machine at %s and is still at work; wait for its end",
				i.PID, i.Type, i.Model, i.At.Format(time.RFC3339))
		}

		if m, err = r.settle(ctx, h, i); err != nil {
			return m, err
		}

		r.conclude(h, m, i)
	}

	return m, nil
}

// settle waits until a machine on which something was ordered shows what came of it.
func (r *Run) settle(ctx context.Context, h Host, i Intent) (m fabric.Machine, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.Wanted.Limits.Attach)
	defer cancel()

	var (
		reads int
		since time.Time
	)

	err = wait.Until(ctx, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		m, err = r.Desk.Fabric.Machine(ctx, h.MachineID)
		if err != nil {
			return wait.Again, "", err
		}

		note := "an order of an earlier run is still open (machine status " + m.Status + ")"

		if !m.Settled(i.Type, i.Model) {
			reads = 0

			return wait.Again, note, nil
		}

		if reads++; reads == 1 {
			since = time.Now()
		}

		old := time.Since(i.At) > settleTimeLost+settleTime
		calm := reads >= settleReads && time.Since(since) >= settleTimeLost

		if i.Got != nil || len(r.since(m, i)) > 0 || old || calm {
			return wait.Done, note, nil
		}

		return wait.Again, note, nil
	})
	if err != nil {
		return m, fmt.Errorf("an order of an earlier run is still open: %w", err)
	}

	return m, nil
}

// since are the devices of an intent's kind that came after it was written.
func (r *Run) since(m fabric.Machine, i Intent) []fabric.Device {
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

// conclude takes over what came of an intent, and drops it from the journal.
func (r *Run) conclude(h Host, m fabric.Machine, i Intent) {
	came := slices.DeleteFunc(r.since(m, i), r.isOurs)

	switch {
	case i.Got != nil && i.Resource != r.Wanted.ID && (i.Fingerprint != r.Wanted.fingerprint() || time.Since(i.At) > gotAge):
		// It came, so it is in a state, unless its run was killed in the very moment: only
		// the same configuration, soon after, takes it for its own.
	case len(came) == 1 && len(r.result.Devices) < r.Wanted.Size:
		rec := newRecord(came[0], h, Attaching)
		rec.AttachedAt = i.At.UTC().Truncate(time.Second)
		r.keep(rec, true)
		r.warn(fmt.Sprintf("Device %s on %s was attached by an earlier run that did not finish (ordered at %s); this one goes on with it.",
			rec.Label(), h.Label(), i.At.Format(time.RFC3339)))

		i.Got, i.Run, i.PID = &Known{rec.FabricID, rec.DeviceID}, r.Desk.Journal.Run(), os.Getpid()
		if err := r.Desk.Journal.Put(i); err != nil {
			r.warn(err.Error())
		}

		return // the entry goes when the state has the device
	case len(came) > 1:
		r.warn(fmt.Sprintf("An earlier run ordered a device for %s at %s, and several came since: %s. None is taken as ours.",
			h.Label(), i.At.Format(time.RFC3339), ids(came)))
	}

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
// earlier run that did not finish.
func (r *Run) resume(ctx context.Context) {
	var open []Record

	for _, d := range r.result.Devices {
		if d.State == Attaching || d.State == Detaching || d.State == Failed {
			open = append(open, d)
		}
	}

	r.parallel(ctx, len(open), func(i int) {
		if h, ok := r.Wanted.host(open[i].MachineID); ok {
			r.prove(ctx, h, open[i])
		}
	})
}
