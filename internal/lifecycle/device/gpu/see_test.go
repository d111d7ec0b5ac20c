// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func TestSee(t *testing.T) {
	t.Parallel()

	onlyB := gpu.Before{PCI: []string{busB}, UUIDs: []string{uuidB}}
	seenA := gpu.GPU{UUID: uuidA, BusID: busA, Minor: 0}

	cases := map[string]struct {
		set     func(*sim)
		id      string
		before  gpu.Before
		want    gpu.GPU
		visible bool
		note    string
		inits   bool
	}{
		"by its UUID":                   {id: uuidA, before: onlyB, want: seenA, visible: true},
		"by its UUID in capitals":       {id: strings.ToUpper(uuidA), before: onlyB, want: seenA, visible: true},
		"by its UUID after a resume":    {id: uuidA, want: seenA, visible: true},
		"the new one":                   {before: onlyB, want: seenA, visible: true},
		"a serial of the fabric":        {id: "S-0001", before: onlyB, want: seenA, visible: true},
		"new at the address of another": {before: gpu.Before{PCI: []string{busA, busB}, UUIDs: []string{uuidB, uuidC}}, want: seenA, visible: true},
		"not yet initialised, by UUID": {
			set: func(s *sim) { s.cards[0].initialised = false }, id: uuidA, before: onlyB, want: seenA, visible: true, inits: true,
		},
		"not yet initialised, the new one": {
			set: func(s *sim) { s.cards[0].initialised = false }, before: onlyB, want: seenA, visible: true, inits: true,
		},
		"cannot be initialised": {
			set: dead, before: onlyB, want: gpu.GPU{BusID: busA, Minor: 0}, note: "RmInitAdapter failed", inits: true,
		},
		"two are new":  {want: gpu.GPU{Minor: -1}, note: "2 GPUs are new"},
		"none is new":  {before: gpu.Before{PCI: []string{busA, busB}, UUIDs: []string{uuidA, uuidB}}, want: gpu.GPU{Minor: -1}, note: "no new GPU among the 2"},
		"not there":    {id: uuidC, before: gpu.Before{PCI: []string{busA, busB}}, want: gpu.GPU{Minor: -1}, note: "no GPU " + uuidC},
		"on the bus":   {set: func(s *sim) { s.cards[0].bare = true }, id: uuidA, before: onlyB, want: gpu.GPU{Minor: -1}, note: "on the PCI bus at " + busA, inits: true},
		"draining":     {set: func(s *sim) { s.cards[0].drains = true }, id: uuidA, before: onlyB, want: seenA, note: "draining", inits: true},
		"driver fails": {set: smiFails, id: uuidA, before: onlyB, want: seenA, note: "Failed to initialize NVML", inits: true},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSim(cardA(), cardB())
			if c.set != nil {
				c.set(s)
			}

			got, err := gpu.See(t.Context(), s, c.id, c.before)
			if err != nil || got.GPU != c.want || got.Visible != c.visible || !strings.Contains(got.Note, c.note) || (got.Note == "") != c.visible {
				t.Errorf("saw %+v, error %v", got, err)
			}

			if inits := len(s.changes()) > 0; inits != c.inits {
				t.Errorf("changes %v", s.changes())
			}
		})
	}
}

func smiFails(s *sim) {
	s.before["Visible"] = func() error { return refused("Failed to initialize NVML: Unknown Error") }
}

func TestRemember(t *testing.T) {
	t.Parallel()

	s := newSim(cardA(), cardB())
	s.cards[0].drains, s.cards[1].initialised = true, false
	smiFails(s) // as on a host whose driver has no GPU yet

	got, err := gpu.Remember(t.Context(), s)
	if err != nil || strings.Join(got.PCI, " ") != busA+" "+busB || strings.Join(got.UUIDs, " ") != uuidA {
		t.Errorf("remembered %+v, error %v", got, err)
	}

	s.before["PCI"] = func() error { return gpu.ErrUnreachable }

	if _, err := gpu.Remember(t.Context(), s); !errors.Is(err, gpu.ErrUnreachable) {
		t.Errorf("error %v", err)
	}
}

