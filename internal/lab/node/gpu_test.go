// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

func TestGPU_comesAndGoes(t *testing.T) {
	t.Parallel()

	cases := map[string]func(*node.State){
		"as it comes":                 func(*node.State) {},
		"with the persistence daemon": func(s *node.State) { s.Persistenced, s.Running = true, true },
		"in a virtual machine":        func(s *node.State) { s.VM = true },
		"with a driver container":     func(s *node.State) { s.Driver = node.DriverContainer },
		"with its daemon":             func(s *node.State) { s.Driver, s.Running = node.DriverContainer, true },
		"late":                        func(s *node.State) { s.Hotplug = 90 * time.Second },
		"after a rescan":              func(s *node.State) { s.NeedsRescan = true },
		"with question marks":         func(s *node.State) { s.LazyUUID = true },
		"the driver does not remove":  func(s *node.State) { s.FailRemove = true },
	}

	for what, change := range cases {
		t.Run(what, func(t *testing.T) {
			t.Parallel()

			bubble(t, func(r *rig) {
				t := r.t

				r.change(change)

				before, err := gpu.Remember(t.Context(), r.ops)
				if err != nil {
					t.Fatal(err)
				}

				first, second := r.attach(hardware.GPU), r.attach(hardware.GPU)
				r.see(first, before)
				r.see(second, before)

				if got := r.visible(); !slices.Equal(got, []string{first.Serial, second.Serial}) {
					t.Errorf("nvidia-smi shows %v", got)
				}

				// The first one goes while another stays, then the last one.
				for i, d := range []hardware.Device{first, second} {
					released, err := r.release(d, false)
					if err != nil {
						t.Fatalf("release %d: %v; %q", i, err, r.state().Commands)
					}

					r.detach(d)

					if err := gpu.Finish(t.Context(), r.ops, released); err != nil {
						t.Errorf("finish %d: %v", i, err)
					}

					if got := r.visible(); len(got) != 1-i {
						t.Errorf("after %d: nvidia-smi shows %v", i, got)
					}
				}

				if s := r.state(); len(s.Surprises) > 0 {
					t.Errorf("surprises: %v", s.Surprises)
				}
			})
		})
	}
}

// see waits for a device as an attach does: with a rescan and an initialisation in between.
func (r *rig) see(d hardware.Device, before gpu.Before) {
	r.t.Helper()

	for i := range 40 {
		sight, err := gpu.See(r.t.Context(), r.ops, d.Serial, before)
		if err != nil {
			r.t.Fatal(err)
		}

		if sight.Visible {
			return
		}

		if i == 3 {
			if err := errors.Join(r.ops.Rescan(r.t.Context()), r.ops.Init(r.t.Context())); err != nil {
				r.t.Fatal(err)
			}
		}

		time.Sleep(5 * time.Second)
	}

	r.t.Fatalf("GPU %s is never visible", d.Serial)
}

func TestGPU_doesNotGo(t *testing.T) {
	t.Parallel()

	python := node.Process{PID: 4711, Name: "/usr/bin/python3"}
	holder := node.Process{PID: 4712, Name: "/usr/bin/dcgm-exporter-of-somebody", Idle: true}

	cases := map[string]struct {
		change func(s *node.State, d hardware.Device)
		words  string
	}{
		"a process computes":         {func(s *node.State, d hardware.Device) { s.Use(d.Serial, python) }, "python3"},
		"a process holds it":         {func(s *node.State, d hardware.Device) { s.Use(d.Serial, holder) }, "4712"},
		"it cannot be drained":       {func(s *node.State, _ hardware.Device) { s.FailDrain = true }, "drain"},
		"the kernel does not let go": {func(s *node.State, _ hardware.Device) { s.RemoveBlocks = true }, ""},
		"nvidia_drm has a console":   {func(s *node.State, _ hardware.Device) { s.Modeset = true }, "nvidia_drm"},
	}

	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			t.Parallel()

			bubble(t, func(r *rig) {
				t := r.t

				d := r.attach(hardware.GPU)
				r.change(func(s *node.State) { c.change(s, d) })

				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()

				_, err := gpu.Release(ctx, r.ops, gpu.Target{ID: d.Serial}, gpu.Options{})
				if err == nil || !strings.Contains(err.Error(), c.words) {
					t.Errorf("released: %v", err)
				}

				if what == "the kernel does not let go" {
					if !errors.Is(err, gpu.ErrPending) {
						t.Errorf("released: %v", err)
					}

					return
				}

				if got := r.visible(); len(got) != 1 {
					t.Errorf("after a refusal nvidia-smi shows %v; %q", got, r.state().Commands)
				}
			})
		})
	}
}

