// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// reading is the refresh of the bench's resource.
func (b *bench) reading(have []device.Record) device.Reading {
	return device.Reading{Resource: b.want.ID, Type: "gpu", Model: "A100", Machines: []string{"m0", "m1"}, Devices: have}
}

// killedGrowth has one device in the state and one that a killed update ordered.
func (b *bench) killedGrowth(t *testing.T) device.Result {
	t.Helper()

	b.want.Size = 1
	res := fine(t, b.create(t.Context()))

	b.want.Size = 2
	b.onAttach = killed(2, fate{})
	b.update(t.Context(), res.Devices)
	b.dead, b.onAttach = false, nil

	return res
}

func TestRun_ordersOfKilledRuns(t *testing.T) {
	t.Parallel()

	for name, play := range map[string]func(t *testing.T, b *bench){
		"a destroy takes along what no state knows": func(t *testing.T, b *bench) {
			t.Helper()

			res := b.killedGrowth(t)
			b.holds(t, fine(t, b.destroy(t.Context(), res.Devices)), 0)

			if len(b.notes.all) != 0 {
				t.Errorf("left in the journal: %v", b.notes.all)
			}
		},
		"a smaller size detaches it": func(t *testing.T, b *bench) {
			t.Helper()

			res := b.killedGrowth(t)
			b.want.Size = 0
			b.holds(t, fine(t, b.update(t.Context(), res.Devices)), 0)
		},
		"a refresh takes it into the state": func(t *testing.T, b *bench) {
			t.Helper()

			res := b.killedGrowth(t)

			seen, err := b.desk().Refresh(t.Context(), b.reading(res.Devices))
			if err != nil || len(seen.Devices) != 2 || seen.Devices[1].State != device.Attaching || len(seen.Unmanaged) != 0 {
				t.Errorf("%+v, %v", seen, err)
			}
		},
		"two resources of one configuration share what lies on two machines": func(t *testing.T, b *bench) {
			t.Helper()

			one, two := wants(1, "m0", "m1"), wants(1, "m0", "m1")
			one.ID, two.ID = "one", "two"
			first := b.desk()
			fine(t, (&device.Run{Desk: first, Wanted: one}).Create(t.Context()))
			fine(t, (&device.Run{Desk: first, Wanted: two}).Create(t.Context()))

			if len(b.on("m0")) != 1 || len(b.on("m1")) != 1 {
				t.Fatalf("on m0 %v, on m1 %v", b.on("m0"), b.on("m1"))
			}

			b.slow = time.Second // so that both look before one of them takes anything
			again, results := b.desk(), make(chan device.Result)

			for _, w := range []device.Wanted{one, two} {
				w.ID += " again"

				go func() { results <- (&device.Run{Desk: again, Wanted: w}).Create(t.Context()) }()
			}

			a, c := fine(t, <-results), fine(t, <-results)
			if b.attaches != 2 || len(a.Devices) != 1 || len(c.Devices) != 1 || a.Devices[0].FabricID == c.Devices[0].FabricID {
				t.Errorf("%d orders: %v, %v", b.attaches, a.Devices, c.Devices)
			}
		},
		"a job that waits for a person keeps the order open": func(t *testing.T, b *bench) {
			t.Helper()

			p := jobs{b.pool, fabric.TaskSuspended}
			desk := func() *device.Desk { return device.NewDesk(p, journal{b.notes, "x", nil}) }
			b.notes.all["i"] = device.Intent{ID: "i", Fabric: p.Endpoint(), Machine: "m0", Type: "gpu", Model: "A100", Resource: b.want.ID, Task: "job 7", At: time.Now().Add(-time.Hour)}

			wrong(t, (&device.Run{Desk: desk(), Wanted: b.want}).Create(t.Context()), nil, "waits for a person", "resume job 7")

			if b.attaches != 0 || len(b.notes.all) != 1 {
				t.Errorf("%d orders, journal %v", b.attaches, b.notes.all)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { play(t, newBench()) })
		})
	}
}

// jobs is a pool whose orders are jobs in one and the same state.
type jobs struct {
	*pool

	state fabric.TaskState
}

func (j jobs) Task(_ context.Context, id string) (fabric.Task, error) {
	return fabric.Task{ID: id, State: j.state, Text: "resume " + id + " or cancel it"}, nil
}

// liveJournal says that the runs of others live.
type liveJournal struct{ journal }

func (liveJournal) Live(device.Intent) bool { return true }

