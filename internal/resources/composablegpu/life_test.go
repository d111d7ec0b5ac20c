// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

func TestGPU_lifeOfTwo(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		o := w.apply(gpus(2, node()))

		if o.Action != "create" || w.Get("state") != "Running" || w.Get("size") != int64(2) || len(w.devices()) != 2 || w.Get("placement."+m0) != int64(2) {
			t.Errorf("%s: %v", o.Action, w.State())
		}

		if w.first("state") != "Online" || w.first("health") != "ok" || w.first("pci_bus_id") != "0000:1f:00.0" || w.first("device_id") != "GPU-01" || w.first("host_name") != "node-0" {
			t.Errorf("device: %v", w.Get("devices"))
		}

		if o = w.destroy(); !strings.Contains(o.Warnings, "Devices of GPU A100 of node-0 will be detached") {
			t.Errorf("the destroy said: %s", o.Warnings)
		}

		if left := w.farm.left(); len(left) != 0 {
			t.Errorf("left on the fabric: %v", left)
		}
	})
}

func TestGPU_scale(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		for _, n := range []int{1, 4, 2, 0, 1} {
			w.apply(gpus(n))

			if got := w.farm.left(); len(got) != n || len(w.devices()) != n || w.Get("state") != "Running" {
				t.Errorf("size %d: fabric %v, state %v", n, got, w.devices())
			}
		}
	})
}

// TestOGPU13_shrinkTakesTheIdle shrinks where the oldest device is busy and the others idle.
func TestOGPU13_shrinkTakesTheIdle(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(3, node()))
		w.host.idle = map[string]bool{"f01": false, "f02": true, "f03": true}

		o := w.apply(gpus(1, node()))
		if got := w.farm.left(); !slices.Equal(got, []string{"f01"}) {
			t.Errorf("left: %v", got)
		}

		if !strings.Contains(o.Warnings, "2 of these 3 go") {
			t.Errorf("the plan said: %s", o.Warnings)
		}

		w.apply(gpus(3, node()))
		w.apply(gpus(2, node(), Map{"detach_first": []any{"GPU-01"}}))

		if got := w.farm.left(); slices.Contains(got, "f01") || len(got) != 2 {
			t.Errorf("detach_first was not first: %v", got)
		}
	})
}

// TestOGPU13_thirdAttachFails grows from two to three, and the third fails.
func TestOGPU13_thirdAttachFails(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(2))
		w.farm.onAttach = func(int) error { return refused }

		o := w.Apply(w.ctx, gpus(3))
		if o.Errors == "" || w.Tainted || len(w.devices()) != 2 || w.Get("size") != int64(2) || w.Get("state") != "Degraded" {
			t.Errorf("%s: %v", o.Errors, w.State())
		}

		for _, word := range []string{"GPU A100 of node-0", `step "attach"`, "E0077", "the switch has no free port", "Of 3 devices wanted, 2 stand"} {
			if !strings.Contains(o.Errors, word) {
				t.Errorf("the error lacks %q: %s", word, o.Errors)
			}
		}

		w.farm.onAttach = nil

		if p := w.Plan(w.ctx, gpus(3)); p.Action != "update" {
			t.Errorf("the next plan is %q", p.Action)
		}

		w.apply(gpus(3))
	})
}

// TestGPU_settingsTouchNothing changes what only the provider uses.
func TestGPU_settingsTouchNothing(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(2))

		for name, change := range map[string]Map{
			"force_detach": {"force_detach": true}, "skip_drain": {"skip_drain": "always"}, "timeouts": {"timeouts": Map{"attach": "20m"}},
			"a connection": node(), "detach_first": {"detach_first": []any{"f01"}}, "on_partial": {"on_partial": "keep"},
			"other_spec with capacity": {
				"other_spec": Map{"milli_cpu": 1000}, "hosts": []any{Map{"machine_id": m0, "capacity": Map{"cpu_millis": 2000}}},
			},
			"another spelling of the machine": hosts("fsas-cdi://" + strings.ToUpper(m0)),
		} {
			p := w.Plan(w.ctx, gpus(2, change))
			if p.Action != "update" || slices.Contains(p.Changed, "devices") || slices.Contains(p.Changed, "state") || p.Warnings != "" {
				t.Errorf("%s: %q, changes %v, warns %s", name, p.Action, p.Changed, p.Warnings)
			}

			before := w.farm.attached + w.farm.detached

			w.farm.byHand(func() { w.farm.reads, w.farm.asked = 0, 0 })

			if o := w.Apply(w.ctx, gpus(2, change)); o.Errors != "" {
				t.Errorf("%s: %s", name, o.Errors)
			}

			if w.farm.attached+w.farm.detached != before {
				t.Errorf("%s: devices were touched", name)
			}

			if w.farm.asked > 1 { // the refresh
				t.Errorf("%s: the fabric was asked %d times", name, w.farm.asked)
			}
		}
	})
}

