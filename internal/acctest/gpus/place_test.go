// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
)

// different is one device on each machine.
var different = Map{"allocation_policy": "differentnode"}

// TestGPU_differentNodes spreads devices, and has a machine without one in front of the list.
func TestGPU_differentNodes(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		then Map
		want []int // devices on machines 0, 1, 2
		asks int   // orders
	}{
		"11.3 A1 two to one, and machine 0 is free":          {gpus(1, different, on(0, 1, 2)), nil, 1}, // they came in the same second: either may go
		"11.3 A1 two to none":                                {gpus(0, different, on(0, 1, 2)), []int{0, 0, 0}, 2},
		"11.3 A1 the same size after another edit":           {gpus(2, different, on(0, 1, 2), Map{"force_detach": true}), []int{0, 1, 1}, 0},
		"11.3 two to three":                                  {gpus(3, different, on(0, 1, 2)), []int{1, 1, 1}, 1},
		"11.3 a machine taken out of the list gives its own": {gpus(2, different, on(0, 2)), []int{1, 0, 1}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{}, func(w world) {
				w.apply(gpus(2, different, on(1, 2)))

				before := w.orders()
				w.apply(c.then)

				got := []int{len(w.on(0)), len(w.on(1)), len(w.on(2))}
				if c.want == nil && got[0]+got[1]+got[2] == 1 && got[0] == 0 {
					c.want = got
				}

				if !slices.Equal(got, c.want) || w.Get("state") != "Running" || w.orders() != before+c.asks {
					t.Errorf("devices on %v, want %v; %d orders: %v", got, c.want, w.orders()-before, w.State())
				}

				w.destroy()
			})
		})
	}
}

// TestGPU_order has the order in which devices go when there are too many.
func TestGPU_order(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		by   func(w world, ids []string)
		with func(ids []string) Map
		left []int // of the four
	}{
		"11.2 those that were named":    {nil, func(ids []string) Map { return Map{"detach_first": []any{ids[2], ids[1]}} }, []int{0, 3}},
		"11.2 the oldest":               {nil, nil, []int{2, 3}},
		"11.2 critical ones":            {func(w world, ids []string) { w.health("2", ids[3], ids[2]) }, nil, []int{0, 1}},
		"11.2 a warning is no reason":   {func(w world, ids []string) { w.health("1", ids[3], ids[2]) }, nil, []int{2, 3}},
		"O-GPU-13 idle ones, not busy":  {func(w world, ids []string) { w.busy(ids[0], ids[1]) }, nil, []int{0, 1}},
		"O-GPU-13 idle ones in between": {func(w world, ids []string) { w.busy(ids[0], ids[2]) }, nil, []int{0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{}, func(w world) {
				w.apply(gpus(4, nodes(0)))

				ids, with := w.devices(), Map{}
				if c.by != nil {
					c.by(w, ids)
				}

				if c.with != nil {
					with = c.with(ids)
				}

				w.apply(gpus(2, nodes(0), with))

				var left []int

				for i, id := range ids {
					if slices.Contains(w.devices(), id) {
						left = append(left, i)
					}
				}

				if !slices.Equal(left, c.left) {
					t.Errorf("left %v, want %v", left, c.left)
				}
			})
		})
	}
}

// health gives devices a status word.
func (w world) health(word string, ids ...string) {
	w.edit(func(d *hardware.Device) {
		if slices.Contains(ids, d.ID) {
			d.OpStatus = word
		}
	})
}

// busy lets processes compute on devices.
func (w world) busy(ids ...string) {
	for _, d := range w.on(0) {
		if slices.Contains(ids, d.ID) {
			w.system(func(s *node.State) { s.Use(d.Serial, node.Process{PID: 4711, Name: "/usr/bin/python3"}) })
		}
	}
}

// TestGPU_settings changes what only the provider uses: no request but the reads of refreshes.
func TestGPU_settings(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]Map{
		"11.4 force_detach": {"force_detach": true}, "11.4 skip_drain": {"skip_drain": "always"}, "11.4 a connection": nodes(0),
		"11.4 timeouts": {"timeouts": Map{"drain": "1m"}}, "11.4 on_partial": {"on_partial": "keep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{}, func(w world) {
				w.apply(gpus(2))
				w.far.ResetCounts()

				if o := w.apply(gpus(2, change)); o.Action != "update" || slices.Contains(o.Changed, "devices") {
					t.Errorf("%q changes %v", o.Action, o.Changed)
				}

				if n := w.orders(); n != 0 {
					t.Errorf("%d orders", n)
				}

				// Each command of this test logs in; the refresh of the apply and that of the plan read.
				if n := w.far.Count("GET /fabric_manager/**"); n != 2 {
					t.Errorf("%d reads: %v", n, w.far.Counts())
				}

				if got := w.node(0).Commands; len(got) > 0 {
					t.Errorf("the machine's system was asked: %v", got)
				}
			})
		})
	}
}

