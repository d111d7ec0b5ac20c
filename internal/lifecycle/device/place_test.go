// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
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

// candidates are hosts of one pool, each changed as the case says.
func candidates(free int, change ...func(*device.Candidate)) []device.Candidate {
	var out []device.Candidate

	for i, f := range change {
		c := device.Candidate{Host: device.Host{MachineID: fmt.Sprintf("m%d", i)}, Free: fabric.FreeInfo{Known: true, Count: free, FabricID: "f"}}
		if f != nil {
			f(&c)
		}

		out = append(out, c)
	}

	return out
}

func kept(c *device.Candidate) { c.Kept = 1 }

func extra(ids ...string) func(*device.Candidate) {
	return func(c *device.Candidate) {
		for _, id := range ids {
			c.Extra = append(c.Extra, fabric.Device{FabricID: id})
		}
	}
}

func TestPlace_findsHosts(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		want   func(*device.Wanted)
		all    []device.Candidate
		need   int
		placed string // "host+added[adopted]", …
		fails  error
		words  string
	}{
		"nothing to place examines no host":          {all: candidates(0, func(c *device.Candidate) { c.Problem = "unreadable" }), need: 0},
		"the first host that fits takes all":         {all: candidates(4, func(c *device.Candidate) { c.State, c.Status = fabric.Failed, "90" }, nil, nil), need: 3, placed: "1+3"},
		"the host that has devices takes the others": {all: candidates(4, nil, kept, nil), need: 2, placed: "1+2"},
		"and when it cannot, no other does":          {all: candidates(1, nil, kept, nil), need: 2, fails: device.ErrNoHost, words: "m1: needs 2 more, and the pool has 1 free"},
		"no host fits: each with its reason": {
			all:  candidates(9, func(c *device.Candidate) { c.Claimed = "r2" }, func(c *device.Candidate) { c.Problem = "no route" }, func(c *device.Candidate) { c.State, c.Status = fabric.Leaving, "16" }),
			need: 1, fails: device.ErrNoHost, words: "m0: another resource",
		},
		"one on each host":                                       {want: spread, all: candidates(4, nil, nil, nil), need: 2, placed: "0+1 1+1"},
		"a host that has its device is passed over":              {want: spread, all: candidates(4, kept, nil, nil), need: 1, placed: "1+1"},
		"A1 hosts are not examined when there is nothing to add": {want: spread, all: candidates(0, nil, kept, kept), need: 0},
		"hosts of one pool share what it has":                    {want: spread, all: candidates(1, nil, nil), need: 2, fails: device.ErrNoHost, words: "the pool has 0 free"},
		"devices that nobody knows stop":                         {all: candidates(4, extra("u1")), need: 1, fails: device.ErrExisting, words: "u1"},
		"or are adopted, the others added": {
			want: func(w *device.Wanted) { w.Existing = device.ExistingAdopt }, all: candidates(1, extra("u1", "u2")), need: 3, placed: "0+1[u1 u2]",
		},
		"adopted are only as many as are missing": {
			want: func(w *device.Wanted) { w.Existing = device.ExistingAdopt }, all: candidates(0, extra("u1", "u2")), need: 1, placed: "0+0[u1]",
		},
		"or left alone": {want: func(w *device.Wanted) { w.Existing = device.ExistingIgnore }, all: candidates(4, extra("u1")), need: 2, placed: "0+2"},
		"as many as there are, where some are better than none": {
			want: func(w *device.Wanted) { w.OnPartial = device.PartialKeep }, all: candidates(1, nil), need: 2, placed: "0+2",
		},
		"models that exclude each other": {
			want: func(w *device.Wanted) { w.Exclusive = []string{"L40S"} }, all: candidates(4, func(c *device.Candidate) { c.Models = []string{"L40S"} }),
			need: 1, fails: device.ErrNoHost, words: "L40S",
		},
		"a host that is too small": {
			want: func(w *device.Wanted) { w.OtherSpec = &device.Spec{MilliCPU: 2000} },
			all:  candidates(4, func(c *device.Candidate) { c.Host.Capacity = &device.Capacity{CPUMillis: 1999} }, func(c *device.Candidate) { c.Host.Capacity = &device.Capacity{CPUMillis: 64000} }),
			need: 1, placed: "1+1",
		},
		"a limit of the machine's specification": {
			all: candidates(1, func(c *device.Candidate) { c.Free.HasLimits, c.Free.Max, c.Free.Current = true, 4, 3 }), need: 2,
			fails: device.ErrNoHost, words: "leaves 1 (at most 4, 3 there)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := wants(0)
			if c.want != nil {
				c.want(&w)
			}

			places, err := device.Place(w, c.all, c.need)
			if c.fails != nil {
				if !errors.Is(err, c.fails) || !strings.Contains(err.Error(), c.words) {
					t.Fatalf("got %v, want %v with %q", err, c.fails, c.words)
				}

				return
			}

			var got []string

			for _, p := range places {
				one := fmt.Sprintf("%d+%d", p.Host, p.Add)

				var adopted []string
				for _, d := range p.Adopt {
					adopted = append(adopted, d.FabricID)
				}

				if len(adopted) > 0 {
					one += fmt.Sprint(adopted)
				}

				got = append(got, one)
			}

			if s := strings.Join(got, " "); s != c.placed || err != nil {
				t.Errorf("placed %q, %v; want %q", s, err, c.placed)
			}
		})
	}
}

func spread(w *device.Wanted) { w.Policy = device.DifferentNode }