// TestGPU_failedCreate fails a create at its third device.
func TestGPU_failedCreate(t *testing.T) {
	t.Parallel()

	third := func(n int) error {
		if n > 2 {
			return refused
		}

		return nil
	}

	for name, c := range map[string]struct {
		with            Map
		left            int
		exists, tainted bool
	}{
		"all is rolled back":                          {Map{}, 0, false, false},
		"what came stays, and is tainted":             {Map{"on_partial": "keep"}, 2, true, true},
		"what came stays, and the next plan goes on":  {Map{"on_partial": "keep", "on_create_failure": "keep"}, 2, true, false},
		"rolled back, and the empty resource is kept": {Map{"on_create_failure": "keep"}, 0, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.farm.onAttach = third
				config := gpus(4, c.with)
				o := w.Apply(w.ctx, config)

				if len(w.farm.left()) != c.left || w.Exists() != c.exists || w.Tainted != c.tainted || c.tainted != strings.Contains(o.Errors, "terraform untaint") {
					t.Fatalf("left %v, state %v, tainted %v: %s %s", w.farm.left(), w.State(), w.Tainted, o.Errors, o.Warnings)
				}

				if !o.Says("the switch has no free port") || !o.Says("Of 4 devices wanted") {
					t.Errorf("said: %s %s", o.Errors, o.Warnings)
				}

				if c.exists && (len(w.devices()) != c.left || w.Get("state") != "Degraded") {
					t.Errorf("state: %v", w.State())
				}

				w.farm.onAttach = nil
				w.Untaint()

				if p := w.Plan(w.ctx, config); c.exists && (p.Action != "update" || p.Errors != "") {
					t.Errorf("the next plan is %q: %s", p.Action, p.Errors)
				}

				w.apply(config)

				if len(w.farm.left()) != 4 || w.Get("state") != "Running" {
					t.Errorf("at the end: %v, %v", w.farm.left(), w.State())
				}
			})
		})
	}
}

// TestGPU_interruptedCreate stops a create between two devices.
func TestGPU_interruptedCreate(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		ctx, stop := context.WithCancel(w.ctx)
		defer stop()

		w.farm.onAttach = func(n int) error {
			if n == 2 {
				stop()
			}

			return nil
		}

		o := w.Apply(ctx, gpus(4))
		if o.Errors != "" || w.Tainted || !strings.Contains(o.Warnings, "interrupted") || len(w.devices()) != 2 || len(w.farm.left()) != 2 {
			t.Fatalf("tainted %v, devices %v on %v: %s / %s", w.Tainted, w.devices(), w.farm.left(), o.Errors, o.Warnings)
		}

		w.farm.onAttach = nil
		w.apply(gpus(4))
	})
}

// TestGPU_interruptedUpdateAndDelete end with errors and keep what is.
func TestGPU_interruptedUpdateAndDelete(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(1))

		ctx, stop := context.WithCancel(w.ctx)
		w.farm.onAttach = func(int) error { stop(); return nil }

		if o := w.Apply(ctx, gpus(4)); !strings.Contains(o.Errors, "interrupted") || len(w.devices()) != 2 || w.Tainted {
			t.Errorf("update: %v: %s", w.devices(), o.Errors)
		}

		w.farm.onAttach = nil
		w.apply(gpus(4))

		ctx, stop = context.WithCancel(w.ctx)
		w.farm.onDetach = func(fabric.Device) error { stop(); return nil }

		if o := w.Apply(ctx, nil); !strings.Contains(o.Errors, "interrupted") || !w.Exists() || len(w.devices()) != 3 || len(w.farm.left()) != 3 {
			t.Errorf("delete: %v on %v: %s", w.devices(), w.farm.left(), o.Errors)
		}

		w.farm.onDetach = nil
		w.destroy()
	})
}

// TestGPU_panic is a bug of ours: a diagnostic, and what is known stays in the state.
func TestGPU_panic(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.farm.onAttach = func(n int) error {
			if n == 2 {
				panic("a bug of ours")
			}

			return nil
		}

		o := w.Apply(w.ctx, gpus(2, Map{"on_partial": "keep"}))
		if !strings.Contains(o.Errors, "please report it") || len(w.devices()) != 1 || !w.Tainted {
			t.Errorf("create: %v: %s", w.devices(), o.Errors)
		}

		w.farm.onAttach = nil
		w.farm.panics = true

		if o := w.Refresh(w.ctx); !strings.Contains(o.Errors, "please report") || len(w.devices()) != 1 {
			t.Errorf("refresh: %v: %s", w.devices(), o.Errors)
		}

		w.farm.panics = false
		w.Untaint()
		w.apply(gpus(2))
	})
}

// TestGPU_neverVisible has a host that never shows the device.
func TestGPU_neverVisible(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.host.blind = errors.New("no such GPU")
		config := gpus(1, node()) // on_partial: a host may yet show it, so nothing is rolled back

		o := w.Apply(w.ctx, config)
		if !w.Tainted || w.first("state") != "Attaching" || w.first("device_id") != "GPU-01" || !strings.Contains(o.Errors, `"wait for the host to show" failed`) {
			t.Fatalf("%v: %s", w.Get("devices"), o.Errors)
		}

		w.host.blind = nil
		w.Untaint()
		w.apply(config)

		if w.farm.attached != 1 || w.first("state") != "Online" {
			t.Errorf("%d attached: %v", w.farm.attached, w.Get("devices"))
		}
	})
}

// TestOGPU12_hostIsGone destroys while the host cannot be reached.
func TestOGPU12_hostIsGone(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		with Map
		off  bool
		goes bool
	}{
		"merely unreachable is an error":              {Map{}, false, false},
		"skip_drain = if_unreachable":                 {Map{"skip_drain": "if_unreachable"}, false, true},
		"skip_drain = always":                         {Map{"skip_drain": "always"}, false, true},
		"powered off, as the fabric says":             {Map{}, true, true},
		"force_detach: the user says that it is gone": {Map{"force_detach": true}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.apply(gpus(2, node(), c.with))
				w.host.unreachable = device.ErrUnreachable

				if c.off {
					w.farm.byHand(func() { w.farm.machines[0].Power = fabric.PowerOff })
				}

				o := w.Apply(w.ctx, nil)
				if (o.Errors == "") != c.goes || w.Exists() == c.goes || (len(w.farm.left()) == 0) != c.goes {
					t.Errorf("left %v, exists %v: %s", w.farm.left(), w.Exists(), o.Errors)
				}
			})
		})
	}
}