// TestGPU_nothingAttached refuses before anything is ordered.
func TestGPU_nothingAttached(t *testing.T) {
	t.Parallel()

	pool := lab.Options{GPUs: map[string]int{a100: 3}}

	for name, c := range map[string]struct {
		setup  setup
		system func(s *node.State)
		config Map
		says   string
	}{
		"11.21 four wanted, three in the pool, FM":         {setup{lab: pool}, nil, gpus(4), "the pool has 3 free"},
		"11.21 four wanted, three in the pool, CDIM":       {setup{kind: cdim, lab: pool}, nil, gpus(4), "the pool has 3 free"},
		"11.21 four wanted, three in the pool, Redfish":    {setup{kind: blocks, lab: pool}, nil, gpus(4), "the pool has 3 free"},
		"11.21 four wanted, three in the pool, zones":      {setup{kind: zones, lab: pool}, nil, gpus(4), "the pool has 3 free"},
		"11.21 no such model":                              {setup{}, nil, gpus(1, Map{"model": "B200"}), "0 free"},
		"11.21 three hosts share a pool of two":            {setup{lab: lab.Options{GPUs: map[string]int{a100: 2}}}, nil, gpus(3, different, on(0, 1, 2)), "the pool has 0 free"},
		"11.22 no driver on the only host":                 {setup{}, noDriver, gpus(2, nodes(0)), "driver"},
		"11.22 no driver on the second of three":           {setup{}, noDriver, gpus(3, different, nodes(1, 0, 2)), "driver"},
		"11.22 a host that cannot be reached":              {setup{}, func(s *node.State) { s.Unreachable = true }, gpus(1, nodes(0)), "node-0"},
		"11.22 a host that refuses the login":              {setup{}, func(s *node.State) { s.RefuseLogin = true }, gpus(1, nodes(0)), "node-0"},
		"11.22 a host with another key than the one known": {setup{}, func(s *node.State) { s.HostKeys = 1 }, gpus(1, nodes(0)), "host key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, c.setup, func(w world) {
				if c.system != nil {
					w.system(c.system)
				}

				if o := w.fails(c.config, c.says); w.Exists() || w.Tainted {
					t.Errorf("there is a state after %s: %v", o.Errors, w.State())
				}

				if n := w.orders(); n != 0 {
					t.Errorf("%d orders", n)
				}
			})
		})
	}
}

func noDriver(s *node.State) { s.Driver = node.DriverNone }

// TestGPU_withoutDriver attaches to a host without a driver, as the user says.
func TestGPU_withoutDriver(t *testing.T) {
	t.Parallel()

	t.Run("11.22 driver_check = skip attaches without one", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{rough: true}, func(w world) {
			w.system(noDriver)
			w.apply(gpus(1, nodes(0), Map{"driver_check": "skip", "wait_for_visible": false}))
			w.count(1)

			o := w.Apply(w.ctx, nil)
			if w.Exists() && !strings.Contains(o.Errors, "driver") {
				t.Errorf("destroy: %s", o.Errors)
			}
		})
	})
}

// TestGPU_firstFreeHost takes the first host of the list that fits.
func TestGPU_firstFreeHost(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		by   func(w world)
		with Map
		want int
	}{
		"11.2 the first":                           {func(world) {}, nil, 0},
		"11.2 not one that is broken":              {func(w world) { w.status(0, hardware.Broken) }, nil, 1},
		"11.2 not one that is taken apart":         {func(w world) { w.status(0, 16) }, nil, 1},
		"11.2 not one with a model it cannot bear": {func(w world) { w.foreign(0, 1, l40s) }, Map{"exclusive_models": []any{l40s}}, 1},
		"11.2 not one with too little memory": {func(world) {}, Map{"other_spec": Map{"memory": 2}, "hosts": []any{
			Map{"machine_id": hostID(0), "capacity": Map{"memory_bytes": 1}}, Map{"machine_id": hostID(1), "capacity": Map{"memory_bytes": 2}},
		}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{}, func(w world) {
				c.by(w)
				w.apply(gpus(2, on(0, 1), c.with))

				ours := slices.DeleteFunc(w.on(c.want), func(d hardware.Device) bool { return d.Foreign })
				if len(ours) != 2 {
					t.Errorf("not on machine %d: %v", c.want, w.Get("placement"))
				}
			})
		})
	}
}

// status makes the fabric show a status for a machine.
func (w world) status(i, code int) {
	w.t.Helper()
	w.record(i, func(r *hardware.Record) { r.Status = code })
}

// busyFor makes a machine take no orders for some time.
func (w world) busyFor(i, code int, d time.Duration) {
	w.t.Helper()
	w.record(i, func(r *hardware.Record) { r.Status, r.StatusUntil = code, time.Now().Add(d) })
}
