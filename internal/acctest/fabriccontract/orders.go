// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabriccontract

import (
	"errors"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

func orders() map[string]func(*rig) {
	return map[string]func(*rig){
		"an attach brings one device":                            attachOne,
		"a detach takes that device and no other (O-GPU-04)":     detachOne,
		"a device that is gone already is no failure":            detachGone,
		"a device of another machine stays there":                detachElsewhere,
		"an empty pool is told apart":                            noCapacity,
		"a machine that is busy takes no order":                  busyMachine,
		"what the fabric cannot attach is not attached":          failedAttach,
		"what the fabric cannot detach is still there":           failedDetach,
		"two machines get two devices":                           twoMachines,
		"devices come and go, and none is lost or there twice":   manyLives,
		"a machine on another switch gets devices of its switch": twoSwitches,
	}
}

// powered switches a machine on or off.
func powered(i int, kind string) func(store.Tx, time.Time) error {
	return func(tx store.Tx, now time.Time) error {
		m, _, err := machine.Load(tx, machine.Name(i))
		if err != nil {
			return err //nolint:wrapcheck // for the test
		}

		m.SetPower(kind, now, 0)
		m.Settle(now)

		return machine.Save(tx, m) //nolint:wrapcheck // for the test
	}
}

func attachOne(r *rig) {
	d := r.attach(0, model)

	if d.Model != model || d.Type != gpu {
		r.Errorf("the device is %+v", d)
	}

	if n := len(r.effects()); n != 1 {
		r.Errorf("%d effects of one order", n)
	}

	r.sound()
}

func detachOne(r *rig) {
	first, second, third := r.attach(0, model), r.attach(0, model), r.attach(0, other)

	if _, err := r.f.Detach(r.Context(), id(0), second); err != nil {
		r.Fatal(err)
	}

	m := r.until(0, 2)

	for _, d := range []fabric.Device{first, third} {
		if _, ok := m.Find(d); !ok {
			r.Errorf("%+v is gone as well", d)
		}
	}

	r.sound()
}

func detachGone(r *rig) {
	d := r.attach(0, model)

	if _, err := r.f.Detach(r.Context(), id(0), d); err != nil {
		r.Fatal(err)
	}

	r.until(0, 0)
	before := len(r.effects())

	if _, err := r.f.Detach(r.Context(), id(0), d); err != nil {
		r.fails("detach again", err, fabric.ErrNotFound)
	}

	r.rest()

	if after := len(r.effects()); after != before {
		r.Errorf("%d effects more", after-before)
	}
}

func detachElsewhere(r *rig) {
	d := r.attach(1, model)

	if _, err := r.f.Detach(r.Context(), id(0), d); err != nil {
		r.fails("detach", err, fabric.ErrNotFound, fabric.ErrRefused)
	}

	r.rest()
	r.agree(1, r.until(1, 1))
	r.sound()
}

func noCapacity(r *rig) {
	w, _, err := r.want(r.Context(), 0, model)
	if err != nil {
		r.Fatal(err)
	}

	for range models {
		r.foreign(1, model, 0)
	}

	if r.f.Caps().PicksDevice {
		if free, err := r.f.Free(r.Context(), id(0), gpu, model); err != nil || free.Count != 0 {
			r.Errorf("free: %+v, %v", free, err)
		}
	}

	hint, err := r.f.Attach(r.Context(), id(0), w)

	switch {
	case err == nil:
		r.jobFails(hint)
	case r.f.Caps().PicksDevice: // it names a device that is taken
		r.fails("attach", err, fabric.ErrBusy, fabric.ErrCapacity, fabric.ErrRefused)
	default:
		r.fails("attach", err, fabric.ErrCapacity)
	}

	if m := r.rest(); len(attached(m)) != 0 || len(r.effects()) != 0 {
		r.Errorf("the machine has %+v", m.Devices)
	}
}

// jobFails waits for the job of an order to fail.
func (r *rig) jobFails(hint fabric.Hint) {
	r.Helper()

	tasks, ok := r.f.(fabric.Tasks)
	if !ok || hint.Task == "" {
		r.Error("the order was taken, and there is no job that fails")

		return
	}

	pause(patience)

	if task, err := tasks.Task(r.Context(), hint.Task); err != nil || task.State != fabric.TaskFailed || task.Text == "" {
		r.Errorf("the job is %+v, %v", task, err)
	}
}

func busyMachine(r *rig) {
	// CM counts each model for itself. Where the driver chooses a device, it is not the one
	// that the other one takes.
	mine := model
	if r.f.Caps().PicksDevice {
		mine = other
	}

	r.foreign(0, model, time.Minute)

	w, ok, err := r.want(r.Context(), 0, mine)
	if !ok {
		r.Fatalf("no %s to order: %v", mine, err)
	}

	if m := r.read(0); len(attached(m)) != 0 {
		r.Errorf("a device that is on its way is there: %+v", m.Devices)
	}

	_, err = r.f.Attach(r.Context(), id(0), w)
	r.fails("attach", err, fabric.ErrBusy)
	pause(time.Minute)
	r.until(0, 1)

	if _, err := r.order(0, mine); err != nil {
		r.Errorf("attach later: %v", err)
	}

	r.until(0, 2)
}

func failedAttach(r *rig) {
	r.edit(other, func(d *hardware.Device) { d.FailAdd = "no link" })

	hint, err := r.order(0, other)
	m := r.rest()

	if len(attached(m)) != 0 {
		r.Errorf("the machine has %+v", m.Devices)
	}

	switch {
	case len(m.Devices) == 1 && m.Devices[0].Phase == fabric.AddFailed: // the manager says so itself
	case err == nil && hint.Task != "":
		r.jobFails(hint)
	case err != nil:
		r.fails("attach", err, fabric.ErrUnknown, fabric.ErrRefused)
	}

	// whatever is left of it does not stand in the way
	for _, d := range m.Devices {
		if _, err := r.f.Detach(r.Context(), id(0), d); err != nil {
			r.Errorf("detach what failed: %v", err)
		}
	}

	r.rest()
	r.attach(0, model)
	r.sound()
}

func failedDetach(r *rig) {
	d := r.attach(0, model)
	r.edit(model, func(d *hardware.Device) { d.FailRemove = "held" })

	hint, err := r.f.Detach(r.Context(), id(0), d)
	if err != nil && !errors.Is(err, fabric.ErrUnknown) {
		r.Errorf("detach: %v", err)
	}

	m := r.rest()
	if got, ok := m.Find(d); !ok || got.Phase != fabric.Attached && got.Phase != fabric.RemoveFailed {
		r.Errorf("the device is %+v", got)
	}

	if hint.Task != "" {
		r.jobFails(hint)
	}

	r.edit(model, func(d *hardware.Device) { d.FailRemove = "" })

	if _, err := r.f.Detach(r.Context(), id(0), d); err != nil {
		r.Errorf("detach again: %v", err)
	}

	r.until(0, 0)
}

func twoMachines(r *rig) {
	var (
		locks sync.Map // as the lifecycle holds them
		group sync.WaitGroup
	)

	for i := range 2 {
		group.Go(func() {
			lock, _ := locks.LoadOrStore(r.f.LockKey(id(i)), make(chan struct{}, 1))
			held, _ := lock.(chan struct{})

			held <- struct{}{}
			defer func() { <-held }()

			for range 5 { // the other one may have taken the device that was chosen
				w, ok, err := r.want(r.Context(), i, model)
				if !ok {
					r.Errorf("nothing to order for machine %d: %v", i, err)

					return
				}

				if _, err = r.f.Attach(r.Context(), id(i), w); !errors.Is(err, fabric.ErrBusy) {
					break
				}

				pause(pace)
			}

			pause(10 * pace)
		})
	}

	group.Wait()
	r.agree(0, r.until(0, 1))
	r.agree(1, r.until(1, 1))
	r.sound()
}

func manyLives(r *rig) {
	var held [3][]fabric.Device

	for step := range 30 {
		i := step % 3

		if len(held[i]) > 0 && step%2 == 0 {
			if _, err := r.f.Detach(r.Context(), id(i), held[i][0]); err != nil {
				r.Fatalf("step %d: %v", step, err)
			}

			held[i] = held[i][1:]
			r.until(i, len(held[i]))

			continue
		}

		if len(held[0])+len(held[1])+len(held[2]) < models {
			held[i] = append(held[i], r.attach(i, model))
		}
	}

	for i := range held {
		r.agree(i, r.until(i, len(held[i])))
	}

	r.sound()
}

func twoSwitches(r *rig) {
	r.edit(model, func(d *hardware.Device) { d.Fabric = 1 }) // so that machine 1 is on that switch, and machine 0 is not

	far, near := r.read(0), r.read(1)

	if far.FabricID != near.FabricID { // where the pools have names, the free ones are those of the machine's pool
		if free, err := r.f.Free(r.Context(), id(0), gpu, model); err != nil || free.Count != 0 && !free.HasLimits {
			r.Errorf("on another switch there are free: %+v, %v", free, err)
		}
	}

	r.attach(1, model)
	r.agree(1, r.read(1))
	r.sound()
}
