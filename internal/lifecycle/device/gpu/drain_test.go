// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

func TestDrain_keepsTheGPUInTheKernel(t *testing.T) {
	t.Parallel()

	s := newSim(cardA(), cardB())
	s.persistenced = true

	r, err := gpu.Drain(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{})
	if err != nil {
		t.Fatal(err)
	}

	if !r.Drained || !s.cards[0].drains || !s.cards[0].onBus || s.cards[1].drains || !s.persistenced || slices.Contains(s.calls, "Remove") {
		t.Errorf("%+v, %s, calls %v", r, s.state(), s.calls)
	}

	if _, err := gpu.Undrain(t.Context(), s, gpu.Target{BusID: busA}); err != nil || s.cards[0].drains {
		t.Errorf("%v, %s", err, s.state())
	}
}

func TestDrain_refusals(t *testing.T) {
	t.Parallel()

	s := newSim(cardA())
	s.cards[0].holders = []gpu.Process{{PID: 7, Comm: "python3"}}
	s.persistenced = true

	if _, err := gpu.Drain(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{}); !errors.Is(err, gpu.ErrInUse) {
		t.Errorf("a GPU that somebody holds: %v", err)
	}

	if s.cards[0].drains || !s.cards[0].persistent || !s.persistenced {
		t.Errorf("not as before: %s", s.state())
	}

	if r, err := gpu.Drain(t.Context(), s, gpu.Target{ID: uuidA}, gpu.Options{Force: true}); err != nil || !r.Drained {
		t.Errorf("forced: %+v: %v", r, err)
	}

	for name, f := range map[string]func() (gpu.Released, error){
		"drain":   func() (gpu.Released, error) { return gpu.Drain(t.Context(), s, gpu.Target{ID: uuidC}, gpu.Options{}) },
		"undrain": func() (gpu.Released, error) { return gpu.Undrain(t.Context(), s, gpu.Target{ID: uuidC}) },
	} {
		if r, err := f(); err != nil || !r.Absent {
			t.Errorf("%s of a GPU that is not there: %+v: %v", name, r, err)
		}
	}
}

// TestDrain_end is where only nvidia-persistenced is to be started again.
func TestDrain_end(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		set   func(*sim, context.CancelFunc)
		fails bool
		kept  bool // not undone
	}{
		"interrupted": {set: func(s *sim, cancel context.CancelFunc) {
			s.after["Holders"] = func() error {
				cancel()

				return nil
			}
		}},
		"it starts the second time": {fails: true, set: func(s *sim, _ context.CancelFunc) {
			s.before["StartPersistenced"] = func() error {
				delete(s.before, "StartPersistenced")

				return errBroken
			}
		}},
		"it never starts": {fails: true, kept: true, set: func(s *sim, _ context.CancelFunc) {
			s.before["StartPersistenced"] = func() error { return errBroken }
		}},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()

			s := newSim(cardA(), cardB())
			s.persistenced = true
			c.set(s, cancel)

			_, err := gpu.Drain(ctx, s, gpu.Target{ID: uuidA}, gpu.Options{})
			if errors.Is(err, errBroken) != c.fails || errors.Is(err, gpu.ErrNotUndone) != c.kept {
				t.Errorf("error %v", err)
			}

			if s.persistenced == c.kept || s.cards[0].drains == c.fails {
				t.Errorf("error %v, %s", err, s.state())
			}
		})
	}
}
