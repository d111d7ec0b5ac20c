// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

// FuzzRelease releases a GPU while any call may fail, before or after its work: whatever
// happens, the GPU is gone, or the host is as it was, or the error says that it is not.
func FuzzRelease(f *testing.F) {
	f.Add([]byte{}, byte(0))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 2}, byte(1))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 3}, byte(3))
	f.Add([]byte{0, 0, 0, 0, 2, 2}, byte(255))

	f.Fuzz(func(t *testing.T, plan []byte, kind byte) {
		synctest.Test(t, func(t *testing.T) { releaseBy(t, plan, kind) })
	})
}

// releaseBy fails the calls as the plan says: 1 before, 2 after the work, 3 interrupts.
func releaseBy(t *testing.T, plan []byte, kind byte) {
	t.Helper()

	s := newSim(cardA(), cardB())
	s.persistenced = kind&1 > 0
	s.lazy = kind&2 > 0
	s.cards[0].persistent = kind&4 == 0

	if kind&8 > 0 {
		s.cards[0].holders = []gpu.Process{{PID: 1, Comm: "x"}}
	}

	if kind&16 > 0 {
		s.cards = s.cards[:1]
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	s.chance = func(n int) (before, after error) {
		if n >= len(plan) {
			return nil, nil
		}

		switch plan[n] {
		case 1:
			return errBroken, nil
		case 2:
			return nil, gpu.ErrUnreachable
		case 3:
			cancel()

			return context.Canceled, nil
		default:
			return nil, nil
		}
	}

	before := s.state()
	r, err := gpu.Release(ctx, s, gpu.Target{ID: uuidA, BusID: busA}, gpu.Options{Force: kind&32 > 0})

	switch {
	case err == nil && (r.Absent || s.cards[0].onBus):
		t.Errorf("released %+v, %s, calls %v", r, s.state(), s.calls)
	case err != nil && s.state() != before && !strings.Contains(err.Error(), "put back"):
		t.Errorf("error %v\nthe host is\n%s\nand was\n%s\ncalls %v", err, s.state(), before, s.calls)
	case errors.Is(err, gpu.ErrInUse) && kind&8 == 0:
		t.Errorf("error %v: nobody uses it", err)
	}

	if err != nil {
		return
	}

	// The fabric refuses, and the host gets its GPU back.
	s.chance = nil

	if err := gpu.Restore(ctx, s, r); err != nil || s.state() != before {
		t.Errorf("error %v\nthe host is\n%s\nand was\n%s\ncalls %v", err, s.state(), before, s.calls)
	}
}
