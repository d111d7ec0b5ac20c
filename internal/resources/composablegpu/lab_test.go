// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	labnode "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// kinds are the managers that the lab plays.
var kinds = []string{"fti_fm", "fti_cm", "nec_cdim", "redfish"}

// labWorld is a lab with a fabric and machines over SSH, and one resource on it.
type labWorld struct {
	*acctest.Core
	acctest.Lab

	t   *testing.T
	ctx context.Context //nolint:containedctx // of one test
}

// inLab runs a test in virtual time on a lab of its own, over the real drivers and SSH.
func inLab(t *testing.T, kind string, o lab.Options, test func(labWorld)) {
	t.Helper()
	acctest.OneIn(t, 4)

	synctest.Test(t, func(t *testing.T) {
		l := acctest.NewLab(t, o)
		l.Fabric.KeepRequests()

		w := labWorld{Core: l.Core(t, theGPU), Lab: l, t: t, ctx: t.Context()}
		w.Provider = Map{"fabric": Map{"type": kind}}
		test(w)
	})
}

// labHosts are hosts of the lab with connections.
func labHosts(machines ...int) Map {
	var all []any

	for _, i := range machines {
		name := machine.Name(i)
		all = append(all, Map{"machine_id": machine.ID(i), "name": name, "node": Map{"host": name + ".lab", "user": "root"}})
	}

	return Map{"hosts": all}
}

func labGPUs(n int, parts ...Map) Map {
	return gpus(n, append([]Map{labHosts(0)}, parts...)...)
}

// left are the serials of the devices on a machine.
func (w labWorld) left(name string) []string {
	w.t.Helper()

	all, err := w.Fabric.On(name)
	if err != nil {
		w.t.Fatal(err)
	}

	var out []string
	for _, d := range all {
		out = append(out, d.Serial)
	}

	return out
}

// node changes the operating system of the first machine.
func (w labWorld) node(f func(*labnode.State)) (s labnode.State) {
	w.t.Helper()

	err := w.Store.Update(func(tx store.Tx) (err error) {
		if f != nil {
			err = labnode.Change(tx, "node-0", f)
		}

		if err == nil {
			s, err = labnode.Load(tx, "node-0")
		}

		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}

	return s
}

// orders are how often the fabric did something for us.
func (w labWorld) orders() int {
	w.t.Helper()

	all, err := w.Fabric.Effects()
	if err != nil {
		w.t.Fatal(err)
	}

	return len(all)
}

// ordering is a fault of the next order.
func ordering(f labfabric.Fault) labfabric.Fault {
	f.When = func(r *http.Request, _ []byte) bool {
		return labfabric.Request{Method: r.Method, Path: r.URL.Path}.Mutates()
	}

	return f
}

func (w labWorld) apply(config Map) {
	w.t.Helper()

	if o := w.Apply(w.ctx, config); o.Errors != "" {
		w.t.Fatalf("apply: %s", o.Errors)
	}

	if again := w.Plan(w.ctx, config); again.Action != "" || again.Errors != "" {
		w.t.Errorf("the plan after it is %q, changes %v: %s", again.Action, again.Changed, again.Errors)
	}
}

func (w labWorld) devices() int {
	all, _ := w.Get("devices").([]any)

	return len(all)
}

// TestLab_life is a whole life on each kind of manager: create, scale, change of a mere
// setting, both imports, destroy.
func TestLab_life(t *testing.T) {
	t.Parallel()

	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()

			inLab(t, kind, lab.Options{}, func(w labWorld) {
				for _, n := range []int{2, 1, 4, 2, 0, 1} {
					w.apply(labGPUs(n))

					if len(w.left("node-0")) != n || w.devices() != n || w.Get("state") != "Running" {
						t.Fatalf("size %d: %v on the machine, state %v", n, w.left("node-0"), w.State())
					}
				}

				before := w.orders()

				w.apply(labGPUs(1, Map{"force_detach": true}))

				all, _ := w.Get("devices").([]any)
				one, _ := all[0].(Map)
				fabricID, _ := one["fabric_device_id"].(string)

				for _, id := range []string{machine.ID(0) + "/gpu/A100", machine.ID(0) + "/" + fabricID} {
					w.Forget()

					if o := w.Import(w.ctx, id); o.Errors != "" || w.devices() != 1 {
						t.Fatalf("import of %s: %s", id, o.Errors)
					}

					w.apply(labGPUs(1))
				}

				if w.orders() != before {
					t.Errorf("settings and imports ordered something, beside the first %d orders", before)
				}

				if o := w.Apply(w.ctx, nil); o.Errors != "" || w.Exists() || len(w.left("node-0")) != 0 {
					t.Errorf("destroy: %v left: %s", w.left("node-0"), o.Errors)
				}

				if s := w.node(nil).Surprises; len(s) != 0 {
					t.Errorf("the kernel was surprised: %v", s)
				}
			})
		})
	}
}

