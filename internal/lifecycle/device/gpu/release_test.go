// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

// sequence is the whole release of an idle GPU beside another.
var sequence = []string{
	"Present", "Draining", "Apps", // look
	"Persistence", "SetPersistence false", "StopPersistenced", "SetDrain true", // take out of use
	"Holders",       // the last look for users comes after the drain
	"Remove", "PCI", // remove, verify
}

func TestRelease_order(t *testing.T) {
	t.Parallel()

	s := newSim(cardA(), cardB())
	s.persistenced = true

	r, err := gpu.Release(t.Context(), s, gpu.Target{ID: strings.ToUpper(uuidA)}, gpu.Options{})
	if err != nil {
		t.Fatal(err)
	}

	if !slices.Equal(s.calls, sequence) {
		t.Errorf("calls:\n%v\nwant\n%v", s.calls, sequence)
	}

	want := gpu.GPU{UUID: uuidA, BusID: busA, Minor: 0}
	if r.GPU != want || r.Absent || r.Bare || !r.Drained || !r.Persistence || !r.Persistenced {
		t.Errorf("released %+v", r)
	}

	if err := gpu.Finish(t.Context(), s, r); err != nil {
		t.Fatal(err)
	}

	if s.cards[0].onBus || !s.persistenced || s.files[0] || !s.files[1] || s.cards[1].drains || !s.cards[1].persistent {
		t.Errorf("after the end: %s", s.state())
	}
}

func TestRelease_lastGPU(t *testing.T) {
	t.Parallel()

	s := newSim(cardA())
	s.persistenced = true

	r, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{})
	if err != nil {
		t.Fatal(err)
	}

	if err := gpu.Finish(t.Context(), s, r); err != nil {
		t.Fatal(err)
	}

	if !slices.Contains(s.calls, "Remove last") || s.persistenced {
		t.Errorf("calls %v, %s: no GPU is left for nvidia-persistenced", s.calls, s.state())
	}
}

func TestOGPU10_busy(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		set     func(*sim)
		target  gpu.Target
		force   bool
		inUse   string // what the refusal names
		changes bool   // something was changed, and put back
		absent  bool
	}{
		"idle while the other works": {
			set: func(s *sim) {
				s.cards[1].apps, s.cards[1].holders = []string{"train"}, []gpu.Process{{PID: 7, Comm: "train"}}
			},
			target: gpu.Target{ID: uuidA}, changes: true,
		},
		"it computes": {
			set: func(s *sim) {
				s.cards[0].apps, s.cards[0].holders = []string{"/usr/bin/python3"}, []gpu.Process{{PID: 4711, Comm: "python3"}}
			},
			target: gpu.Target{ID: uuidA}, inUse: "in use by 4711 python3",
		},
		"it computes, and nobody sees who": {
			set:    func(s *sim) { s.cards[0].apps = []string{"/usr/bin/python3 train.py --lr=1,2"} },
			target: gpu.Target{ID: uuidA}, inUse: "in use by /usr/bin/python3 train.py --lr=1,2",
		},
		"it is only held": {
			set:    func(s *sim) { s.cards[0].holders = []gpu.Process{{PID: 12, Comm: "Xorg"}, {PID: 13, Comm: "dcgm"}} },
			target: gpu.Target{ID: uuidA}, inUse: "in use by 12 Xorg, 13 dcgm", changes: true,
		},
		"a process starts before the drain": {
			set: func(s *sim) {
				s.after["Apps"] = func() error {
					s.cards[0].holders = []gpu.Process{{PID: 8, Comm: "late"}}

					return nil
				}
			},
			target: gpu.Target{ID: uuidA}, inUse: "8 late", changes: true,
		},
		"not there":              {target: gpu.Target{ID: uuidC}, absent: true},
		"not there, nor address": {target: gpu.Target{ID: uuidC, BusID: busC}, absent: true},
		"another at its address": {target: gpu.Target{ID: uuidC, BusID: busA}, absent: true},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSim(cardA(), cardB())
			s.persistenced = true

			if c.set != nil {
				c.set(s)
			}

			before := s.state()
			r, err := gpu.Release(t.Context(), s, c.target, gpu.Options{Force: c.force})

			if c.inUse != "" {
				var busy *gpu.InUseError
				if !errors.As(err, &busy) || !errors.Is(err, gpu.ErrInUse) || !strings.Contains(err.Error(), c.inUse) {
					t.Errorf("error %v", err)
				}

				if after := s.state(); after != before {
					t.Errorf("the host is\n%s\nand was\n%s", after, before)
				}
			} else if err != nil {
				t.Error(err)
			}

			if r.Absent != c.absent {
				t.Errorf("released %+v", r)
			}

			if got := len(s.changes()) > 0; got != c.changes {
				t.Errorf("changes %v", s.changes())
			}
		})
	}
}

