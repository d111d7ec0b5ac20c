// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabriccontract

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// patience is how long a change may take to be seen.
const patience = 2 * time.Minute

func id(i int) string { return machine.ID(i) }

// pause lets time pass.
func pause(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // time in a bubble costs nothing

// read reads a machine.
func (r *rig) read(i int) fabric.Machine {
	r.Helper()

	m, err := r.f.Machine(r.Context(), id(i))
	if err != nil {
		r.Fatalf("read machine %d: %v", i, err)
	}

	return m
}

// attached are the devices of a machine that are there by the manager's words.
func attached(m fabric.Machine) []fabric.Device {
	return slices.DeleteFunc(slices.Clone(m.Devices), func(d fabric.Device) bool {
		return d.Phase != fabric.Attached || !slices.Contains([]string{gpu, "cxlmemory"}, d.Type)
	})
}

// until reads a machine until so many devices are there and it takes orders.
func (r *rig) until(i, want int) fabric.Machine {
	r.Helper()

	var m fabric.Machine

	for range int(patience / pace) {
		if m = r.read(i); len(attached(m)) == want && m.State == fabric.Ready && m.Settled(gpu, model) {
			return m
		}

		pause(pace)
	}

	r.Fatalf("machine %d has not come to %d devices: %+v", i, want, m)

	return m
}

// rest lets everything that is under way come to its end, and returns machine 0.
func (r *rig) rest() fabric.Machine {
	r.Helper()
	pause(patience)

	return r.read(0)
}

// want is an order of one device of a model for a machine, with the device chosen where the
// driver chooses. False: there is none to choose.
func (r *rig) want(ctx context.Context, i int, model string) (fabric.Want, bool, error) {
	m, err := r.f.Machine(ctx, id(i))
	if err != nil {
		return fabric.Want{}, false, err //nolint:wrapcheck // what the test asks for
	}

	w := fabric.Want{Type: gpu, Model: model, Count: len(m.Of(gpu, model)) + 1}

	if r.f.Caps().PicksDevice {
		free, err := r.f.Free(ctx, id(i), gpu, model)
		if err != nil || len(free.Devices) == 0 {
			return w, false, err //nolint:wrapcheck // what the test asks for
		}

		w.Device = free.Devices[0]
	}

	return w, true, nil
}

// order orders a device and returns what the driver says to it.
func (r *rig) order(i int, model string) (fabric.Hint, error) {
	r.Helper()

	w, ok, err := r.want(r.Context(), i, model)
	if !ok {
		r.Fatalf("no %s to order for machine %d: %v", model, i, err)
	}

	return r.f.Attach(r.Context(), id(i), w) //nolint:wrapcheck // what the test asks for
}

// attach attaches a device, and sees it come.
func (r *rig) attach(i int, model string) fabric.Device {
	r.Helper()

	before := r.read(i)
	if _, err := r.order(i, model); err != nil {
		r.Fatalf("attach %s to machine %d: %v", model, i, err)
	}

	m := r.until(i, len(attached(before))+1)

	for _, d := range attached(m) {
		if _, old := before.Find(d); !old {
			return d
		}
	}

	r.Fatalf("no new device on machine %d: %+v", i, m.Devices)

	return fabric.Device{}
}

// on are the devices that are on a machine in truth.
func (r *rig) on(i int) []hardware.Device {
	r.Helper()

	all, err := r.far.On(machine.Name(i))
	if err != nil {
		r.Fatal(err)
	}

	return slices.DeleteFunc(all, func(d hardware.Device) bool { return !d.Present() })
}

// same tells whether a driver means a device of the hardware. A fabric id may be a path.
func same(d fabric.Device, h hardware.Device) bool {
	path := strings.ToLower(d.FabricID)

	return path == h.ID || strings.HasSuffix(path, "/"+h.ID)
}

// agree compares what a driver says of a machine with the hardware.
func (r *rig) agree(i int, m fabric.Machine) {
	r.Helper()

	truth, seen := r.on(i), attached(m)
	if len(truth) != len(seen) {
		r.Errorf("machine %d has %d devices, and %d are seen: %+v", i, len(truth), len(seen), seen)

		return
	}

	for _, h := range truth {
		if !slices.ContainsFunc(seen, func(d fabric.Device) bool { return same(d, h) && d.Model == h.Model && d.Type == h.Type }) {
			r.Errorf("machine %d has %+v, and that is not among %+v", i, h, seen)
		}
	}
}

// effects are the orders that were carried out, without what others did.
func (r *rig) effects() []hardware.Effect {
	r.Helper()

	all, err := r.far.Effects()
	if err != nil {
		r.Fatal(err)
	}

	return slices.DeleteFunc(all, func(e hardware.Effect) bool { return e.Foreign || e.Kind == hardware.KindRefused })
}

// sound checks what must hold at the end of every test: no two orders overlapped, and no
// device is on two machines as the driver sees them.
func (r *rig) sound() {
	r.Helper()

	if all, err := r.far.Overlaps(); err != nil || len(all) > 0 {
		r.Errorf("orders overlapped: %v %v", all, err)
	}

	machines, err := r.f.Machines(r.Context())
	if err != nil {
		r.Fatal(err)
	}

	seen := map[string]string{}

	for _, m := range machines { // CM lists them by group
		for i := range len(machines) {
			if strings.EqualFold(m.ID, id(i)) {
				r.agree(i, m)
			}
		}

		for _, d := range m.Devices {
			if before, twice := seen[d.FabricID]; twice {
				r.Errorf("%s is on %s and on %s", d.FabricID, before, m.ID)
			}

			seen[d.FabricID] = m.ID
		}
	}
}

// foreign lets somebody else attach a device, which takes so long.
func (r *rig) foreign(i int, model string, took time.Duration) {
	r.Helper()

	err := r.far.Change(func(tx store.Tx, now time.Time) error {
		_, err := hardware.AttachForeign(tx, now, machine.Name(i), hardware.Pick(hardware.GPU, model), took)

		return err //nolint:wrapcheck // for the test
	})
	if err != nil {
		r.Fatal(err)
	}
}

// edit changes all devices of a model.
func (r *rig) edit(model string, f func(*hardware.Device)) {
	r.Helper()

	err := r.far.Edit(func(d *hardware.Device) {
		if d.Model == model {
			f(d)
		}
	})
	if err != nil {
		r.Fatal(err)
	}
}

// fails checks the kind of an error.
func (r *rig) fails(what string, err error, kinds ...error) {
	r.Helper()

	var e *fabric.Error
	if !errors.As(err, &e) {
		r.Errorf("%s: %v is no error of a fabric", what, err)

		return
	}

	if !slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) }) {
		r.Errorf("%s: %v (%v), want one of %v", what, err, e.Kind, kinds)
	}

	if e.Op == "" {
		r.Errorf("%s: the error says nothing of what was done: %v", what, err)
	}
}
