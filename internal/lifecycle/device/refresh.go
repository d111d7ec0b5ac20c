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
		d.mu.Unlock()

		// Whoever shares the read must not lose it because this one gives up.
		r.machine, r.err = d.Fabric.Machine(context.WithoutCancel(ctx), id)
		if r.err != nil && !errors.Is(r.err, fabric.ErrNotFound) {
			d.forget(id)
		}

		close(r.done)

		return r.machine, r.err
	}

	d.mu.Unlock()

	select {
	case <-r.done:
		return r.machine, r.err
	case <-ctx.Done():
		return fabric.Machine{}, context.Cause(ctx)
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
	Type, Model string
	Machines    []string // of the resource's hosts
	Devices     []Record // as the state has them
}

// Refreshed is what a refresh found.
type Refreshed struct {
	Devices   []Record // those that are still there, in order
	Lost      []Record // that are gone from their machine
	Moved     []Record // that are on another of the machines; also in Devices, as Missing
	Unmanaged []string // fabric ids: of the same kind, on our machines, not ours
	Gone      []string // machines that are no more, for certain
	Warnings  []string
}

// Refresh looks at the machines of a resource: one read each, shared with others.
func (d *Desk) Refresh(ctx context.Context, in Reading) (Refreshed, error) {
	var out Refreshed

	seen := map[string]fabric.Machine{}

	for _, id := range in.machines() {
		m, err := d.machine(ctx, id)

		switch {
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

	for _, m := range seen {
		for _, dev := range m.Of(in.Type, in.Model) {
			if !slices.ContainsFunc(in.Devices, func(r Record) bool { return r.device().Same(dev) }) {
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
	if dev, ok := seen[strings.ToLower(r.MachineID)].Find(r.device()); ok {
		after := r.seen(dev)

		switch {
		case dev.Phase == fabric.AddFailed || dev.Phase == fabric.RemoveFailed:
			after.State, after.Error = Failed, cmp.Or(dev.Reason, "the fabric reports a failure")
		case after.State == Missing:
			after.State, after.Error = Online, ""
		}

		if after.Health == fabric.HealthCritical && r.Health != fabric.HealthCritical {
			out.Warnings = append(out.Warnings, fmt.Sprintf("Device %s on machine %s is critical (the fabric says %q).", after.Label(), r.MachineID, after.HealthRaw))
		}

		if after.Health == fabric.HealthWarning {
			out.Warnings = append(out.Warnings, fmt.Sprintf("Device %s on machine %s has a warning (the fabric says %q).", after.Label(), r.MachineID, after.HealthRaw))
		}

		out.Devices = append(out.Devices, after)

		d.confirm(r)

		return
	}

	for _, m := range seen {
		if dev, ok := m.Find(r.device()); ok {
			moved := r.seen(dev)
			moved.State = Missing
			moved.Error = "found on machine " + m.ID
			out.Moved = append(out.Moved, moved)
			out.Devices = append(out.Devices, moved)
			out.Warnings = append(out.Warnings, fmt.Sprintf("Device %s was attached to machine %s and is now on machine %s, which is also one of this configuration. "+
				"Somebody moved it; it is not detached from there.", r.Label(), r.MachineID, m.ID))

			return
		}
	}

	out.Lost = append(out.Lost, r)
}

// confirm drops what the journal noted of a device: Terraform's state has it now.
func (d *Desk) confirm(r Record) {
	if d.Journal == nil {
		return
	}

	all, err := d.Journal.Of(d.Fabric.Endpoint(), r.MachineID)
	if err != nil {
		return // the note stays: it does no harm
	}

	for _, i := range all {
		if i.Got != nil && i.Got.device().Same(r.device()) {
			_ = d.Journal.Drop(i.ID) // stays, and does no harm
		}
	}
}

// Order sorts devices by the time they came, then by fabric id. Those of before our time are first.
func Order(all []Record) {
	slices.SortStableFunc(all, func(a, b Record) int {
		return cmp.Or(a.AttachedAt.Compare(b.AttachedAt), cmp.Compare(a.FabricID, b.FabricID))
	})
}
