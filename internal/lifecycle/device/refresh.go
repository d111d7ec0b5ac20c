// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// readWindow is how long one read of a machine answers all who refresh. Resources of one
// machine are refreshed within seconds of each other; what changes a machine forgets the read.
const readWindow = 10 * time.Second

// read is one read of a machine that several share.
type read struct {
	done    chan struct{}
	at      time.Time
	machine fabric.Machine
	err     error
}

// machine reads a machine, or shares a read of this moment.
func (d *Desk) machine(ctx context.Context, id string) (fabric.Machine, error) {
	key := strings.ToLower(id)

	d.mu.Lock()

	r, ok := d.reads[key]
	if !ok || time.Since(r.at) > readWindow {
		r = &read{done: make(chan struct{}), at: time.Now()}
		d.reads[key] = r

		// Whoever shares the read must not lose it because the first one gives up.
		go d.read(context.WithoutCancel(ctx), r, id)
	}

	d.mu.Unlock()

	select {
	case <-r.done:
		return r.machine, r.err
	case <-ctx.Done():
		return fabric.Machine{}, context.Cause(ctx)
	}
}

// read fills a read that others wait for. An error is shared with them, and with nobody later.
func (d *Desk) read(ctx context.Context, r *read, id string) {
	defer close(r.done)
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("%w: %v", ErrBug, p)
		}
	}()

	r.machine, r.err = d.Fabric.Machine(ctx, id)
	if r.err != nil && !errors.Is(r.err, fabric.ErrNotFound) {
		d.forget(id)
	}
}

// forget drops the shared read of a machine.
func (d *Desk) forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	delete(d.reads, strings.ToLower(id))
}

// Reading is what a refresh is about.
type Reading struct {
	Resource    string // id of the resource: its orders of which no state knows are looked for; empty: they are not
	Type, Model string
	Machines    []string // of the resource's hosts
	Devices     []Record // as the state has them
}

// Refreshed is what a refresh found.
type Refreshed struct {
	Devices   []Record // those that are still there, in order
	Lost      []Record // that are gone from their machine
	Unmanaged []string // fabric ids: of the same kind, on our machines, not ours
	Gone      []string // machines that are no more, for certain
	Warnings  []string
}

// readsAtOnce bounds the machines of one resource that are read at a time.
const readsAtOnce = 4

// Refresh looks at the machines of a resource: one read each, shared with others.
func (d *Desk) Refresh(ctx context.Context, in Reading) (Refreshed, error) {
	var (
		out  = Refreshed{Unmanaged: []string{}}
		ids  = in.machines()
		got  = make([]fabric.Machine, len(ids))
		errs = make([]error, len(ids))
		seen = map[string]fabric.Machine{}
	)

	some(len(ids), readsAtOnce, func(i int) { got[i], errs[i] = d.machine(ctx, ids[i]) })

	for i, id := range ids {
		switch m, err := got[i], errs[i]; {
		case errors.Is(err, fabric.ErrNotFound), err == nil && m.State == fabric.Gone:
			out.Gone = append(out.Gone, id)
		case err != nil:
			return Refreshed{}, fmt.Errorf("machine %s: %w", id, err)
		default:
			seen[strings.ToLower(id)] = m
		}
	}

	for _, r := range in.Devices {
		d.refresh(r, seen, &out)
	}

	d.openOrders(in, seen, &out)

	for _, m := range seen {
		for _, dev := range m.Of(in.Type, in.Model) {
			if !slices.ContainsFunc(out.Devices, func(r Record) bool { return r.device().Same(dev) }) {
				out.Unmanaged = append(out.Unmanaged, dev.FabricID)
			}
		}
	}

	Order(out.Devices)
	slices.Sort(out.Unmanaged)

	return out, nil
}

// machines are those of the hosts, and those that devices are on.
func (in Reading) machines() []string {
	var out []string

	for _, id := range in.Machines {
		out = appendMachine(out, id)
	}

	for _, r := range in.Devices {
		out = appendMachine(out, r.MachineID)
	}

	return out
}

func appendMachine(all []string, id string) []string {
	if id == "" || slices.ContainsFunc(all, func(o string) bool { return SameMachine(o, id) }) {
		return all
	}

	return append(all, id)
}

