// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hardware_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

type rig struct {
	t   *testing.T
	st  *store.Store
	now time.Time
}

func newRig(t *testing.T, st *store.Store, o hardware.Options) *rig {
	t.Helper()

	r := &rig{t: t, st: st, now: time.Now().UTC()}
	r.do(func(tx store.Tx) error { return hardware.Ensure(tx, o, machine.Options{Count: 3}) })

	return r
}

func (r *rig) do(f func(store.Tx) error) {
	r.t.Helper()

	if err := r.st.Update(f); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) all() (out []hardware.Device) {
	r.t.Helper()
	r.do(func(tx store.Tx) (err error) {
		out, err = hardware.All(tx, r.now)

		return err
	})

	return out
}

func (r *rig) machine(name string) (out hardware.Machine) {
	r.t.Helper()
	r.do(func(tx store.Tx) error {
		m, ok, err := hardware.LoadMachine(tx, r.now, name)
		if !ok {
			r.t.Fatalf("no machine %s", name)
		}

		out = m

		return err
	})

	return out
}

func (r *rig) attach(name, model string, took time.Duration) (d hardware.Device) {
	r.t.Helper()
	r.do(func(tx store.Tx) (err error) {
		d, err = hardware.Attach(tx, r.now, name, hardware.Pick(hardware.GPU, model), took)

		return err
	})

	return d
}

func TestEnsure_theSameDevicesEveryTime(t *testing.T) {
	t.Parallel()

	a, b := newRig(t, store.New(""), hardware.Options{}), newRig(t, store.New(""), hardware.Options{})
	first := a.all()

	if len(first) != 10 {
		t.Fatalf("%d devices", len(first))
	}

	seen := map[string]bool{}

	for i, d := range b.all() {
		if d != first[i] || d.Index != i {
			t.Errorf("device %d is %+v and %+v", i, first[i], d)
		}

		if seen[d.ID] || seen[d.Serial] {
			t.Errorf("%+v twice", d)
		}

		seen[d.ID], seen[d.Serial] = true, true
	}

	a.attach("node-0", "A100", 0)
	a.do(func(tx store.Tx) error {
		return hardware.Ensure(tx, hardware.Options{GPUs: map[string]int{"A100": 5}}, machine.Options{Count: 3})
	})

	if got := a.all(); len(got) != 11 || got[0].Machine != "node-0" {
		t.Errorf("after a second Ensure: %+v", got)
	}
}

func TestAttach_settlesByTheClock(t *testing.T) {
	t.Parallel()

	r := newRig(t, store.New(filepath.Join(t.TempDir(), "lab.db")), hardware.Options{})

	d := r.attach("node-1", "L40S", 10*time.Second)
	if m := r.machine("node-1"); m.Code() != hardware.AddingDevice || m.Devices[0].Phase != hardware.Adding || m.Devices[0].Present() {
		t.Errorf("while it is added: %d %+v", m.Code(), m.Devices)
	}

	r.now = r.now.Add(10 * time.Second)
	second := r.attach("node-1", "L40S", 0)
	m := r.machine("node-1")

	if m.Code() != hardware.ActiveOn || len(m.Devices) != 2 || !m.Devices[0].Present() || m.Devices[0].ID != d.ID {
		t.Errorf("once it is there: %d %+v", m.Code(), m.Devices)
	}

	if d.Slot != "0000:1f:00.0" || second.Slot != "0000:20:00.0" {
		t.Errorf("slots %s %s", d.Slot, second.Slot)
	}

	r.do(func(tx store.Tx) error { return hardware.Detach(tx, r.now, d.ID, time.Second) })

	if m := r.machine("node-1"); m.Code() != hardware.DeletingDevice || !m.Devices[0].Present() {
		t.Errorf("while it is removed: %d %+v", m.Code(), m.Devices)
	}

	r.now = r.now.Add(time.Second)

	if m := r.machine("node-1"); m.Busy() || len(m.Devices) != 1 {
		t.Errorf("once it is gone: %d %+v", m.Code(), m.Devices)
	}

	var effects []hardware.Effect

	r.do(func(tx store.Tx) (err error) {
		effects, err = hardware.Effects(tx)

		return err
	})

	if len(effects) != 3 || len(hardware.Overlaps(effects)) != 0 {
		t.Errorf("effects %v", effects)
	}
}

func TestAttach_failures(t *testing.T) {
	t.Parallel()

	r := newRig(t, store.New(""), hardware.Options{GPUs: map[string]int{"A100": 1}})
	d := r.all()[0]
	d.FailAdd, d.FailRemove = "no link", "stuck"
	r.do(func(tx store.Tx) error { return hardware.Save(tx, d) })

	r.attach("node-0", "A100", time.Second)
	r.now = r.now.Add(time.Second)

	if d := r.machine("node-0").Devices[0]; d.Phase != hardware.AddFailed || d.Reason != "no link" || d.Present() {
		t.Errorf("a failed add: %+v", d)
	}

	for _, want := range []string{hardware.RemoveFailed, ""} {
		r.do(func(tx store.Tx) error { return hardware.Detach(tx, r.now, d.ID, time.Second) })
		r.now = r.now.Add(time.Second)

		if d := r.all()[0]; d.Phase != want || (want == "") != d.Free() {
			t.Errorf("after a detach: %+v, want phase %q", d, want)
		}
	}

	r.attach("node-0", "A100", 0)

	cases := map[string]struct {
		machine, model string
		want           error
	}{
		"a machine that is not there": {machine: "node-7", model: "A100", want: hardware.ErrNoMachine},
		"an empty pool":               {machine: "node-1", model: "A100", want: hardware.ErrNoFree},
		"another model":               {machine: "node-1", model: "H100", want: hardware.ErrNoFree},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := r.st.Update(func(tx store.Tx) error {
				_, err := hardware.Attach(tx, r.now, c.machine, hardware.Pick(hardware.GPU, c.model), 0)

				return err
			})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOverlaps(t *testing.T) {
	t.Parallel()

	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	effect := func(machine string, from, to int, foreign bool) hardware.Effect {
		return hardware.Effect{
			At: at(from), Until: at(to), Machine: machine, Kind: hardware.KindAttach, Foreign: foreign, Order: 10*from + to,
		}
	}

	cases := map[string]struct {
		effects []hardware.Effect
		want    int
	}{
		"one after the other":        {effects: []hardware.Effect{effect("a", 0, 5, false), effect("a", 5, 9, false)}},
		"two machines":               {effects: []hardware.Effect{effect("a", 0, 5, false), effect("b", 1, 9, false)}},
		"at the same time":           {effects: []hardware.Effect{effect("a", 0, 5, false), effect("a", 4, 9, false)}, want: 1},
		"inside another":             {effects: []hardware.Effect{effect("a", 0, 9, false), effect("a", 1, 2, false), effect("a", 3, 4, false)}, want: 2},
		"somebody else in between":   {effects: []hardware.Effect{effect("a", 0, 5, false), effect("a", 1, 9, true)}},
		"the second while a foreign": {effects: []hardware.Effect{effect("a", 0, 9, true), effect("a", 1, 3, false)}},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := hardware.Overlaps(c.effects); len(got) != c.want {
				t.Errorf("overlaps %v", got)
			}
		})
	}
}