// TestLab_lostAnswers are orders whose answer says nothing about what was done: one device
// comes, whatever was answered.
func TestLab_lostAnswers(t *testing.T) {
	t.Parallel()

	for name, fault := range map[string]labfabric.Fault{
		"the answer is lost":             labfabric.LostAnswer(""),
		"the request is lost":            labfabric.LostRequest(""),
		"500 although it was done":       labfabric.BrokenAfter("", http.StatusInternalServerError),
		"HTML":                           {AfterWork: true, Status: http.StatusOK, Body: "<html><title>OK</title></html>", Header: map[string]string{"Content-Type": "text/html"}},
		"half an answer":                 labfabric.Truncated(""),
		"other types than documented":    labfabric.Rewritten("", labfabric.WrongTypes()),
		"an empty status word (OGPU01)":  labfabric.Rewritten("", labfabric.Set("res_op_status", "")),
		"no status word at all (OGPU01)": labfabric.Rewritten("", labfabric.Drop("res_op_status")),
		"busy three times":               labfabric.Refusing("", http.StatusConflict, 3),
		"overloaded":                     labfabric.Overloaded("", 2, 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, "fti_fm", lab.Options{}, func(w labWorld) {
				w.Fabric.Inject(ordering(fault))
				w.apply(labGPUs(1))

				if len(w.left("node-0")) != 1 || w.devices() != 1 {
					t.Errorf("on the machine: %v", w.left("node-0"))
				}

				if o := w.Apply(w.ctx, nil); o.Errors != "" || len(w.left("node-0")) != 0 {
					t.Errorf("left %v: %s", w.left("node-0"), o.Errors)
				}
			})
		})
	}
}

// TestLab_interruptDuringTheOrder cancels while the fabric is at work: the device is in the state.
func TestLab_interruptDuringTheOrder(t *testing.T) {
	t.Parallel()

	inLab(t, "fti_fm", lab.Options{}, func(w labWorld) {
		ctx, stop := context.WithCancel(w.ctx)
		f := ordering(labfabric.Slow("", 3*time.Second))
		f.First = func(store.Tx, time.Time) error { stop(); return nil }
		w.Fabric.Inject(f)

		o := w.Apply(ctx, labGPUs(2))
		if o.Errors != "" || w.Tainted || w.devices() != 1 || len(w.left("node-0")) != 1 || !strings.Contains(o.Warnings, "interrupted") {
			t.Fatalf("%d in the state, %v on the machine: %s / %s", w.devices(), w.left("node-0"), o.Errors, o.Warnings)
		}

		w.apply(labGPUs(2))
	})
}

// TestLab_refusals attach nothing, and say why.
func TestLab_refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		with  Map
		node  func(*labnode.State)
		lab   lab.Options
		there bool // a device of somebody else
		want  []string
	}{
		"too few in the pool":              {with: Map{"size": 3}, lab: lab.Options{GPUs: map[string]int{"A100": 2}}, want: []string{`step "place"`, "node-0"}},
		"no driver on the host":            {node: func(s *labnode.State) { s.Driver = labnode.DriverNone }, want: []string{`step "check the driver on"`, "NVIDIA driver", "node-0"}},
		"a host that is not there":         {node: func(s *labnode.State) { s.Unreachable = true }, want: []string{"node-0", "not reached"}},
		"a model that nobody has (OGPU06)": {with: Map{"model": "A100 40G"}, want: []string{"A100 40G"}},
		"a device that is there":           {there: true, want: []string{"existing_devices", "that this resource does not know"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, "fti_fm", c.lab, func(w labWorld) {
				if c.node != nil {
					w.node(c.node)
				}

				left := 0

				if c.there {
					left = 1

					if err := w.Fabric.Change(func(tx store.Tx, now time.Time) error {
						_, err := hardware.AttachForeign(tx, now, "node-0", hardware.Pick(hardware.GPU, "A100"), 0)

						return err
					}); err != nil {
						t.Fatal(err)
					}
				}

				before := w.orders()

				o := w.Apply(w.ctx, labGPUs(1, c.with))
				if len(w.left("node-0")) != left || w.Exists() || w.orders() != before {
					t.Errorf("%v on the machine, %d orders, state %v", w.left("node-0"), w.orders()-before, w.State())
				}

				for _, word := range c.want {
					if !strings.Contains(o.Errors, word) {
						t.Errorf("the error lacks %q: %s", word, o.Errors)
					}
				}
			})
		})
	}
}

