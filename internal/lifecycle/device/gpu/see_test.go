// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
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
		"by its UUID without GPU-":      {id: strings.TrimPrefix(uuidA, "GPU-"), before: onlyB, want: seenA, visible: true},
		"without GPU-, after a resume":  {id: strings.TrimPrefix(uuidA, "GPU-"), want: seenA, visible: true},
		"a UUID that no GPU shows":      {id: "dddddddd-0000-4000-8000-000000000004", before: onlyB, want: seenA, visible: true},
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

func TestOGPU13_victims(t *testing.T) {
	t.Parallel()

	s := newSim(cardA(), cardB(), &card{uuid: uuidC, bus: busC, minor: 2, onBus: true, initialised: true})
	s.persistenced = true // holds all of them, and is no work
	s.cards[1].apps = []string{"train", "train"}

	bareB, bareC := strings.TrimPrefix(uuidB, "GPU-"), strings.TrimPrefix(uuidC, "GPU-")
	gone := "GPU-dddddddd-0000-4000-8000-000000000004"

	got, err := gpu.Idle(t.Context(), s, []string{uuidA, strings.ToUpper(uuidB), uuidC, gone, "S-0001", bareB, bareC})
	if want := (map[string]bool{uuidA: true, strings.ToUpper(uuidB): false, uuidC: true, gone: true, bareB: false, bareC: true}); err != nil || !maps.Equal(got, want) {
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
