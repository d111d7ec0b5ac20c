// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

// bench is a pool with two machines and six GPUs, and a host on the first.
type bench struct {
	*pool

	host  *host
	notes *shared
	want  device.Wanted
	runs  int
}

func newBench() *bench {
	b := &bench{pool: newPool(2, 6), notes: newShared(), want: wants(2, "m0", "m1")}
	b.host = &host{pool: b.pool, machine: "m0"}
	b.want.Hosts[0].Node = b.host

	return b
}

// desk is that of a new process.
func (b *bench) desk() *device.Desk {
	b.runs++

	return device.NewDesk(b.pool, journal{b.notes, fmt.Sprint(b.runs), func() bool { return b.dead }})
}

func (b *bench) create(ctx context.Context) device.Result {
	return (&device.Run{Desk: b.desk(), Wanted: b.want}).Create(ctx)
}

func (b *bench) update(ctx context.Context, have []device.Record) device.Result {
	return (&device.Run{Desk: b.desk(), Wanted: b.want}).Update(ctx, have)
}

func (b *bench) destroy(ctx context.Context, have []device.Record) device.Result {
	return (&device.Run{Desk: b.desk(), Wanted: b.want}).Delete(ctx, have)
}

// holds checks that the machines hold what the records say, and the number of it.
func (b *bench) holds(t *testing.T, res device.Result, n int) {
	t.Helper()

	var recorded []string
	for _, d := range res.Devices {
		recorded = append(recorded, d.FabricID)
	}

	slices.Sort(recorded)

	attached := append(b.on("m0"), b.on("m1")...)
	slices.Sort(attached)

	if !slices.Equal(recorded, attached) || len(recorded) != n {
		t.Errorf("recorded %v, attached %v, want %d of each", recorded, attached, n)
	}
}

func fine(t *testing.T, res device.Result) device.Result {
	t.Helper()

	if err := res.Err(); err != nil {
		t.Fatalf("unexpected: %v", err)
	}

	return res
}

// wrong expects an error of a kind, whose words and advice say all of these.
func wrong(t *testing.T, res device.Result, kind error, words ...string) device.Result {
	t.Helper()

	if res.Err() == nil || kind != nil && !errors.Is(res.Err(), kind) {
		t.Fatalf("got %v, want %v", res.Err(), kind)
	}

	var all strings.Builder
	for _, f := range res.Failures {
		all.WriteString(f.Error() + " " + f.Advice + "\n")
	}

	for _, w := range words {
		if !strings.Contains(all.String(), w) {
			t.Errorf("the error does not say %q:\n%s", w, all.String())
		}
	}

	return res
}

