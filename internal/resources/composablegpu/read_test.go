// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// TestGPU_drift changes the fabric behind Terraform's back.
func TestGPU_drift(t *testing.T) {
	t.Parallel()

	config := gpus(2, hosts(m0, m1))

	for name, c := range map[string]struct {
		by     func(f *farm)
		says   string // of the refresh
		fails  bool
		action string // of the plan
		state  string
		left   int
	}{
		"a device vanished": {by: func(f *farm) { f.take(m0, "f01") }, says: "no longer shows GPU-01", action: "update", state: "Degraded", left: 1},
		"all devices vanished": {
			by: func(f *farm) { f.take(m0, "f01"); f.take(m0, "f02") }, says: "no longer shows", action: "update", state: "Degraded", left: 0,
		},
		"a device became critical": {
			by: func(f *farm) { f.machines[0].Devices[0].Health = fabric.HealthCritical }, says: "is critical", action: "", state: "Running", left: 2,
		},
		"a device has a warning (OGPU02)": {
			by: func(f *farm) { f.machines[0].Devices[0].Health = fabric.HealthWarning }, says: "has a warning", action: "", state: "Running", left: 2,
		},
		"a device was moved": {by: func(f *farm) {
			d := f.machines[0].Devices[0]
			f.take(m0, d.FabricID)
			f.machines[1].Devices = append(f.machines[1].Devices, d)
		}, says: "Somebody moved it", action: "update", state: "Degraded", left: 2},
		"a foreign device came": {by: func(f *farm) { f.put(m0, "gpu", "A100") }, action: "", state: "Running", left: 2},
		"a machine without devices is gone": {
			by: func(f *farm) { f.machines = slices.Delete(f.machines, 1, 2) }, says: "is gone from the fabric", action: "", state: "Running", left: 2,
		},
		"a machine with the devices is gone": {
			by: func(f *farm) { f.machines[0].State = fabric.Gone }, says: "is gone from the fabric", action: "update", state: "Degraded", left: 0,
		},
		"the fabric is down": {by: func(f *farm) { f.down = errors.New("no route") }, says: "The state is kept", fails: true, state: "Running", left: 2},
		"it is another fabric": {by: func(f *farm) {
			f.endpoint, f.machines = "https://other.test", f.machines[1:]
		}, says: "looks like another fabric", fails: true, state: "Running", left: 2},
		"it lost its database":   {by: func(f *farm) { f.machines = nil }, says: "shows no machine at all", fails: true, state: "Running", left: 2},
		"it has another address": {by: func(f *farm) { f.endpoint = "https://other.test" }, action: "", state: "Running", left: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.apply(config)
				w.farm.byHand(func() { c.by(w.farm) })

				o := w.Refresh(w.ctx)
				if (o.Errors != "") != c.fails || !o.Says(c.says) || c.says == "" && o.Warnings != "" {
					t.Errorf("errors %q, warnings %q", o.Errors, o.Warnings)
				}

				if w.Get("state") != c.state || len(w.devices()) != c.left {
					t.Errorf("state %v, devices %v", w.Get("state"), w.devices())
				}

				if c.fails {
					return
				}

				for range 2 { // the second refresh finds what the first one left
					if p := w.Plan(w.ctx, config); p.Action != c.action || p.Errors != "" {
						t.Errorf("the plan is %q, changes %v: %s", p.Action, p.Changed, p.Errors)
					}

					if w.Get("state") != c.state {
						t.Errorf("state %v after another refresh", w.Get("state"))
					}
				}
			})
		})
	}
}

// TestGPU_driftIsMended applies after a device vanished.
func TestGPU_driftIsMended(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(4))
		w.farm.byHand(func() { w.farm.take(m0, "f02") })

		p := w.Plan(w.ctx, gpus(4))
		if p.Action != "update" || w.Get("size") != int64(3) || !slices.Contains(p.Changed, "size") {
			t.Errorf("size %v, the plan %q changes %v", w.Get("size"), p.Action, p.Changed)
		}

		w.apply(gpus(4))

		if got := w.farm.left(); len(got) != 4 || w.farm.attached != 5 || w.farm.detached != 0 {
			t.Errorf("on the machine: %v", got)
		}

		// Or it is accepted: fewer are wanted, and there are fewer.
		w.farm.byHand(func() { w.farm.take(m0, "f01") })
		w.Refresh(w.ctx)
		w.apply(gpus(3))

		if w.farm.attached != 5 || w.farm.detached != 0 || w.Get("state") != "Running" {
			t.Errorf("state %v", w.Get("state"))
		}
	})
}

// TestGPU_allMachinesGone takes the resource out of the state.
func TestGPU_allMachinesGone(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(2))
		w.farm.byHand(func() { w.farm.machines = w.farm.machines[1:] })

		if o := w.Refresh(w.ctx); o.Errors != "" || w.Exists() || !strings.Contains(o.Warnings, "gone from the fabric") {
			t.Errorf("exists %v: %s %s", w.Exists(), o.Errors, o.Warnings)
		}
	})
}