func TestRelease_forced(t *testing.T) {
	t.Parallel()

	s := newSim(cardA(), cardB())
	s.cards[0].apps = []string{"idle client"} // shown, and holds nothing by the time

	if _, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{Force: true}); err != nil {
		t.Fatal(err)
	}

	if slices.Contains(s.calls, "Apps") || slices.Contains(s.calls, "Holders") || !slices.Contains(s.calls, "SetDrain true") {
		t.Errorf("calls %v: force looks for no users, and drains all the same", s.calls)
	}
}

func TestRelease_undoneAtEveryPoint(t *testing.T) {
	t.Parallel()

	for _, call := range sequence {
		for _, when := range []string{"nothing was done", "it was done", "interrupted", "interrupted after it was done"} {
			t.Run(call+", "+when, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { failAt(t, call, when) })
			})
		}
	}
}

// failAt lets one call of a release fail once, and sees that the host is as it was.
func failAt(t *testing.T, call, when string) {
	t.Helper()

	s := newSim(cardA(), cardB())
	s.persistenced = true

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	failed := false
	fail := func() error {
		if failed {
			return nil
		}

		failed = true

		if strings.HasPrefix(when, "interrupted") {
			cancel()

			return context.Canceled
		}

		return errBroken
	}

	if strings.HasSuffix(when, "was done") && when != "nothing was done" {
		s.after[call] = fail
	} else {
		s.before[call] = fail
	}

	before := s.state()
	_, err := gpu.Release(ctx, s, gpu.Target{ID: uuidA, BusID: busA}, gpu.Options{})

	if err == nil {
		t.Fatal("no error")
	}

	if !errors.Is(err, errBroken) && !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}

	if strings.Contains(err.Error(), "put back") {
		t.Errorf("not undone: %v", err)
	}

	if after := s.state(); after != before {
		t.Errorf("the host is\n%s\nand was\n%s\ncalls %v", after, before, s.calls)
	}
}

func TestRelease_undoFails(t *testing.T) {
	t.Parallel()

	s := newSim(cardA(), cardB())
	s.persistenced = true
	s.before["Remove"] = func() error { return errBroken }
	s.before["SetDrain false"] = func() error { return refused("no more") }

	_, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{})
	if !errors.Is(err, errBroken) || !errors.Is(err, gpu.ErrNotUndone) || !strings.Contains(err.Error(), "end the drain of GPU "+uuidA) {
		t.Errorf("error %v: it must tell both failures", err)
	}

	if !s.persistenced {
		t.Error("a step of the undo that fails must not keep the others")
	}
}

func TestRelease_undoOutlivesALostConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSim(cardA(), cardB())
		s.persistenced = true
		before := s.state()
		start := time.Now()

		s.after["SetDrain true"] = func() error { return gpu.ErrUnreachable }

		for _, call := range []string{"SetDrain false", "SetPersistence true", "StartPersistenced"} {
			s.before[call] = func() error {
				if time.Since(start) < 5*time.Second {
					return gpu.ErrUnreachable
				}

				return nil
			}
		}

		_, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{})
		if !errors.Is(err, gpu.ErrUnreachable) || strings.Contains(err.Error(), "put back") || s.state() != before {
			t.Errorf("error %v, the host is\n%s\nand was\n%s", err, s.state(), before)
		}
	})
}

func TestRelease_undoIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSim(cardA(), cardB())
		s.chance = func(n int) (error, error) {
			if n >= 6 {
				return gpu.ErrUnreachable, nil
			}

			return nil, nil
		}
		start := time.Now()

		_, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{})
		if !errors.Is(err, gpu.ErrUnreachable) || !strings.Contains(err.Error(), "put back") || time.Since(start) > 3*time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

func TestRelease_persistenceWasOff(t *testing.T) {
	t.Parallel()

	s := newSim(cardA(), cardB())
	s.cards[0].persistent = false
	s.cards[0].holders = []gpu.Process{{PID: 1, Comm: "x"}}
	before := s.state()

	if _, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{}); !errors.Is(err, gpu.ErrInUse) {
		t.Errorf("error %v", err)
	}

	if after := s.state(); after != before {
		t.Errorf("the host is %s and was %s", after, before)
	}
}

func TestRelease_drainsAlready(t *testing.T) {
	t.Parallel()

	for name, holders := range map[string][]gpu.Process{"free": nil, "held": {{PID: 5, Comm: "old"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSim(cardA(), cardB())
			s.cards[0].persistent, s.cards[0].drains, s.cards[0].holders = false, true, holders

			_, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{})
			if held := len(holders) > 0; errors.Is(err, gpu.ErrInUse) != held || s.cards[0].drains != held || s.cards[0].onBus != held {
				t.Errorf("error %v, %s", err, s.state())
			}
		})
	}
}

