// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
)

var (
	python = node.Process{PID: 4711, Name: "/usr/bin/python3"}
	holder = node.Process{PID: 4712, Name: "/usr/bin/dcgm", Idle: true}
)

// TestOGPU11_visible has systems that show a new device late, or not.
func TestOGPU11_visible(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		system func(s *node.State)
		never  bool
	}{
		"11.23 at once":                          {func(*node.State) {}, false},
		"11.23 after a rescan":                   {func(s *node.State) { s.NeedsRescan = true }, false},
		"11.23 after 90 seconds":                 {func(s *node.State) { s.Hotplug = 90 * time.Second }, false},
		"11.23 without a UUID until nvidia-smi":  {func(s *node.State) { s.LazyUUID = true }, false},
		"11.23 in a driver container":            {func(s *node.State) { s.Driver = node.DriverContainer }, false},
		"11.23 never":                            {func(s *node.State) { s.Never = true }, true},
		"11.23 nvidia-smi fails (O-GPU-09)":      {smi("Failed to initialize NVML: Unknown Error\n", 255), true},
		"11.23 a line without a comma":           {smi("GPU-11111111-2222-4333-8444-555555555555\n", 0), true},
		"11.23 values that are none (O-GPU-09)":  {smi("[Unknown Error], [N/A]\n", 0), true},
		"11.23 no devices were found (O-GPU-09)": {smi("No devices were found\n", 6), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{}, func(w world) {
				w.system(c.system)

				config := gpus(1, nodes(0), Map{"timeouts": Map{"visible": "5m"}})

				if !c.never {
					w.apply(config)
					w.known()
					w.destroy()

					return
				}

				begun := time.Now()
				w.fails(config, `step "wait for the host to show" failed on node-0`, "goes on waiting")
				w.count(1)

				if took := time.Since(begun); took > 6*time.Minute || !w.Tainted || w.first("state") != "Attaching" || w.first("device_id") == "" {
					t.Errorf("after %s: tainted %v, %v", took, w.Tainted, w.Get("devices"))
				}

				// The next apply goes on at the look, and a destroy finds the device.
				w.system(func(s *node.State) { s.Never, s.Answers = false, nil })
				w.Untaint()
				w.apply(config)
				w.known()

				if n := w.attached(); n != 1 {
					t.Errorf("%d attached in all", n)
				}

				w.destroy()
				w.count(0)
			})
		})
	}
}

// smi makes nvidia-smi answer the question for GPUs so.
func smi(stdout string, exit int) func(*node.State) {
	return func(s *node.State) {
		s.Answers = map[string]node.Answer{"nvidia-smi --query-gpu": {Stdout: stdout, Exit: exit}}
	}
}

// TestGPU_destroyInvisible destroys a device that its host never showed.
func TestGPU_destroyInvisible(t *testing.T) {
	t.Parallel()

	t.Run("11.23 a destroy detaches what was never visible", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{}, func(w world) {
			w.system(func(s *node.State) { s.Never = true })
			w.fails(gpus(1, nodes(0), Map{"timeouts": Map{"visible": "1m"}}), "wait for the host to show")
			w.count(1)
			w.destroy()
			w.count(0)
		})
	})
}

// use is who uses which of two devices when they are to go.
type use struct {
	first, second []node.Process
	system        func(s *node.State)
	config        Map
	goes          bool
	says          string
	rough         bool
	ends          bool // the processes end after half a minute
}