// A GPU that a virtual machine has stays with it, unless forced; then it goes when that ends.
func TestGPU_ofAVirtualMachine(t *testing.T) {
	t.Parallel()

	bubble(t, func(r *rig) {
		t := r.t

		d := r.attach(hardware.GPU)
		r.run("true") // the kernel meets it
		r.change(func(s *node.State) {
			g := s.GPUs[d.ID]
			g.Foreign = "vfio-pci"
			s.GPUs[d.ID] = g
			s.Use(d.Serial, node.Process{PID: 77, Name: "/usr/bin/qemu-system-x86_64"})
		})

		if _, err := r.release(d, false); !errors.Is(err, gpu.ErrInUse) || !strings.Contains(err.Error(), "vfio-pci") {
			t.Errorf("released: %v", err)
		}

		if _, err := r.release(d, true); !errors.Is(err, gpu.ErrPending) {
			t.Errorf("released by force: %v", err)
		}

		r.change(func(s *node.State) { s.Use(d.Serial) })

		if released, err := r.release(d, false); err != nil || !released.Absent {
			t.Errorf("when the machine has ended: %+v %v", released, err)
		}
	})
}

// Where somebody holds a GPU the kernel is not even asked to remove it: it would, later.
func TestGPU_forcedWhileHeld(t *testing.T) {
	t.Parallel()

	bubble(t, func(r *rig) {
		t := r.t

		d := r.attach(hardware.GPU)
		r.change(func(s *node.State) { s.Use(d.Serial, node.Process{PID: 78, Name: "/usr/bin/Xorg", Idle: true}) })

		if _, err := r.release(d, true); !errors.Is(err, gpu.ErrInUse) || !strings.Contains(err.Error(), "78 Xorg") {
			t.Errorf("released: %v", err)
		}

		r.change(func(s *node.State) { s.Use(d.Serial) })

		if got := r.visible(); len(got) != 1 {
			t.Errorf("nvidia-smi shows %v", got)
		}
	})
}

func TestGPU_takenWithoutAsking(t *testing.T) {
	t.Parallel()

	bubble(t, func(r *rig) {
		t := r.t

		d := r.attach(hardware.GPU)
		r.run("true") // the kernel meets it
		r.detach(d)
		r.run("true")

		if s := r.state(); len(s.Surprises) != 1 || !strings.Contains(s.Surprises[0], d.ID) {
			t.Errorf("surprises: %v", s.Surprises)
		}
	})
}

func TestGPU_noDriver(t *testing.T) {
	t.Parallel()

	bubble(t, func(r *rig) {
		t := r.t

		r.change(func(s *node.State) { s.Driver = node.DriverNone })

		d := r.attach(hardware.GPU)

		if got, err := r.ops.Driver(t.Context()); got != gpu.DriverNone || err != nil {
			t.Errorf("driver %v %v", got, err)
		}

		if got, err := r.ops.PCI(t.Context()); err != nil || !slices.Equal(got, []string{d.Slot}) {
			t.Errorf("the bus shows %v %v", got, err)
		}

		if _, err := r.ops.Visible(t.Context()); !errors.Is(err, gpu.ErrNoDriver) {
			t.Errorf("visible: %v", err)
		}
	})
}

// What a test puts in place of an answer reaches the parser: the words of O-GPU-09 come so.
func TestOGPU09_answersOfATest(t *testing.T) {
	t.Parallel()

	bubble(t, func(r *rig) {
		t := r.t

		r.attach(hardware.GPU)
		r.change(func(s *node.State) {
			s.Answers = map[string]node.Answer{"nvidia-smi --query-gpu": {Stdout: "Failed to initialize NVML: Driver/library version mismatch\n", Exit: 255}}
		})

		if _, err := r.ops.Visible(t.Context()); err == nil || !strings.Contains(err.Error(), "version mismatch") {
			t.Errorf("visible: %v", err)
		}
	})
}