func TestRelease_withoutUUID(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		set    func(*sim)
		target gpu.Target
		bare   bool
		fails  bool
	}{
		"the fabric gave none":         {target: gpu.Target{BusID: "00000000:1F:00.0"}},
		"the fabric gave a serial":     {target: gpu.Target{ID: "S-0001", BusID: busA}},
		"the fabric left out GPU-":     {target: gpu.Target{ID: strings.TrimPrefix(uuidA, "GPU-")}},
		"and the address is another's": {target: gpu.Target{ID: strings.TrimPrefix(uuidA, "GPU-"), BusID: busB}},
		"the driver needs a push":      {set: func(s *sim) { s.cards[0].initialised = false }, target: gpu.Target{ID: uuidA}},
		"the driver cannot initialise": {set: dead, target: gpu.Target{ID: uuidA, BusID: busA}},
		"no driver has it":             {set: func(s *sim) { s.cards[0].bare = true }, target: gpu.Target{ID: uuidA, BusID: busA}, bare: true},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSim(cardA(), cardB())
			if c.set != nil {
				c.set(s)
			}

			r, err := gpu.Release(t.Context(), s, c.target, gpu.Options{})
			if (err != nil) != c.fails || r.Bare != c.bare || s.cards[0].onBus != c.fails {
				t.Errorf("error %v, released %+v, %s", err, r, s.state())
			}

			if c.bare && len(s.changes()) != 1 {
				t.Errorf("changes %v: there is no driver to ask", s.changes())
			}
		})
	}
}

// dead lets the driver fail to initialise the first GPU.
func dead(s *sim) {
	s.cards[0].initialised = false
	s.before["Init"] = func() error { return refused("RmInitAdapter failed") }
}

func TestRelease_stays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSim(cardA(), cardB())
		s.after["Remove"] = func() error { // says that it worked
			s.cards[0].onBus, s.cards[0].initialised, s.cards[0].drains = true, true, true

			return nil
		}
		before := s.state()
		start := time.Now()

		_, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{})
		if err == nil || !strings.Contains(err.Error(), "it is still there") || time.Since(start) > time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}

		if after := s.state(); after != before {
			t.Errorf("the host is %s and was %s", after, before)
		}
	})
}

func TestOGPU12_unreachable(t *testing.T) {
	t.Parallel()

	s := newSim(cardA())
	s.before["Present"] = func() error { return gpu.ErrUnreachable }
	before := s.state()

	if _, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{Force: true}); !errors.Is(err, gpu.ErrUnreachable) {
		t.Errorf("error %v", err)
	}

	if s.state() != before || len(s.changes()) > 0 {
		t.Errorf("changes %v", s.changes())
	}
}

func TestRestore_afterAFailedDetach(t *testing.T) {
	t.Parallel()

	for name, lazy := range map[string]bool{"the driver takes it": false, "the driver needs a push": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSim(cardA(), cardB())
			s.persistenced, s.lazy = true, lazy
			before := s.state()

			r, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{})
			if err != nil {
				t.Fatal(err)
			}

			over, cancel := context.WithCancel(t.Context())
			cancel()

			if err := gpu.Restore(over, s, r); err != nil {
				t.Fatal(err)
			}

			if after := s.state(); after != before {
				t.Errorf("the host is\n%s\nand was\n%s", after, before)
			}
		})
	}
}

func TestRestore_neverComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSim(cardA(), cardB())
		s.persistenced = true

		r, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{})
		if err != nil {
			t.Fatal(err)
		}

		s.cards = s.cards[1:] // the fabric took it after all
		start := time.Now()

		err = gpu.Restore(t.Context(), s, r)
		if err == nil || !strings.Contains(err.Error(), "the driver does not have it") || time.Since(start) > 2*time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}

		if !s.persistenced {
			t.Error("the other GPU has lost nvidia-persistenced")
		}
	})
}

func TestRestore_nothingToDo(t *testing.T) {
	t.Parallel()

	s := newSim()
	if err := gpu.Restore(t.Context(), s, gpu.Released{Absent: true}); err != nil || len(s.calls) > 0 {
		t.Errorf("error %v, calls %v", err, s.calls)
	}
}

func TestFinish_tellsBothFailures(t *testing.T) {
	t.Parallel()

	s := newSim(cardB())
	s.before["StartPersistenced"] = func() error { return errBroken }
	s.before["RemoveDeviceFile"] = func() error { return gpu.ErrUnreachable }

	err := gpu.Finish(t.Context(), s, gpu.Released{GPU: gpu.GPU{BusID: busA, Minor: 0}, Persistenced: true})
	if !errors.Is(err, errBroken) || !errors.Is(err, gpu.ErrUnreachable) {
		t.Errorf("error %v", err)
	}

	for _, nothing := range []gpu.Released{{}, {Absent: true, Persistenced: true, GPU: gpu.GPU{BusID: busA}}} {
		if err := gpu.Finish(t.Context(), s, nothing); err != nil {
			t.Errorf("%+v: error %v: nothing was released", nothing, err)
		}
	}
}