// TestOGPU10_busy destroys two devices, or one of them, while processes use them.
func TestOGPU10_busy(t *testing.T) {
	t.Parallel()

	all := func(p ...node.Process) []node.Process { return p }

	for name, c := range map[string]use{
		"11.24 idle":                                     {goes: true},
		"11.24 a process computes":                       {first: all(python), says: "python3"},
		"11.24 a process computes on the second":         {second: all(python), says: "python3"},
		"11.24 a process only holds it":                  {first: all(holder), says: "dcgm"},
		"11.24 a holder in a container":                  {first: all(node.Process{PID: 9, Name: "/usr/bin/train", Idle: true, OtherFS: true}), says: "train"},
		"11.24 a name with commas (O-GPU-09)":            {first: all(node.Process{PID: 9, Name: "/usr/bin/python3 train.py --lr=1,2,3"}), says: "python3 train.p"}, // the kernel keeps 15 letters
		"11.24 force_detach asks the driver, not us":     {first: all(python), config: Map{"force_detach": true}, says: "skip_drain = \"always\""},
		"11.24 force_detach, and it is pulled away":      {first: all(python), config: Map{"force_detach": true, "skip_drain": "always"}, goes: true, rough: true},
		"11.24 without force nobody waits for its end":   {first: all(python), ends: true, says: "python3"},
		"11.24 force_detach names who is in the way":     {second: all(holder), config: Map{"force_detach": true}, says: "dcgm"},
		"11.24 a virtual machine, and its last GPU":      {system: func(s *node.State) { s.VM = true }, goes: true},
		"11.24 the daemon of persistence runs":           {system: func(s *node.State) { s.Persistenced, s.Running = true, true }, goes: true},
		"11.24 a driver container":                       {system: func(s *node.State) { s.Driver = node.DriverContainer }, goes: true},
		"11.24 the driver cannot remove, the kernel can": {system: func(s *node.State) { s.FailRemove = true }, goes: true},
		"11.24 it cannot be drained":                     {system: func(s *node.State) { s.FailDrain = true }, says: "drain"},
		"11.24 a console keeps the last GPU's driver":    {system: func(s *node.State) { s.Modeset = true }, says: "nvidia_drm"},
		"11.24 it cannot be drained, and need not be":    {system: func(s *node.State) { s.FailDrain = true }, config: Map{"skip_drain": "always"}, goes: true, rough: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{rough: c.rough}, func(w world) {
				w.system(func(s *node.State) {
					if c.system != nil {
						c.system(s)
					}
				})
				w.apply(gpus(2, nodes(0), c.config))

				devices := w.on(0)
				w.system(func(s *node.State) {
					s.Use(devices[0].Serial, c.first...)
					s.Use(devices[1].Serial, c.second...)
				})

				if c.ends {
					time.AfterFunc(30*time.Second, func() { w.system(func(s *node.State) { s.Processes = nil }) })
				}

				running := w.node(0).Running
				o := w.Apply(w.ctx, nil)

				if (o.Errors == "") != c.goes || w.Exists() == c.goes || !strings.Contains(o.Errors, c.says) {
					t.Errorf("exists %v: %s", w.Exists(), o.Errors)
				}

				if c.goes {
					w.count(0)

					return
				}

				w.keeps(c, devices, running)

				// Once nobody uses it any more it goes.
				w.system(func(s *node.State) { s.Processes, s.FailDrain, s.Modeset = nil, false, false })
				w.destroy()
			})
		})
	}
}

// keeps wants every device that is used to be as it was: on the machine, in the state, in the
// system and not draining. The other one goes.
func (w world) keeps(c use, devices []hardware.Device, running bool) {
	w.t.Helper()

	s := w.node(0)

	for i, processes := range [][]node.Process{c.first, c.second} {
		if len(processes) == 0 {
			continue
		}

		d, g := devices[i], s.GPUs[devices[i].ID]
		if g.Removed || g.Draining || !g.File || s.Running != running {
			w.t.Errorf("the system has %+v", g)
		}

		if !slices.Contains(w.devices(), d.ID) {
			w.t.Errorf("%s is no longer in the state", d.ID)
		}
	}

	if len(c.first)+len(c.second) > 0 {
		w.count(1)
	}

	if w.Get("state") != "Degraded" {
		w.t.Errorf("state %v", w.Get("state"))
	}
}