// TestOGPU11_shownLate has a host that shows the device never, after a rescan, or late.
func TestOGPU11_shownLate(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		node func(*labnode.State)
		ok   bool
	}{
		"after a rescan":   {func(s *labnode.State) { s.NeedsRescan = true }, true},
		"after 90 seconds": {func(s *labnode.State) { s.Hotplug = 90 * time.Second }, true},
		"never":            {func(s *labnode.State) { s.Never = true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, "fti_fm", lab.Options{}, func(w labWorld) {
				w.node(c.node)

				o := w.Apply(w.ctx, labGPUs(1))
				if (o.Errors == "") != c.ok || w.devices() != 1 || len(w.left("node-0")) != 1 {
					t.Fatalf("%v: %s", w.State(), o.Errors)
				}

				if c.ok {
					return
				}

				if !strings.Contains(o.Errors, `step "wait for the host to show"`) || !w.Tainted {
					t.Errorf("tainted %v: %s", w.Tainted, o.Errors)
				}

				w.node(func(s *labnode.State) { s.Never = false })
				w.Untaint()
				w.apply(labGPUs(1))

				if w.orders() != 1 || w.Get("state") != "Running" {
					t.Errorf("%d orders, %v", w.orders(), w.State())
				}
			})
		})
	}
}

// TestLab_busyGPU has processes on a GPU that is to go.
func TestLab_busyGPU(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		with    Map
		process labnode.Process
		goes    bool
		says    string
	}{
		"a process computes":         {process: labnode.Process{PID: 4711, Name: "/usr/bin/python3"}, says: "python3"},
		"a process holds the device": {process: labnode.Process{PID: 4712, Name: "/usr/bin/monitor", Idle: true}, says: "monitor"},
		"a process that the driver waits for, whatever is forced": {
			with: Map{"force_detach": true}, process: labnode.Process{PID: 4711, Name: "/usr/bin/python3"}, says: "in use by 4711 python3",
		},
		"a process, and nobody is asked": {with: Map{"skip_drain": "always"}, process: labnode.Process{PID: 4711, Name: "/usr/bin/python3"}, goes: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, "fti_fm", lab.Options{}, func(w labWorld) {
				w.apply(labGPUs(2, c.with))

				serials := w.left("node-0")
				w.node(func(s *labnode.State) { s.Use(serials[0], c.process) })

				o := w.Apply(w.ctx, nil)

				want := []string{serials[0]}
				if c.goes {
					want = nil
				}

				if !slices.Equal(w.left("node-0"), want) || w.Exists() == c.goes || !strings.Contains(o.Errors, c.says) {
					t.Errorf("left %v of %v: %s", w.left("node-0"), serials, o.Errors)
				}

				if !c.goes && w.devices() != 1 {
					t.Errorf("in the state: %v", w.Get("devices"))
				}
			})
		})
	}
}

// TestLab_differentnode spreads devices, and leaves a host.
func TestLab_differentnode(t *testing.T) {
	t.Parallel()

	spread := Map{"allocation_policy": "differentnode"}

	inLab(t, "fti_fm", lab.Options{}, func(w labWorld) {
		w.apply(gpus(2, labHosts(0, 1, 2), spread))

		if len(w.left("node-0")) != 1 || len(w.left("node-1")) != 1 || len(w.left("node-2")) != 0 {
			t.Errorf("spread: %v, %v, %v", w.left("node-0"), w.left("node-1"), w.left("node-2"))
		}

		stays := w.left("node-1")
		w.apply(gpus(2, labHosts(1, 2), spread))

		if len(w.left("node-0")) != 0 || !slices.Equal(w.left("node-1"), stays) || len(w.left("node-2")) != 1 {
			t.Errorf("one host less: %v, %v, %v", w.left("node-0"), w.left("node-1"), w.left("node-2"))
		}
	})
}

// TestLab_cxlWithoutConnection runs no command on any host.
func TestLab_cxlWithoutConnection(t *testing.T) {
	t.Parallel()

	inLab(t, "fti_fm", lab.Options{}, func(w labWorld) {
		all, err := w.Fabric.Devices()
		if err != nil {
			t.Fatal(err)
		}

		at := slices.IndexFunc(all, func(d hardware.Device) bool { return d.Type == "cxlmemory" })
		if at < 0 {
			t.Skip("the lab has no CXL memory")
		}

		config := Map{"type": "cxlmemory", "model": all[at].Model, "size": 1, "hosts": []any{Map{"machine_id": machine.ID(0)}}}
		w.apply(config)

		if len(w.left("node-0")) != 1 || w.Get("state") != "Running" {
			t.Errorf("on the machine: %v", w.left("node-0"))
		}

		if o := w.Apply(w.ctx, nil); o.Errors != "" || len(w.left("node-0")) != 0 || len(w.node(nil).Commands) != 0 {
			t.Errorf("left %v, commands %v: %s", w.left("node-0"), w.node(nil).Commands, o.Errors)
		}
	})
}
