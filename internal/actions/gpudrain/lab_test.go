// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpudrain_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	labnode "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// world is a lab with a machine that runs and has two GPUs.
type world struct {
	t      *testing.T
	lab    *lab.Lab
	server *providertest.Server
	ids    [2]string // of the devices, for the fabric
	uuids  [2]string
	slots  [2]string // PCI addresses
}

func newWorld(t *testing.T) world {
	t.Helper()

	l, err := lab.Open(lab.Options{Pace: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})

	w := world{t: t, lab: l, server: providertest.NewServer(t, provider.WithLab(l))}

	for i := range w.ids {
		var d hardware.Device

		err := l.Fabric.Change(func(tx store.Tx, now time.Time) (err error) {
			d, err = hardware.AttachForeign(tx, now, "node-0", hardware.Pick(hardware.GPU, "A100"), 0)

			return err
		})
		if err != nil {
			t.Fatal(err)
		}

		w.ids[i], w.uuids[i], w.slots[i] = d.ID, d.Serial, d.Slot
	}

	w.update(func(tx store.Tx) error {
		m, ok, err := machine.Load(tx, "node-0")
		if err != nil || !ok {
			return err
		}

		m.Power, m.Running = machine.On, machine.Disk

		return machine.Save(tx, m)
	})

	if text := providertest.Errors(w.server.Configure(t, nil)); text != "" {
		t.Fatal(text)
	}

	return w
}

func (w world) update(f func(store.Tx) error) {
	w.t.Helper()

	if err := w.lab.Store.Update(f); err != nil {
		w.t.Fatal(err)
	}
}

// state is what the kernel made of the machine's GPUs.
func (w world) state() (s labnode.State) {
	w.t.Helper()
	w.update(func(tx store.Tx) (err error) {
		s, err = labnode.Load(tx, "node-0")

		return err
	})

	return s
}

func (w world) invoke(more block) (progress, errs string) {
	w.t.Helper()

	config := block{"node": node(), "device_id": w.uuids[0]}
	for name, v := range more {
		config[name] = v
	}

	lines, diags := w.server.Invoke(w.t, "metal3_gpu_drain", config)

	return strings.Join(lines, "\n"), providertest.Errors(diags)
}

// TestDrain_ofTheLab drains a GPU, gives it back, and removes it, beside another.
func TestDrain_ofTheLab(t *testing.T) {
	t.Parallel()

	w := newWorld(t)

	progress, errs := w.invoke(nil)
	if errs != "" || !strings.Contains(progress, "Draining GPU "+w.uuids[0]) || !strings.Contains(progress, "takes no new processes") {
		t.Fatalf("%s\n%s", progress, errs)
	}

	if s := w.state(); !s.GPUs[w.ids[0]].Draining || s.GPUs[w.ids[0]].Removed || s.GPUs[w.ids[1]].Draining {
		t.Errorf("after a drain: %+v", s.GPUs)
	}

	if progress, errs = w.invoke(nil); errs != "" {
		t.Errorf("a second time: %s\n%s", progress, errs)
	}

	if progress, errs = w.invoke(block{"undrain": true}); errs != "" || w.state().GPUs[w.ids[0]].Draining {
		t.Errorf("given back: %s\n%s", progress, errs)
	}

	progress, errs = w.invoke(block{"remove": true})
	if errs != "" || !w.state().GPUs[w.ids[0]].Removed {
		t.Errorf("removed: %s\n%s", progress, errs)
	}

	for _, step := range []string{"Stopping nvidia-persistenced", "Draining GPU", "Removing GPU", "Removing the device file"} {
		if !strings.Contains(progress, step) {
			t.Errorf("no %q in %q", step, progress)
		}
	}

	if progress, errs = w.invoke(nil); !strings.Contains(errs, "no such GPU") {
		t.Errorf("one that is gone: %s\n%s", progress, errs)
	}

	if s := w.state(); s.GPUs[w.ids[1]].Draining || s.GPUs[w.ids[1]].Removed || len(s.Surprises) > 0 {
		t.Errorf("the other GPU: %+v, %v", s.GPUs, s.Surprises)
	}
}