// refresh finds one device again.
func (d *Desk) refresh(r Record, seen map[string]fabric.Machine, out *Refreshed) {
	m, read := seen[strings.ToLower(r.MachineID)]

	if dev, ok := m.Find(r.device()); ok && !r.mistakes(dev) {
		out.Devices = append(out.Devices, r.again(dev))
		out.Warnings = append(out.Warnings, unwell(r, dev)...)

		return
	} else if ok {
		r.State, r.Error = Missing, "another device ("+dev.DeviceID+") has its fabric id now"
		out.Devices = append(out.Devices, r)
		out.Warnings = append(out.Warnings, fmt.Sprintf("Device %s of machine %s is not there any more: %s. That one is not touched.", r.Label(), r.MachineID, r.Error))

		return
	}

	for _, other := range seen {
		if dev, ok := other.Find(r.device()); ok && !r.mistakes(dev) {
			r = r.seen(dev)
			r.State, r.Error = Missing, "found on machine "+other.ID
			out.Devices = append(out.Devices, r)
			out.Warnings = append(out.Warnings, fmt.Sprintf("Device %s was attached to machine %s and is now on machine %s, which is also one of this configuration. "+
				"Somebody moved it; it is not detached from there.", r.Label(), r.MachineID, other.ID))

			return
		}
	}

	if read && m.State == fabric.Busy {
		// A machine on which something changes may show less than it has.
		out.Devices = append(out.Devices, r)
		out.Warnings = append(out.Warnings, fmt.Sprintf("Machine %s is being changed (status %s) and does not show device %s at the moment; it is kept as it was.", r.MachineID, m.Status, r.Label()))

		return
	}

	out.Lost = append(out.Lost, r)
}

// again is the record of a device that a refresh found where it was.
func (r Record) again(d fabric.Device) Record {
	after := r.seen(d)

	switch {
	case d.Phase == fabric.AddFailed || d.Phase == fabric.RemoveFailed:
		after.State, after.Error = Failed, cmp.Or(d.Reason, "the fabric reports a failure")
	case after.State == Missing:
		after.State, after.Error = Online, ""
	}

	return after
}

// unwell warns of a device that a person should look at.
func unwell(r Record, d fabric.Device) []string {
	switch {
	case d.Health == fabric.HealthCritical && r.Health != fabric.HealthCritical:
		return []string{fmt.Sprintf("Device %s on machine %s is critical (the fabric says %q).", r.Label(), r.MachineID, d.HealthRaw)}
	case d.Health == fabric.HealthWarning:
		return []string{fmt.Sprintf("Device %s on machine %s has a warning (the fabric says %q).", r.Label(), r.MachineID, d.HealthRaw)}
	default:
		return nil
	}
}

// openOrders looks into the journal: what the state has needs no note any more, and what came
// of an order of this resource that the state does not have is ours too.
func (d *Desk) openOrders(in Reading, seen map[string]fabric.Machine, out *Refreshed) {
	if d.Journal == nil {
		return
	}

	for id, m := range seen {
		all, err := d.Journal.Of(d.Fabric.Endpoint(), id)
		if err != nil {
			out.Warnings = append(out.Warnings, err.Error())

			return
		}

		for _, i := range all {
			inState := func(r Record) bool { return i.Got != nil && i.Got.device().Same(r.device()) }

			if slices.ContainsFunc(in.Devices, inState) {
				_ = d.Journal.Drop(i.ID) // a note that stays does no harm
			} else if in.Resource != "" && i.Resource == in.Resource && !d.Journal.Live(i) {
				d.openOrder(i, m, out)
			}
		}
	}
}

// openOrder takes over what came of an order whose run did not live to tell.
func (d *Desk) openOrder(i Intent, m fabric.Machine, out *Refreshed) {
	came := slices.DeleteFunc(since(m, i), func(dev fabric.Device) bool {
		return slices.ContainsFunc(out.Devices, func(r Record) bool { return r.device().Same(dev) })
	})

	when := i.At.Format(time.RFC3339)

	if len(came) != 1 || !m.Settled(i.Type, i.Model) {
		out.Warnings = append(out.Warnings, fmt.Sprintf("What became of an order for machine %s of %s is not known yet; the next apply that changes devices finds out.", m.ID, when))

		return
	}

	rec := newRecord(came[0], Host{MachineID: m.ID}, Attaching)
	rec.AttachedAt = i.At.UTC().Truncate(time.Second)
	out.Devices = append(out.Devices, rec)
	out.Warnings = append(out.Warnings, fmt.Sprintf("Device %s on machine %s was attached by a run that did not finish (ordered at %s); it is taken into the state.", rec.Label(), m.ID, when))
}

// Order sorts devices by the time they came, then by fabric id. Those of before our time are first.
func Order(all []Record) {
	slices.SortStableFunc(all, func(a, b Record) int {
		return cmp.Or(a.AttachedAt.Compare(b.AttachedAt), cmp.Compare(a.FabricID, b.FabricID))
	})
}
