// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpukill_test

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// phase is a change of all resources at once, and where it is cut short in each life.
type phase struct {
	name    string
	sizes   [machines]int
	effect  string // what the fabric does in it
	moments []moment
}

var phases = []phase{
	{"create", [machines]int{2, 3, 2, 3, 2, 3}, hardware.KindAttach, []moment{
		{1, 0}, {6, 300 * time.Millisecond}, {7, 0}, {12, 700 * time.Millisecond}, {13, 100 * time.Millisecond},
	}},
	{"grow", [machines]int{4, 4, 3, 4, 4, 4}, hardware.KindAttach, []moment{
		{6, 200 * time.Millisecond}, {1, 0}, {3, 900 * time.Millisecond}, {7, 0}, {5, 500 * time.Millisecond},
	}},
	{"shrink", [machines]int{2, 2, 1, 2, 2, 2}, hardware.KindDetach, []moment{
		{6, 900 * time.Millisecond}, {7, 100 * time.Millisecond}, {1, 0}, {3, 500 * time.Millisecond}, {12, 0},
	}},
	{"destroy", [machines]int{}, hardware.KindDetach, []moment{
		{1, 0}, {6, 500 * time.Millisecond}, {7, 0}, {2, 900 * time.Millisecond}, {7, 300 * time.Millisecond},
	}},
}

// TestKill_createGrowShrinkDestroy cuts short a create, two updates and a destroy of many
// resources, at moments spread over the work of the fabric, each in one of five ways. Whatever
// happens, the next apply reaches the same target, and not by one order more than needed.
func TestKill_createGrowShrinkDestroy(t *testing.T) {
	t.Parallel()
	long(t)

	var struck, missed atomic.Int32

	t.Cleanup(func() {
		t.Logf("%d runs were cut short, %d ended before their moment", struck.Load(), missed.Load())

		if !t.Failed() && missed.Load() > struck.Load()/4 {
			t.Errorf("too many runs ended before their moment: %d of %d", missed.Load(), struck.Load()+missed.Load())
		}
	})

	for i, face := range []string{"fti_fm", "fti_cm", "fti_fm", "nec_cdim", "redfish"} {
		pause, at := time.Second, "-parallelism=10"
		if face == "nec_cdim" { // it does one thing at a time, on all machines
			pause, at = 150*time.Millisecond, "-parallelism=2"
		}

		t.Run(fmt.Sprintf("life %d on %s", i, face), func(t *testing.T) {
			t.Parallel()

			k := &killed{workspace: newWorkspace(t, newFar(t, pause), face), at: at, struck: &struck, missed: &missed}

			for j, p := range phases {
				k.cut(p, p.moments[i%len(p.moments)], strikes[(i+j)%len(strikes)])
			}

			if left := k.open(); len(left) > 0 {
				t.Errorf("the journal keeps %v", left)
			}
		})
	}
}

// killed is a workspace whose runs are cut short.
type killed struct {
	*workspace

	at             string // how many resources at a time
	struck, missed *atomic.Int32
}

// config wants so many devices on each machine.
func (w *workspace) config(sizes []int, more string) {
	w.T.Helper()

	main := ""
	for i, size := range sizes {
		main += fmt.Sprintf("resource \"metal3_composable_gpu\" \"g%d\" {\n  model = %q\n  size = %d\n  hosts = [{ machine_id = %q, name = %q }]\n%s}\n",
			i, kind, size, machine.ID(i), machine.Name(i), more)
	}

	w.Write("main.tf", main)
}

// cut cuts one phase short and then reaches its target.
func (k *killed) cut(p phase, m moment, s tfrun.Strike) {
	k.T.Helper()

	verb := "apply"
	if p.name == "destroy" {
		verb = "destroy"
	} else {
		k.config(p.sizes[:], "")
	}

	begun := k.far.effects(p.effect)
	needed := difference(k.far.on(), p.sizes)
	start := time.Now()

	r := k.Start(verb, "-auto-approve", k.at)
	hit := r.Cut(s, tfrun.Cut{Ready: func() bool { return k.far.effects(p.effect) >= begun+m.changes }, Look: look, Later: m.later})

	if hit {
		k.struck.Add(1)
	} else {
		k.missed.Add(1)
	}

	k.T.Logf("%s, %s %s: hit %t, exit %d after %.1f s, %d of %d orders given", p.name, s.Name, m, hit, r.Code, time.Since(start).Seconds(),
		k.far.effects(p.effect)-begun, needed)

	if hit && s.Asks && r.Code == 0 {
		k.T.Errorf("an interrupted %s ends well:\n%s", verb, r.Out)
	}

	if !hit && r.Code != 0 {
		k.T.Errorf("an undisturbed %s fails:\n%s", verb, r.Out)
	}

	for name, o := range k.state() {
		if o.Status != "" {
			k.T.Errorf("after %s the resource of %s is %s:\n%s", s.Name, name, o.Status, r.Out)
		}
	}

	start = time.Now()
	tries := k.retry(verb, k.at)
	k.T.Logf("%s: reached with %d more in %.1f s", p.name, tries, time.Since(start).Seconds())
	k.is(p.sizes[:])

	if got := k.far.effects(p.effect) - begun; got != needed {
		k.T.Errorf("%s took %d orders, %d were needed", p.name, got, needed)
	}

	if verb == "apply" {
		k.Empty()
	}
}