// TestOGPU12_unreachable destroys while the host does not answer.
func TestOGPU12_unreachable(t *testing.T) {
	t.Parallel()

	systems := map[string]func(s *node.State){
		"nobody listens":    func(s *node.State) { s.Unreachable = true },
		"another host key":  func(s *node.State) { s.HostKeys = 1 },
		"the login fails":   func(s *node.State) { s.RefuseLogin = true },
		"commands hang":     func(s *node.State) { s.Hang = "gpu-present" },
		"a name of nobody":  nil,
		"it is powered off": nil,
	}

	for name, c := range map[string]struct {
		with Map
		goes bool
	}{
		"11.25 skip_drain = never":           {Map{"skip_drain": "never"}, false},
		"11.25 skip_drain = if_unreachable":  {Map{"skip_drain": "if_unreachable"}, true},
		"11.25 skip_drain = always":          {Map{"skip_drain": "always"}, true},
		"11.25 force_detach says it is gone": {Map{"force_detach": true}, true},
	} {
		for how, system := range systems {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()

				inLab(t, setup{rough: true}, func(w world) {
					config := gpus(2, nodes(0), c.with)
					w.apply(config)

					goes := c.goes

					switch how {
					case "a name of nobody":
						w.apply(gpus(2, c.with, Map{"hosts": []any{Map{"machine_id": hostID(0), "node": Map{"host": "node-99.lab"}}}}))
					case "it is powered off":
						w.off(0)

						goes = true
					default:
						w.system(system)
					}

					// A host that refuses us, or whose commands hang, is not a dead one.
					if c.with["skip_drain"] != "always" && (how == "another host key" || how == "the login fails" || how == "commands hang") {
						goes = false
					}

					o := w.Apply(w.ctx, nil)
					if (o.Errors == "") != goes || w.Exists() == goes || (len(w.on(0)) == 0) != goes {
						t.Errorf("left %v, exists %v: %s %s", w.on(0), w.Exists(), o.Errors, o.Warnings)
					}

					if !goes {
						w.count(2)
					}
				})
			})
		}
	}
}

// off switches a machine off: the fabric says so, and no system answers.
func (w world) off(i int) {
	w.t.Helper()
	w.lab.Change(w.t, machine.Name(i), func(m *machine.Machine) { m.Power, m.Resets = machine.Off, 1 })
}

// TestGPU_cxl attaches CXL memory.
func TestGPU_cxl(t *testing.T) {
	t.Parallel()

	memory := Map{"type": "cxlmemory", "model": "CXL-64G"}

	for _, k := range []kind{fm, cm, cdim, blocks} {
		t.Run("11.30 without a connection no command runs on a host, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				w.apply(gpus(2, memory))
				w.count(2)
				w.apply(gpus(1, memory))
				w.destroy()
				w.count(0)

				if got := w.node(0).Commands; len(got) > 0 {
					t.Errorf("commands: %q", got)
				}
			})
		})

		t.Run("11.30 with one it is seen and put out of use, and no GPU is asked for, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				w.system(noDriver)
				w.apply(gpus(2, memory, nodes(0)))
				w.count(2)
				w.destroy()
				w.count(0)

				ran := strings.Join(w.node(0).Commands, "\n")
				for _, want := range []string{"cxl-list", "daxctl offline-memory", "daxctl disable-device", "cxl disable-region", "cxl destroy-region", "cxl disable-memdev"} {
					if !strings.Contains(ran, want) {
						t.Errorf("%s did not run:\n%s", want, ran)
					}
				}

				for _, word := range []string{"nvidia", "gpu", "modinfo"} {
					if strings.Contains(ran, word) {
						t.Errorf("%s ran:\n%s", word, ran)
					}
				}
			})
		})
	}

	t.Run("11.30 memory in use stays", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{}, func(w world) {
			w.apply(gpus(1, memory, nodes(0)))
			w.system(func(s *node.State) { s.CXLInUse = true })

			if o := w.Apply(w.ctx, nil); !strings.Contains(o.Errors, "busy") && !strings.Contains(o.Errors, "in use") || !w.Exists() {
				t.Errorf("%s", o.Errors)
			}

			w.count(1)
			w.system(func(s *node.State) { s.CXLInUse = false })
			w.destroy()
		})
	})
}