func TestRun_lives(t *testing.T) {
	t.Parallel()

	for name, play := range map[string]func(t *testing.T, b *bench){
		"two come, are Online, and go": func(t *testing.T, b *bench) {
			t.Helper()
			res := fine(t, b.create(t.Context()))
			b.holds(t, res, 2)

			for _, d := range res.Devices {
				if d.State != device.Online || d.BusID == "" || d.HostName != "host-m0" || d.AttachedAt.IsZero() {
					t.Errorf("%+v", d)
				}
			}

			b.holds(t, fine(t, b.destroy(t.Context(), res.Devices)), 0)

			want := "check remember see GPU-00 remember see GPU-01 release GPU-00 finish release GPU-01 finish"
			if got := strings.Join(b.host.calls, " "); got != want {
				t.Errorf("the host was asked:\n%s, want\n%s", got, want)
			}
		},
		"the size goes 1, 4, 2, 0, 1": func(t *testing.T, b *bench) {
			t.Helper()
			var res device.Result

			for _, n := range []int{1, 4, 2, 0, 1} {
				b.want.Size = n
				res = fine(t, b.update(t.Context(), res.Devices))
				b.holds(t, res, n)
			}
		},
		"nothing to do asks the fabric nothing": func(t *testing.T, b *bench) {
			t.Helper()
			res := fine(t, b.create(t.Context()))
			b.reads, b.want.ForceDetach = 0, true
			fine(t, b.update(t.Context(), res.Devices))

			if b.reads+b.detaches != 0 || b.attaches != 2 {
				t.Errorf("%d reads, %d detaches, %d attaches", b.reads, b.detaches, b.attaches)
			}
		},
		"O-GPU-13 the device that was named goes first, then the idle ones": func(t *testing.T, b *bench) {
			t.Helper()
			b.want.Size = 4
			res := fine(t, b.create(t.Context()))
			b.host.busy = []string{"GPU-00"}
			b.want.Size, b.want.DetachFirst = 2, []string{"GPU-03"}
			res = fine(t, b.update(t.Context(), res.Devices))

			if got := b.on("m0"); !slices.Equal(got, []string{"u00", "u02"}) {
				t.Errorf("left: %v", got)
			}

			b.want.Size = 0
			res = wrong(t, b.update(t.Context(), res.Devices), device.ErrInUse, "python3", "force_detach")
			b.holds(t, res, 1)
		},
		"a host that leaves the list gives its devices back first": func(t *testing.T, b *bench) {
			t.Helper()
			res := fine(t, b.create(t.Context()))
			b.want.Former, b.want.Hosts = b.want.Hosts[:1], b.want.Hosts[1:]
			res = fine(t, b.update(t.Context(), res.Devices))
			b.holds(t, res, 2)

			if got := b.on("m1"); len(got) != 2 {
				t.Errorf("on m1: %v", got)
			}
		},
		"a lost answer of an order that was carried out brings one device": func(t *testing.T, b *bench) {
			t.Helper()
			b.onAttach = func(_ string, n int) fate {
				return fate{err: lost(), after: 20 * time.Second, never: n != 1, quietly: true}
			}
			b.want.Size = 1
			b.holds(t, fine(t, b.create(t.Context())), 1)

			if b.attaches != 1 {
				t.Errorf("%d orders", b.attaches)
			}
		},
		"a lost answer of an order that was not is repeated once": func(t *testing.T, b *bench) {
			t.Helper()
			b.onAttach = func(_ string, n int) fate { return fate{err: map[bool]error{true: lost()}[n == 1], never: n == 1} }
			b.want.Size = 1
			b.holds(t, fine(t, b.create(t.Context())), 1)
		},
		"an accepted order that brings nothing is not repeated": func(t *testing.T, b *bench) {
			t.Helper()
			b.onAttach = func(string, int) fate { return fate{never: true} }
			wrong(t, b.create(t.Context()), device.ErrNotAttached, "accepted", "no device appeared")

			if b.attaches != 1 || len(b.notes.all) != 0 {
				t.Errorf("%d orders, journal %v", b.attaches, b.notes.all)
			}
		},
		"looks are as far apart as poll_interval says": func(t *testing.T, b *bench) {
			t.Helper()

			b.want.Size = 1
			b.onAttach = func(string, int) fate { return fate{after: 10 * time.Minute} }
			desk := b.desk()
			desk.Poll = time.Minute

			if fine(t, (&device.Run{Desk: desk, Wanted: b.want}).Create(t.Context())); b.reads > 20 {
				t.Errorf("%d reads in ten minutes", b.reads)
			}
		},
		"turned away three times": func(t *testing.T, b *bench) {
			t.Helper()
			b.onAttach = func(_ string, n int) fate { return fate{err: map[bool]error{true: busy()}[n <= 3], never: n <= 3} }
			start := time.Now()
			b.holds(t, fine(t, b.create(t.Context())), 2)

			if time.Since(start) < 30*time.Second || b.attaches != 5 {
				t.Errorf("%d orders in %s: too hasty", b.attaches, time.Since(start))
			}
		},
		"a third party attaches at the same time": func(t *testing.T, b *bench) {
			t.Helper()
			b.onAttach = func(string, int) fate {
				return fate{err: lost(), then: func(p *pool) { p.put("u05") }}
			}
			res := wrong(t, b.create(t.Context()), device.ErrAmbiguous, "u00", "u05", "none was taken")

			if len(res.Devices) != 0 || b.detaches != 0 {
				t.Errorf("%v, %d detaches", res.Devices, b.detaches)
			}
		},
		"a third party attaches, and the answer names ours": func(t *testing.T, b *bench) {
			t.Helper()
			b.want.Size = 1
			b.onAttach = func(string, int) fate { return fate{then: func(p *pool) { p.put("u05") }} }
			b.holds(t, fine(t, b.create(t.Context())), 1)
		},
		"O-GPU-02 critical on arrival is detached again": func(t *testing.T, b *bench) {
			t.Helper()
			b.health = fabric.HealthCritical
			b.holds(t, wrong(t, b.create(t.Context()), device.ErrUnhealthy, "critical", "detached again"), 0)
		},
		"critical on arrival stays where that is wanted": func(t *testing.T, b *bench) {
			t.Helper()
			b.health, b.want.OnUnhealthy = fabric.HealthCritical, device.UnhealthyKeep
			res := fine(t, b.create(t.Context()))
			b.holds(t, res, 2)

			if len(res.Warnings) != 2 {
				t.Errorf("%v", res.Warnings)
			}
		},
		"O-GPU-01 a status that is never told leaves the device in the state": func(t *testing.T, b *bench) {
			t.Helper()
			b.health, b.want.Size = fabric.HealthUnknown, 1
			res := wrong(t, b.create(t.Context()), device.ErrUnhealthy, "does not say", `"unknown"`)
			b.holds(t, res, 1)
		},
		"three of four come, and are rolled back": func(t *testing.T, b *bench) {
			t.Helper()
			b.want.Size = 4
			b.onAttach = func(_ string, n int) fate { return fate{never: n == 4} }
			res := wrong(t, b.create(t.Context()), device.ErrNotAttached)
			b.holds(t, res, 0)

			if len(res.Warnings) == 0 {
				t.Error("nobody says that devices were detached again")
			}
		},
		"three of four come, and stay": func(t *testing.T, b *bench) {
			t.Helper()
			b.want.Size, b.want.OnPartial = 4, device.PartialKeep
			b.onAttach = func(_ string, n int) fate { return fate{never: n == 4} }
			res := wrong(t, b.create(t.Context()), device.ErrNotAttached)
			b.holds(t, res, 3)
			b.holds(t, fine(t, b.update(t.Context(), res.Devices)), 4)
		},
		"an update never rolls back": func(t *testing.T, b *bench) {
			t.Helper()
			res := fine(t, b.create(t.Context()))
			b.want.Size = 4
			b.onAttach = func(_ string, n int) fate { return fate{never: n == 4} }
			res = wrong(t, b.update(t.Context(), res.Devices), device.ErrNotAttached)
			b.holds(t, res, 3)
		},
		"too few are free: nothing is attached": func(t *testing.T, b *bench) {
			t.Helper()
			b.want.Size = 7
			b.holds(t, wrong(t, b.create(t.Context()), device.ErrNoHost, "6 free", "host-m0", "host-m1"), 0)

			if b.attaches != 0 {
				t.Errorf("%d orders", b.attaches)
			}
		},
		"no driver: nothing is attached": func(t *testing.T, b *bench) {
			t.Helper()
			b.host.driver = errors.New("no NVIDIA driver")
			wrong(t, b.create(t.Context()), b.host.driver, "driver_check")

			if b.attaches != 0 {
				t.Errorf("%d orders", b.attaches)
			}
		},
		"O-GPU-11 shown only after a rescan": func(t *testing.T, b *bench) {
			t.Helper()
			b.host.scan = true
			b.holds(t, fine(t, b.create(t.Context())), 2)
		},
		"O-GPU-11 shown after 90 seconds": func(t *testing.T, b *bench) {
			t.Helper()
			b.host.hotplug = 90 * time.Second
			b.holds(t, fine(t, b.create(t.Context())), 2)
		},
		"O-GPU-11 never shown: it stays in the state, and the next apply attaches no other": func(t *testing.T, b *bench) {
			t.Helper()
			b.host.never, b.want.Size = true, 1
			res := wrong(t, b.create(t.Context()), device.ErrNotVisible, "wait for the host to show", "wait_for_visible")
			b.holds(t, res, 1)

			if res.Devices[0].State != device.Attaching || res.State(1) != device.Degraded {
				t.Errorf("%+v", res.Devices[0])
			}

			b.host.never = false
			res = fine(t, b.update(t.Context(), res.Devices))
			b.holds(t, res, 1)

			if res.State(1) != device.Running || b.attaches != 1 {
				t.Errorf("%s after %d orders", res.State(1), b.attaches)
			}
		},
		"one that is not shown is no reason to give the others back": func(t *testing.T, b *bench) {
			t.Helper()
			b.host.never = true
			res := wrong(t, b.create(t.Context()), device.ErrNotVisible)
			b.holds(t, res, 1)
			b.host.never = false
			b.holds(t, fine(t, b.update(t.Context(), res.Devices)), 2)
		},
		"O-GPU-12 an unreachable host keeps its device": func(t *testing.T, b *bench) {
			t.Helper()
			res := fine(t, b.create(t.Context()))
			b.host.down = fmt.Errorf("no route: %w", device.ErrUnreachable)
			b.holds(t, wrong(t, b.destroy(t.Context(), res.Devices), device.ErrUnreachable, "skip_drain"), 2)
			b.want.SkipDrain = device.SkipIfUnreachable
			b.holds(t, fine(t, b.destroy(t.Context(), res.Devices)), 0)
		},
		"O-GPU-12 a host that is powered off is not asked": func(t *testing.T, b *bench) {
			t.Helper()
			res := fine(t, b.create(t.Context()))
			b.host.down = fmt.Errorf("no route: %w", device.ErrUnreachable)
			b.power = fabric.PowerOff
			res = fine(t, b.destroy(t.Context(), res.Devices))
			b.holds(t, res, 0)

			if len(res.Warnings) == 0 || !strings.Contains(res.Warnings[0], "powered off") {
				t.Errorf("%v", res.Warnings)
			}
		},
		"a detach that the fabric refuses gives the host its device back": func(t *testing.T, b *bench) {
			t.Helper()
			res := fine(t, b.create(t.Context()))
			b.onDetach = func(string, int) fate {
				return fate{never: true, err: &fabric.Error{Op: "detach", Kind: fabric.ErrRefused, Status: 400, Message: "locked by policy"}}
			}
			res = wrong(t, b.destroy(t.Context(), res.Devices), fabric.ErrRefused, "locked by policy")
			b.holds(t, res, 2)

			if !slices.Contains(b.host.calls, "restore") {
				t.Errorf("%v", b.host.calls)
			}
		},
		"another device under the recorded id is not detached": func(t *testing.T, b *bench) {
			t.Helper()
			res := fine(t, b.create(t.Context()))
			b.devices[0].DeviceID = "GPU-99"
			wrong(t, b.destroy(t.Context(), res.Devices), nil, "not the one that was attached")

			if got := b.on("m0"); !slices.Equal(got, []string{"u00"}) {
				t.Errorf("on the machine: %v", got)
			}
		},
		"a machine that is gone took its devices with it": func(t *testing.T, b *bench) {
			t.Helper()
			res := fine(t, b.create(t.Context()))
			b.machines = []string{"m1"}
			if res = fine(t, b.destroy(t.Context(), res.Devices)); len(res.Devices) != 0 || b.detaches != 0 {
				t.Errorf("%v, %d detaches", res.Devices, b.detaches)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { play(t, newBench()) })
		})
	}
}