func TestOGPU11_comesLate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		after   time.Duration // it comes by itself; 0: never
		rescan  bool          // it comes when the bus is scanned
		took    time.Duration // at most
		rescans int
	}{
		"at once":          {after: time.Nanosecond, took: time.Second},
		"after 4 seconds":  {after: 4 * time.Second, took: 9 * time.Second},
		"after a rescan":   {rescan: true, took: 27 * time.Second, rescans: 1},
		"after 90 seconds": {after: 90 * time.Second, took: 96 * time.Second, rescans: 2},
		"never":            {took: 5 * time.Minute, rescans: 5},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s := newSim(cardB())
				s.before["PCI"] = func() error {
					if c.after > 0 && time.Since(start) >= c.after && len(s.cards) == 1 {
						s.cards = append(s.cards, cardA())
					}

					return nil
				}
				s.before["Rescan"] = func() error {
					if c.rescan {
						s.cards = append(s.cards, cardA())
					}

					return nil
				}

				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()

				got, err := gpu.Appear(ctx, s, "", gpu.Before{PCI: []string{busB}, UUIDs: []string{uuidB}})
				took := time.Since(start)

				if never := c.after == 0 && !c.rescan; never {
					var late *wait.TimeoutError
					if !errors.As(err, &late) || got.Visible || !strings.Contains(err.Error(), "no new GPU among the 1") {
						t.Errorf("saw %+v, error %v", got, err)
					}
				} else if err != nil || got.GPU.UUID != uuidA || got.GPU.BusID != busA {
					t.Errorf("saw %+v, error %v", got, err)
				}

				if n := count(s, "Rescan"); took > c.took || n != c.rescans {
					t.Errorf("took %s with %d scans", took, n)
				}
			})
		})
	}
}

func count(s *sim, call string) int {
	n := 0

	for _, c := range s.calls {
		if c == call {
			n++
		}
	}

	return n
}

func TestAppear_errors(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		err   error
		times int // 0: always
		fails error
	}{
		"a lost connection is forgiven":       {err: gpu.ErrUnreachable, times: 3},
		"an unreachable host is not, forever": {err: gpu.ErrUnreachable, fails: gpu.ErrUnreachable},
		"a driver that starts is waited for":  {err: refused("couldn't communicate with the NVIDIA driver"), times: 40},
		"so is one that comes with the GPU":   {err: gpu.ErrNoDriver, times: 40},
		"a driver that never starts":          {err: refused("couldn't communicate with the NVIDIA driver"), fails: context.DeadlineExceeded},
		"a wrong login is final":              {err: errBroken, fails: errBroken},
	}

	for _, call := range []string{"Visible", "Init"} {
		for name, c := range maps.All(cases) {
			t.Run(call+": "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					n := 0
					s := newSim(cardA(), cardB())
					s.lazy, s.cards[0].initialised = true, call == "Visible"
					s.before[call] = func() error {
						if n++; c.times > 0 && n > c.times {
							return nil
						}

						return c.err
					}

					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
					defer cancel()

					got, err := gpu.Appear(ctx, s, uuidA, gpu.Before{})
					if !errors.Is(err, c.fails) || (c.fails == nil) != got.Visible {
						t.Errorf("saw %+v, error %v", got, err)
					}

					if errors.Is(c.fails, context.DeadlineExceeded) && !strings.Contains(err.Error(), "communicate with the NVIDIA driver") {
						t.Errorf("error %v: the driver's words are lost", err)
					}
				})
			})
		}
	}
}

func TestOGPU13_victims(t *testing.T) {
	t.Parallel()

	s := newSim(cardA(), cardB(), &card{uuid: uuidC, bus: busC, minor: 2, onBus: true, initialised: true})
	s.persistenced = true // holds all of them, and is no work
	s.cards[1].apps = []string{"train", "train"}

	gone := "GPU-dddddddd-0000-4000-8000-000000000004"

	got, err := gpu.Idle(t.Context(), s, []string{uuidA, strings.ToUpper(uuidB), uuidC, gone, "S-0001"})
	if want := (map[string]bool{uuidA: true, strings.ToUpper(uuidB): false, uuidC: true, gone: true}); err != nil || !maps.Equal(got, want) {
		t.Errorf("idle %v, error %v", got, err)
	}

	if len(s.changes()) > 0 {
		t.Errorf("changes %v", s.changes())
	}

	s.before["Apps"] = func() error { return refused("Failed to initialize NVML") }

	if _, err := gpu.Idle(t.Context(), s, []string{uuidA}); !errors.Is(err, gpu.ErrCommand) {
		t.Errorf("error %v: what cannot be asked is not idle", err)
	}

	s.cards = nil

	if got, err := gpu.Idle(t.Context(), s, []string{uuidA}); err != nil || !got[uuidA] {
		t.Errorf("idle %v, error %v: a host without a GPU has none to ask", got, err)
	}
}