// TestOGPU10_drainOfABusyGPU refuses, and leaves the host as it was, unless forced.
func TestOGPU10_drainOfABusyGPU(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	w.update(func(tx store.Tx) error {
		return labnode.Change(tx, "node-0", func(s *labnode.State) {
			s.Use(w.uuids[0], labnode.Process{PID: 4711, Name: "/usr/bin/train"})
			s.Use(w.uuids[1], labnode.Process{PID: 4712, Name: "/usr/bin/other"})
		})
	})

	before := w.state().GPUs

	_, errs := w.invoke(nil)
	if !strings.Contains(errs, "is in use") || !strings.Contains(errs, "train") || strings.Contains(errs, "other") || !strings.Contains(errs, "force") {
		t.Errorf("got %q", errs)
	}

	after := w.state().GPUs
	for _, id := range w.ids {
		if before[id].Persistence != after[id].Persistence || after[id].Draining || after[id].Removed {
			t.Errorf("GPU %s was %+v and is %+v", id, before[id], after[id])
		}
	}

	progress, errs := w.invoke(block{"force": true})
	if errs != "" || !strings.Contains(progress, "go on") || !w.state().GPUs[w.ids[0]].Draining {
		t.Errorf("forced: %s\n%s", progress, errs)
	}

	if slices.ContainsFunc(w.state().Commands, func(c string) bool { return strings.Contains(c, " -r") }) {
		t.Error("a drain removed something")
	}
}

// TestDrain_wordsFitWhatStays: what could not be put back is not called put back, and a removal
// that the kernel will do is not called undone.
func TestDrain_wordsFitWhatStays(t *testing.T) {
	t.Parallel()

	held := func(s *labnode.State, uuid string) {
		s.Use(uuid, labnode.Process{PID: 4711, Name: "/usr/bin/held", Idle: true})
	}

	for name, c := range map[string]struct {
		config block
		state  func(*labnode.State, world)
		says   []string
		not    string
	}{
		"put back": {state: func(s *labnode.State, w world) { held(s, w.uuids[0]) }, says: []string{"4711 held", "was put back", "set force"}},
		"not put back": {
			state: func(s *labnode.State, w world) {
				held(s, w.uuids[0])

				s.Answers = map[string]labnode.Answer{"nvidia-smi drain -p " + strings.ToUpper(w.slots[0]) + " -m 0": {Stdout: "Unknown Error", Exit: 255}}
			},
			says: []string{"4711 held", "not everything could be put back", "by hand"}, not: "was put back",
		},
		"forced while held": {
			config: block{"remove": true, "force": true}, state: func(s *labnode.State, w world) { held(s, w.uuids[0]) },
			says: []string{"4711 held", "was put back", "end the work"}, not: "set force",
		},
		"pending": {
			config: block{"remove": true, "timeout": "2s"}, state: func(s *labnode.State, _ world) { s.FailRemove, s.RemoveBlocks = true, true },
			says: []string{"could not be removed", "cannot be taken back"}, not: "put back",
		},
		"another driver": {
			state: func(s *labnode.State, w world) {
				g := s.GPUs[w.ids[0]]
				g.Foreign = "vfio-pci"
				s.GPUs[w.ids[0]] = g
			},
			config: block{"pci_bus_id": "slot"}, says: []string{"is in use", "vfio-pci"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t)
			w.invoke(block{"undrain": true}) // the kernel meets its GPUs
			w.update(func(tx store.Tx) error {
				return labnode.Change(tx, "node-0", func(s *labnode.State) { c.state(s, w) })
			})

			if c.config["pci_bus_id"] != nil {
				c.config["pci_bus_id"] = w.slots[0]
			}

			_, errs := w.invoke(c.config)
			for _, want := range c.says {
				if !strings.Contains(errs, want) {
					t.Errorf("no %q in %q", want, errs)
				}
			}

			if c.not != "" && strings.Contains(errs, c.not) {
				t.Errorf("%q in %q", c.not, errs)
			}
		})
	}
}

// TestDrain_failures are hosts that cannot be reached, and one that lost its driver.
func TestDrain_failures(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		state func(*labnode.State)
		says  string
	}{
		"nobody listens":            {func(s *labnode.State) { s.Unreachable = true }, "node-0.lab"},
		"no login":                  {func(s *labnode.State) { s.RefuseLogin = true }, "node-0.lab"},
		"another host answers":      {func(s *labnode.State) { s.HostKeys = 1 }, "host key"},
		"the drain does not happen": {func(s *labnode.State) { s.FailDrain = true }, "could not be drained"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t)
			w.update(func(tx store.Tx) error { return labnode.Change(tx, "node-0", c.state) })

			if _, errs := w.invoke(nil); !strings.Contains(errs, c.says) {
				t.Errorf("no %q in %q", c.says, errs)
			}
		})
	}
}