func TestKeep_staysAndGoes(t *testing.T) {
	t.Parallel()

	rec := func(id, machine, model string) device.Record {
		return device.Record{FabricID: id, MachineID: machine, Type: "gpu", Model: model, State: device.Online}
	}

	for name, c := range map[string]struct {
		policy      device.Policy
		have        []device.Record
		kept, wrong string
	}{
		"another model never takes a place (A2, A3)": {device.SameNode, []device.Record{rec("a", "m0", "L40S"), rec("b", "m0", "A100"), rec("c", "m0", "A100")}, "b c", "a"},
		"samenode keeps those of one host":           {device.SameNode, []device.Record{rec("a", "m1", "A100"), rec("b", "m0", "A100")}, "b", "a"},
		"a host that is no longer listed":            {device.SameNode, []device.Record{rec("a", "m9", "A100"), rec("b", "m1", "A100")}, "b", "a"},
		"differentnode keeps one a host":             {device.DifferentNode, []device.Record{rec("a", "m0", "A100"), rec("b", "m0", "A100"), rec("c", "m1", "A100")}, "a c", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := wants(9, "m0", "m1")
			w.Policy = c.policy
			kept, wrong := device.KeepOf(w, c.have)

			if names(kept) != c.kept || names(wrong) != c.wrong {
				t.Errorf("kept %q, wrong %q", names(kept), names(wrong))
			}
		})
	}
}

func names(all []device.Record) string {
	var out []string
	for _, r := range all {
		out = append(out, r.FabricID)
	}

	slices.Sort(out)

	return strings.Join(out, " ")
}

func TestVictims_order(t *testing.T) {
	t.Parallel()

	at := func(id string, minute int, change func(*device.Record)) device.Record {
		r := device.Record{FabricID: id, DeviceID: "GPU-" + id, State: device.Online, Health: fabric.HealthOK, AttachedAt: time.Unix(int64(minute)*60, 0)}
		if change != nil {
			change(&r)
		}

		return r
	}
	all := []device.Record{
		at("busy", 1, nil), at("older", 2, nil), at("newer", 3, nil), at("untold", 0, nil),
		at("hidden", 9, func(r *device.Record) { r.State = device.Attaching }), at("critical", 9, func(r *device.Record) { r.Health = fabric.HealthCritical }),
		at("failed", 9, func(r *device.Record) { r.State = device.Failed }), at("named", 9, nil),
	}
	w := wants(0)
	w.DetachFirst = []string{"gpu-named"}

	var got []string
	for _, r := range device.Victims(w, all, len(all), map[string]bool{"busy": false, "older": true, "newer": true}) {
		got = append(got, r.FabricID)
	}

	if s := strings.Join(got, " "); s != "named failed critical hidden older newer untold busy" {
		t.Errorf("order: %s", s)
	}
}

// TestRun_differentNode has the operator's A1 cases.
func TestRun_differentNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.machines = []string{"m0", "m1", "m2"}
		b.want = wants(2, "m0", "m1", "m2")
		b.want.Policy = device.DifferentNode
		b.want.Hosts = b.want.Hosts[1:] // m1 and m2 have devices, m0 is free

		res := fine(t, b.create(t.Context()))
		b.want.Hosts = wants(0, "m0", "m1", "m2").Hosts

		for _, n := range []int{2, 1, 0, 3} {
			b.want.Size = n
			res = fine(t, b.update(t.Context(), res.Devices))

			if on := len(b.on("m0")) + len(b.on("m1")) + len(b.on("m2")); on != n || len(res.Devices) != n || len(b.on("m1")) > 1 {
				t.Errorf("size %d: %d attached, %d recorded", n, on, len(res.Devices))
			}
		}
	})
}

// TestRun_oneMachineInOrder has many resources on one machine at once.
func TestRun_oneMachineInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, 8)
		for i, s := range p.devices {
			s.Model = fmt.Sprintf("model-%d", i/2)
		}

		p.onAttach = func(string, int) fate { return fate{after: 7 * time.Second} }
		desk := device.NewDesk(p, journal{newShared(), "1", nil})
		done := make(chan device.Result)

		for i := range 4 {
			go func() {
				w := wants(2, "m0")
				w.ID, w.Model = fmt.Sprintf("r%d", i), fmt.Sprintf("model-%d", i)
				done <- (&device.Run{Desk: desk, Wanted: w}).Create(t.Context())
			}()
		}

		start := time.Now()

		for range 4 {
			fine(t, <-done)
		}

		if p.overlaps != 0 || len(p.on("m0")) != 8 {
			t.Errorf("%d overlaps, %v", p.overlaps, p.on("m0"))
		}

		if took := time.Since(start); took < 8*7*time.Second || took > 8*(7+5)*time.Second {
			t.Errorf("8 attaches of 7 s took %s: each may cost the fabric's time and one look", took)
		}

		w := wants(1, "m0")
		w.ID, w.Model = "late", "model-0"
		wrong(t, (&device.Run{Desk: desk, Wanted: w}).Create(t.Context()), device.ErrNoHost, "another resource")
	})
}

// TestRun_oneOrderAtATime has a manager that refuses an order while any other is carried out.
func TestRun_oneOrderAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPool(4, 4)
		p.caps.OneAtATime, p.oneKey = true, true
		p.onAttach = func(string, int) fate {
			for _, s := range p.devices {
				if s.moving {
					return fate{never: true, err: busy()}
				}
			}

			return fate{after: 10 * time.Second}
		}

		desk := device.NewDesk(p, journal{newShared(), "1", nil})
		done := make(chan device.Result)
		start := time.Now()

		for i, m := range p.machines {
			go func() {
				w := wants(1, m)
				w.ID = fmt.Sprint(i)
				done <- (&device.Run{Desk: desk, Wanted: w}).Create(t.Context())
			}()
		}

		for range p.machines {
			fine(t, <-done)
		}

		if took := time.Since(start); p.attaches != 4 || took > 60*time.Second {
			t.Errorf("%d orders in %s", p.attaches, took)
		}
	})
}