// TestGPU_destroyOnAnotherFabric never takes the "not found" of another fabric for a proof.
func TestGPU_destroyOnAnotherFabric(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(2))

		state, machines := w.Dump(), w.farm.machines
		w.farm.byHand(func() { w.farm.endpoint, w.farm.machines = "https://other.test", machines[1:] })

		if o := w.Apply(w.ctx, nil); !strings.Contains(o.Errors, "another fabric") || w.Dump() != state {
			t.Errorf("another fabric: %s", o.Errors)
		}

		w.farm.byHand(func() { w.farm.endpoint = "https://fabric.test" })

		if o := w.Apply(w.ctx, nil); o.Errors != "" || w.Exists() {
			t.Errorf("the same fabric: %s", o.Errors)
		}
	})
}

// TestGPU_verbsOnAnotherFabric change nothing, also where nothing was refreshed before.
func TestGPU_verbsOnAnotherFabric(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(2))

		w.SkipRefresh = true
		state, machines := w.Dump(), w.farm.machines
		w.farm.byHand(func() { w.farm.endpoint, w.farm.machines = "https://other.test", machines[1:] })

		for name, config := range map[string]Map{"update": gpus(3), "delete": nil} {
			if o := w.Apply(w.ctx, config); !strings.Contains(o.Errors, "another fabric") || w.Dump() != state {
				t.Errorf("%s: %s", name, o.Errors)
			}
		}

		// The same machines behind another address are the same fabric.
		w.farm.byHand(func() { w.farm.machines = machines })

		if o := w.Apply(w.ctx, gpus(1)); o.Errors != "" || len(w.devices()) != 1 {
			t.Errorf("another address: %s", o.Errors)
		}

		// A machine that is gone for certain takes its devices along.
		w.farm.byHand(func() { w.farm.endpoint, w.farm.machines = "https://fabric.test", machines[1:] })

		if o := w.Apply(w.ctx, nil); o.Errors != "" || w.Exists() || o.Warnings == "" {
			t.Errorf("gone: %s / %s", o.Errors, o.Warnings)
		}
	})
}

// TestGPU_keptCreateGoesOnWithoutRefresh has a state with the size that was planned.
func TestGPU_keptCreateGoesOnWithoutRefresh(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.farm.onAttach = func(n int) error {
			if n > 1 {
				return refused
			}

			return nil
		}

		config := gpus(2, Map{"on_partial": "keep", "on_create_failure": "keep"})
		if o := w.Apply(w.ctx, config); o.Errors != "" || w.Get("size") != int64(2) || len(w.devices()) != 1 {
			t.Fatalf("%v: %s", w.State(), o.Errors)
		}

		w.farm.onAttach, w.SkipRefresh = nil, true

		if o := w.Apply(w.ctx, config); o.Action != "update" || o.Errors != "" || len(w.devices()) != 2 || w.Get("state") != "Running" {
			t.Errorf("%q, %v: %s", o.Action, w.devices(), o.Errors)
		}
	})
}

// TestGPU_refreshTouchesNoHost asks the host only where it is told to.
func TestGPU_refreshTouchesNoHost(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(1, node()))
		w.host.calls = nil
		w.Refresh(w.ctx)

		if len(w.host.calls) != 0 {
			t.Errorf("the host was asked: %v", w.host.calls)
		}

		w.apply(gpus(1, node(), Map{"refresh_node": true}))
		w.host.blind = errors.New("not there")

		if o := w.Refresh(w.ctx); !strings.Contains(o.Warnings, "is not seen on node-0") || w.first("state") != "Attaching" {
			t.Errorf("%v: %s", w.Get("devices"), o.Warnings)
		}

		if p := w.Plan(w.ctx, gpus(1, node(), Map{"refresh_node": true})); p.Action != "update" {
			t.Errorf("the plan is %q", p.Action)
		}

		w.host.blind, w.host.unreachable = nil, errors.New("no route to host")

		if o := w.Refresh(w.ctx); o.Errors != "" || !strings.Contains(o.Warnings, "could not be looked at") || len(w.devices()) != 1 {
			t.Errorf("errors %q, warnings %q", o.Errors, o.Warnings)
		}
	})
}

// TestGPU_existingDevices has devices on the machine that no state knows.
func TestGPU_existingDevices(t *testing.T) {
	t.Parallel()

	for policy, c := range map[string]struct {
		says     string
		attached int
		ours     []string
	}{
		"error":  {"f01", 0, nil},
		"adopt":  {"", 1, []string{"f01", "f02"}},
		"ignore": {"", 2, []string{"f02", "f03"}},
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.farm.put(m0, "gpu", "A100")

				o := w.Apply(w.ctx, gpus(2, Map{"existing_devices": policy}))
				if (o.Errors != "") != (c.says != "") || !strings.Contains(o.Errors, c.says) || w.farm.attached != c.attached || !slices.Equal(w.devices(), c.ours) {
					t.Errorf("attached %d, ours %v: %s", w.farm.attached, w.devices(), o.Errors)
				}

				if all, _ := w.Get("unmanaged_devices").([]any); policy == "ignore" && (len(all) != 1 || all[0] != "f01") {
					t.Errorf("unmanaged: %v", all)
				}
			})
		})
	}
}