// retry runs a command until it ends well, three times at most.
func (w *workspace) retry(verb, at string) int {
	w.T.Helper()

	const most = 3

	var r *tfrun.Run

	for try := range most {
		if r = w.Do(verb, "-auto-approve", at); r.Code == 0 {
			return try + 1
		}

		w.T.Logf("terraform %s, try %d: exit %d\n%s", verb, try+1, r.Code, r.Out)
	}

	w.T.Fatalf("terraform %s does not end well", verb)

	return most
}

// is wants so many devices on each machine, all of them and no other in the state.
func (w *workspace) is(sizes []int) {
	w.T.Helper()

	state, there := w.state(), w.far.on()

	for i, size := range sizes {
		name := machine.Name(i)
		o, known := state[name]

		if len(there[name]) != size || !slices.Equal(o.ids(), there[name]) || known && o.Attributes.Size != size {
			w.T.Errorf("%s has %v, the state %v and size %d; wanted are %d", name, there[name], o.ids(), o.Attributes.Size, size)
		}

		if known && !o.online() {
			w.T.Errorf("%s is %+v", name, o)
		}

		delete(there, name)
		delete(state, name)
	}

	if len(there) > 0 || len(state) > 0 {
		w.T.Errorf("and there are %v, in the state %v", there, slices.Collect(maps.Keys(state)))
	}

	if overlaps, err := w.far.Overlaps(); err != nil || len(overlaps) > 0 {
		w.T.Errorf("orders came while others were carried out: %v %v", overlaps, err)
	}
}

// difference is how many devices have to come, or to go.
func difference(there map[string][]string, sizes [machines]int) (n int) {
	for i, size := range sizes {
		n += max(size-len(there[machine.Name(i)]), len(there[machine.Name(i)])-size)
	}

	return n
}

// TestKill_withoutAJournal kills a create that wrote nothing down: the next apply takes
// nothing that it cannot prove to be its own, unless it is told to.
func TestKill_withoutAJournal(t *testing.T) {
	t.Parallel()
	long(t)

	w := newWorkspace(t, newFar(t, time.Second), "fti_fm")
	w.Block(w.far.block("fti_fm", "off"))
	w.config([]int{2, 2}, "")

	// One device stands on each machine, the second is on its way to one of them.
	r := w.Start("apply", "-auto-approve")
	if !r.Cut(strikes[0], tfrun.Cut{Ready: func() bool { return w.far.effects(hardware.KindAttach) >= 3 }, Look: look}) {
		t.Fatalf("the apply was not cut short: exit %d\n%s", r.Code, r.Out)
	}

	if state := w.state(); len(state) > 0 {
		t.Fatalf("the state has %v", state)
	}

	before := w.far.effects(hardware.KindAttach)
	said := w.Fails([]string{
		"that this resource does not know", "Nothing was attached.", "terraform import ADDRESS", `existing_devices = "adopt"`, `existing_devices = "ignore"`,
	}, "apply", "-auto-approve")

	if now := w.far.effects(hardware.KindAttach); now != before {
		t.Errorf("%d devices were attached all the same: %s", now-before, said)
	}

	w.config([]int{2, 2}, "  existing_devices = \"adopt\"\n")
	w.apply()
	w.is([]int{2, 2})
	w.Empty()

	if got := w.far.effects(hardware.KindAttach); got != 4 {
		t.Errorf("%d devices were attached for 4", got)
	}

	w.Must("destroy", "-auto-approve")
	w.is([]int{0, 0})

	if left := w.open(); len(left) > 0 {
		t.Errorf("it wrote %v", left)
	}
}
