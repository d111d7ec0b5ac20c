// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

// TestRelease_identity: nothing but the named GPU is touched, and only what is proved to be
// absent counts as that. Every host here has B, and some have A, which is wanted.
func TestRelease_identity(t *testing.T) {
	t.Parallel()

	bare := func(id string) string { return strings.TrimPrefix(id, "GPU-") }
	noDriver := func(s *sim) { s.cards[0].bare = true }

	cases := map[string]struct {
		cards  []*card
		set    func(*sim)
		target gpu.Target
		absent bool // else, where there is no error, A is released
		doubt  bool
	}{
		"a UUID that is not listed":                {cards: []*card{cardB()}, target: gpu.Target{ID: uuidA}, absent: true},
		"and another has its address":              {cards: []*card{cardB()}, target: gpu.Target{ID: uuidA, BusID: busB}, absent: true},
		"and its address is free":                  {cards: []*card{cardB()}, target: gpu.Target{ID: uuidA, BusID: busA}, absent: true},
		"and a GPU without a driver has no UUID":   {cards: []*card{cardA(), cardB()}, set: noDriver, target: gpu.Target{ID: uuidC}, doubt: true},
		"and a GPU that is dead has none":          {cards: []*card{cardA(), cardB()}, set: dead, target: gpu.Target{ID: uuidC}, doubt: true},
		"nor is the one at its address it":         {cards: []*card{cardA(), cardB()}, set: dead, target: gpu.Target{ID: uuidC, BusID: busB}, doubt: true},
		"a UUID without GPU- that is not listed":   {cards: []*card{cardB()}, target: gpu.Target{ID: bare(uuidA)}, absent: true},
		"and another is at its address then":       {cards: []*card{cardB()}, target: gpu.Target{ID: bare(uuidA), BusID: busB}, doubt: true},
		"and nothing is at its address then":       {cards: []*card{cardB()}, target: gpu.Target{ID: bare(uuidA), BusID: busA}, absent: true},
		"a UUID without GPU- that is listed":       {cards: []*card{cardA(), cardB()}, target: gpu.Target{ID: bare(uuidA), BusID: busB}},
		"a serial and an address":                  {cards: []*card{cardA(), cardB()}, target: gpu.Target{ID: "S-0001", BusID: busA}},
		"a serial and no address":                  {cards: []*card{cardA(), cardB()}, target: gpu.Target{ID: "S-0001"}, doubt: true},
		"a serial, and an address which is free":   {cards: []*card{cardB()}, target: gpu.Target{ID: "S-0001", BusID: busA}, absent: true},
		"nothing known":                            {cards: []*card{cardB()}, doubt: true},
		"nothing known of it nor of its driver":    {cards: []*card{cardA()}, set: noDriver, doubt: true},
		"nothing known, and the host has no GPU":   {absent: true},
		"a serial, and the host has no GPU":        {target: gpu.Target{ID: "S-0001"}, absent: true},
		"a UUID and an address without a driver":   {cards: []*card{cardA(), cardB()}, set: noDriver, target: gpu.Target{ID: uuidA, BusID: busA}},
		"a UUID and the address of one without it": {cards: []*card{cardA(), cardB()}, set: dead, target: gpu.Target{ID: uuidA, BusID: busA}},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for verb, do := range map[string]func(context.Context, gpu.Ops, gpu.Target, gpu.Options) (gpu.Released, error){
				"release": gpu.Release, "drain": gpu.Drain,
				"undrain": func(ctx context.Context, ops gpu.Ops, target gpu.Target, _ gpu.Options) (gpu.Released, error) {
					return gpu.Undrain(ctx, ops, target)
				},
			} {
				s := newSim()
				for _, of := range c.cards {
					mine := *of
					s.cards = append(s.cards, &mine)
				}

				if c.set != nil {
					c.set(s)
				}

				r, err := do(t.Context(), s, c.target, gpu.Options{})
				if errors.Is(err, gpu.ErrInDoubt) != c.doubt || (err == nil) == c.doubt || r.Absent != c.absent && !c.doubt {
					t.Errorf("%s: released %+v, error %v", verb, r, err)
				}

				if !c.absent && !c.doubt {
					if r.GPU.BusID != busA {
						t.Errorf("%s: another GPU: %+v", verb, r)
					}

					continue
				}

				if got := strings.ReplaceAll(strings.Join(s.changes(), " "), "Init", ""); got != "" {
					t.Errorf("%s: changes %s", verb, got)
				}
			}
		})
	}
}

// TestRelease_anotherDriver: a GPU that a virtual machine has is no idle GPU.
func TestRelease_anotherDriver(t *testing.T) {
	t.Parallel()

	vm := func() *sim {
		s := newSim(cardA(), cardB())
		s.cards[0].bare, s.cards[0].foreign = true, "vfio-pci"

		return s
	}
	target := gpu.Target{ID: uuidA, BusID: busA}

	for verb, do := range map[string]func(context.Context, gpu.Ops, gpu.Target, gpu.Options) (gpu.Released, error){"release": gpu.Release, "drain": gpu.Drain} {
		s := vm()

		_, err := do(t.Context(), s, target, gpu.Options{})
		if !errors.Is(err, gpu.ErrInUse) || !strings.Contains(err.Error(), "vfio-pci") || len(s.changes()) > 0 {
			t.Errorf("%s: error %v, changes %v", verb, err, s.changes())
		}

		s = vm()

		r, err := do(t.Context(), s, target, gpu.Options{Force: true})
		if err != nil || !r.Bare || r.Foreign != "vfio-pci" || s.cards[0].onBus != (verb == "drain") {
			t.Errorf("%s, forced: %+v, error %v, %s", verb, r, err, s.state())
		}
	}
}

// TestRelease_pending: what the kernel began it ends, so it is not called undone.
func TestRelease_pending(t *testing.T) {
	t.Parallel()

	for name, cards := range map[string][]*card{"beside another": {cardA(), cardB()}, "the last": {cardA()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSim(cards...)
			s.persistenced = true
			pending := func() error { return gpu.ErrPending }
			s.before["Remove"], s.before["Remove last"] = pending, pending

			_, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{Force: true})
			if !errors.Is(err, gpu.ErrPending) || errors.Is(err, gpu.ErrNotUndone) {
				t.Errorf("error %v", err)
			}

			if !s.cards[0].drains || s.cards[0].persistent || s.persistenced != (len(cards) > 1) {
				t.Errorf("%s: it must not take processes again, and the others need nvidia-persistenced", s.state())
			}
		})
	}
}

func TestRestore_loadsWhatTheLastGPUDidNotNeed(t *testing.T) {
	t.Parallel()

	s := newSim(cardA())
	before := s.state()

	r, err := gpu.Release(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{})
	if err != nil || !s.unloaded {
		t.Fatalf("error %v, %s", err, s.state())
	}

	if err := gpu.Restore(t.Context(), s, r); err != nil || s.state() != before {
		t.Errorf("error %v, the host is\n%s\nand was\n%s", err, s.state(), before)
	}
}