func TestRun_othersAtWork(t *testing.T) {
	t.Parallel()

	for name, play := range map[string]func(t *testing.T, b *bench){
		"somebody else's device while we are turned away is not ours, and we go on": func(t *testing.T, b *bench) {
			t.Helper()

			b.want.Size = 1
			b.onAttach = func(_ string, n int) fate {
				if n > 1 {
					return fate{}
				}

				return fate{err: busy(), never: true, then: func(p *pool) { p.put("u05") }}
			}
			res := fine(t, b.create(t.Context()))
			b.holds(t, res, 1)

			if res.Devices[0].FabricID == "u05" || !slices.Equal(res.Unmanaged, []string{"u05"}) {
				t.Errorf("%v, unmanaged %v", res.Devices, res.Unmanaged)
			}
		},
		"a device that the answer does not name is left to its owner": func(t *testing.T, b *bench) {
			t.Helper()

			b.want.Size = 1
			b.onAttach = func(string, int) fate {
				return fate{after: 10 * time.Second, quietly: true, then: func(p *pool) { p.put("u05") }}
			}

			if res := fine(t, b.create(t.Context())); res.Devices[0].FabricID != "u00" {
				t.Errorf("%v", res.Devices)
			}
		},
		"a gateway's 503 whose work is done late brings one device": func(t *testing.T, b *bench) {
			t.Helper()

			b.want.Size = 1
			b.onAttach = func(_ string, n int) fate {
				if n > 1 {
					return fate{}
				}

				return fate{
					after: 80 * time.Second, quietly: true,
					err: wait.TransientAfter(&fabric.Error{Op: "order", Kind: fabric.ErrBusy, Status: 503}, 2*time.Minute),
				}
			}
			b.holds(t, fine(t, b.create(t.Context())), 1)
		},
		"a chosen device that is on its way is not chosen a second time": func(t *testing.T, b *bench) {
			t.Helper()

			b.want.Size, b.caps.PicksDevice = 1, true
			b.onAttach = func(_ string, n int) fate {
				return fate{err: lost(), after: 3 * time.Minute, quietly: true, never: n != 1}
			}
			b.holds(t, fine(t, b.create(t.Context())), 1)
		},
		"another run's order for the same machine comes first": func(t *testing.T, b *bench) {
			t.Helper()

			b.want.Size, b.want.Limits.Attach = 1, time.Minute
			b.notes.all["theirs"] = device.Intent{
				ID: "theirs", Fabric: b.Endpoint(), Machine: "m0", Type: "gpu", Model: "A100", Resource: "r9", Run: "theirs", PID: 77, At: time.Now().Add(-time.Second),
			}
			desk := device.NewDesk(b.pool, liveJournal{journal{b.notes, "ours", nil}})
			wrong(t, (&device.Run{Desk: desk, Wanted: b.want}).Create(t.Context()), nil, "process 77")

			if b.attaches != 0 || len(b.notes.all) != 1 {
				t.Errorf("%d orders, journal %v", b.attaches, b.notes.all)
			}
		},
		"a host that cannot be read keeps its devices, and no other gets more": func(t *testing.T, b *bench) {
			t.Helper()

			b.want.Size = 1
			res := fine(t, b.create(t.Context()))
			b.want.Size = 2
			b.unreadable = "m0"
			wrong(t, b.update(t.Context(), res.Devices), device.ErrNoHost, "host-m0", "504")

			if len(b.on("m1")) != 0 {
				t.Errorf("on m1: %v", b.on("m1"))
			}
		},
		"a device in the state that the fabric calls failed is not pulled from under its users": func(t *testing.T, b *bench) {
			t.Helper()

			res := fine(t, b.create(t.Context()))
			b.devices[0].Phase = fabric.RemoveFailed

			seen, err := b.desk().Refresh(t.Context(), b.reading(res.Devices))
			if err != nil || seen.Devices[0].State != device.Failed {
				t.Fatalf("%+v, %v", seen, err)
			}

			b.want.Size = 3
			b.holds(t, wrong(t, b.update(t.Context(), seen.Devices), device.ErrUnhealthy, "detach_first"), 2)

			if b.detaches != 0 || b.attaches != 2 {
				t.Errorf("%d detaches, %d attaches", b.detaches, b.attaches)
			}
		},
		"another device under a recorded id survives refresh and destroy": func(t *testing.T, b *bench) {
			t.Helper()

			res := fine(t, b.create(t.Context()))
			b.devices[0].DeviceID, b.devices[1].DeviceID = "GPU-99", "GPU-98"

			seen, err := b.desk().Refresh(t.Context(), b.reading(res.Devices))
			if err != nil || seen.Devices[0].State != device.Missing || seen.Devices[0].DeviceID != "GPU-00" {
				t.Fatalf("%+v, %v", seen, err)
			}

			fine(t, b.destroy(t.Context(), seen.Devices))

			if got := b.on("m0"); !slices.Equal(got, []string{"u00", "u01"}) {
				t.Errorf("on the machine: %v", got)
			}
		},
		"a machine that is being changed loses no device by one look": func(t *testing.T, b *bench) {
			t.Helper()

			res := fine(t, b.create(t.Context()))
			b.state, b.devices[0].MachineID = fabric.Busy, ""

			seen, err := b.desk().Refresh(t.Context(), b.reading(res.Devices))
			if err != nil || len(seen.Devices) != 2 || len(seen.Lost) != 0 || !strings.Contains(strings.Join(seen.Warnings, " "), "being changed") {
				t.Errorf("%+v, %v", seen, err)
			}
		},
		"a device that is not shown costs its time once": func(t *testing.T, b *bench) {
			t.Helper()

			b.want.Size, b.host.never = 1, true
			res := wrong(t, b.create(t.Context()), device.ErrNotVisible)
			b.want.Size = 2
			start := time.Now()

			if res = wrong(t, b.update(t.Context(), res.Devices), device.ErrNotVisible); len(res.Failures) != 1 || time.Since(start) > 11*time.Minute || b.attaches != 1 {
				t.Errorf("%d failures in %s, %d orders", len(res.Failures), time.Since(start), b.attaches)
			}
		},
		"a long drain is no reason to give up": func(t *testing.T, b *bench) {
			t.Helper()

			b.want.Limits.Drain, b.want.Limits.Detach = time.Hour, 5*time.Minute
			res := fine(t, b.create(t.Context()))
			b.host.slow = 30 * time.Minute
			b.holds(t, fine(t, b.destroy(t.Context(), res.Devices)), 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { play(t, newBench()) })
		})
	}
}
