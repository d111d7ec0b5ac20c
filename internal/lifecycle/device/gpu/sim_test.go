// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

const (
	uuidA = "GPU-aaaaaaaa-0000-4000-8000-000000000001"
	uuidB = "GPU-bbbbbbbb-0000-4000-8000-000000000002"
	uuidC = "GPU-cccccccc-0000-4000-8000-000000000003"
	busA  = "0000:1f:00.0"
	busB  = "0000:20:00.0"
	busC  = "0000:21:00.0"
)

// card is a GPU that the fabric has attached to the simulated host.
type card struct {
	uuid, bus   string
	minor       int
	onBus       bool
	bare        bool // the driver does not take it
	foreign     string
	initialised bool
	drains      bool
	persistent  bool
	apps        []string
	holders     []gpu.Process
}

// sim is a host with a memory, which behaves as a real one where the sequences depend on
// it. Calls are recorded, and any of them can be made to fail before or after its work.
type sim struct {
	mu           sync.Mutex
	cards        []*card
	persistenced bool
	unloaded     bool         // parts of the driver
	files        map[int]bool // device files
	calls        []string
	before       map[string]func() error           // by call: an error, and nothing was done
	after        map[string]func() error           // an error, and it was done all the same
	lazy         bool                              // new GPUs wait for Init
	chance       func(n int) (before, after error) // of the n-th call
}

func newSim(cards ...*card) *sim {
	s := &sim{cards: cards, files: map[int]bool{}, before: map[string]func() error{}, after: map[string]func() error{}}
	for _, c := range cards {
		s.files[c.minor] = true
	}

	return s
}

func cardA() *card {
	return &card{uuid: uuidA, bus: busA, minor: 0, onBus: true, initialised: true, persistent: true}
}

func cardB() *card {
	return &card{uuid: uuidB, bus: busB, minor: 1, onBus: true, initialised: true, persistent: true}
}

// state is all that a sequence may change on the host.
func (s *sim) state() string {
	s.mu.Lock()
	defer s.mu.Unlock()

	var b strings.Builder

	for _, c := range s.cards {
		fmt.Fprintf(&b, "%s bus=%t init=%t drain=%t pm=%t; ", c.bus, c.onBus, c.initialised, c.drains, c.persistent)
	}

	fmt.Fprintf(&b, "persistenced=%t unloaded=%t files=%v", s.persistenced, s.unloaded, s.files)

	return b.String()
}

// changes are the calls that change something.
func (s *sim) changes() []string {
	var out []string

	for _, c := range s.calls {
		for _, verb := range []string{"Set", "Stop", "Start", "Remove", "Rescan", "Init", "Load"} {
			if strings.HasPrefix(c, verb) {
				out = append(out, c)
			}
		}
	}

	return out
}

// do records a call and does its work under the lock.
func (s *sim) do(ctx context.Context, call string, work func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.calls = append(s.calls, call)

	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}

	var first, then error
	if s.chance != nil {
		first, then = s.chance(len(s.calls) - 1)
	}

	if f := s.before[call]; f != nil && first == nil {
		first = f()
	}

	if first != nil {
		return first
	}

	if err := work(); err != nil {
		return err
	}

	if then != nil {
		return then
	}

	if f := s.after[call]; f != nil {
		return f()
	}

	return nil
}

func refused(words string) error { return fmt.Errorf("%w: %s", gpu.ErrCommand, words) }

func (s *sim) at(g gpu.GPU) *card {
	for _, c := range s.cards {
		if c.onBus && (c.uuid == g.UUID || c.bus == g.BusID) {
			return c
		}
	}

	return &card{minor: -1}
}

func (s *sim) holders(c *card) []gpu.Process {
	out := slices.Clone(c.holders)
	if s.persistenced && c.minor >= 0 {
		out = append(out, gpu.Process{PID: 99, Comm: "nvidia-persiste"})
	}

	return out
}

func (s *sim) list(show func(*card) bool, minors bool) []gpu.GPU {
	var out []gpu.GPU

	for _, c := range s.cards {
		if !c.onBus || c.bare || !show(c) {
			continue
		}

		g := gpu.GPU{BusID: c.bus, Minor: -1}
		if c.initialised {
			g.UUID = c.uuid
		}

		if minors {
			g.Minor = c.minor
		}

		out = append(out, g)
	}

	return out
}

func (s *sim) Name() string { return "node-0" }

func (s *sim) Warnings() []string { return nil }

func (s *sim) Driver(ctx context.Context) (d gpu.Driver, err error) {
	return gpu.DriverHost, s.do(ctx, "Driver", func() error { return nil })
}

func (s *sim) Visible(ctx context.Context) (out []gpu.GPU, err error) {
	err = s.do(ctx, "Visible", func() error {
		out = s.list(func(c *card) bool { return !c.drains && c.initialised }, false)

		return nil
	})

	return out, err
}

func (s *sim) Present(ctx context.Context) (out []gpu.GPU, err error) {
	err = s.do(ctx, "Present", func() error {
		out = s.list(func(*card) bool { return true }, true)

		return nil
	})

	return out, err
}

func (s *sim) PCI(ctx context.Context) (out []string, err error) {
	err = s.do(ctx, "PCI", func() error {
		for _, c := range s.cards {
			if c.onBus {
				out = append(out, c.bus)
			}
		}

		return nil
	})

	return out, err
}

func (s *sim) Foreign(ctx context.Context, g gpu.GPU) (driver string, err error) {
	err = s.do(ctx, "Foreign", func() error {
		driver = s.at(g).foreign

		return nil
	})

	return driver, err
}

func (s *sim) Apps(ctx context.Context) (out []gpu.App, err error) {
	err = s.do(ctx, "Apps", func() error {
		for _, c := range s.cards {
			for _, a := range c.apps {
				out = append(out, gpu.App{UUID: c.uuid, Name: a})
			}
		}

		return nil
	})

	return out, err
}

func (s *sim) Holders(ctx context.Context, g gpu.GPU) (out []gpu.Process, err error) {
	err = s.do(ctx, "Holders", func() error {
		out = s.holders(s.at(g))

		return nil
	})

	return out, err
}

func (s *sim) Draining(ctx context.Context, g gpu.GPU) (on bool, err error) {
	err = s.do(ctx, "Draining", func() error {
		on = s.at(g).drains

		return nil
	})

	return on, err
}

func (s *sim) SetDrain(ctx context.Context, g gpu.GPU, on bool) error {
	return s.do(ctx, fmt.Sprintf("SetDrain %t", on), func() error {
		c := s.at(g)

		switch {
		case c.minor < 0:
			return refused("no such GPU")
		case on && c.persistent:
			return refused("persistence mode is on")
		}

		c.drains = on

		return nil
	})
}

func (s *sim) Persistence(ctx context.Context, g gpu.GPU) (on bool, err error) {
	err = s.do(ctx, "Persistence", func() error {
		on = s.at(g).persistent

		return nil
	})

	return on, err
}

func (s *sim) SetPersistence(ctx context.Context, g gpu.GPU, on bool) error {
	return s.do(ctx, fmt.Sprintf("SetPersistence %t", on), func() error {
		c := s.at(g)
		if c.drains {
			return refused("no GPU with that id")
		}

		c.persistent = on

		return nil
	})
}

func (s *sim) StopPersistenced(ctx context.Context) (was bool, err error) {
	was = s.persistenced // what it asks first
	err = s.do(ctx, "StopPersistenced", func() error {
		s.persistenced = false

		return nil
	})

	return was, err
}

func (s *sim) StartPersistenced(ctx context.Context) error {
	return s.do(ctx, "StartPersistenced", func() error {
		s.persistenced = true

		return nil
	})
}

func (s *sim) Remove(ctx context.Context, g gpu.GPU, how gpu.Removal) (unloaded []string, err error) {
	call := "Remove"
	if how.Last {
		call = "Remove last"
	}

	err = s.do(ctx, call, func() error {
		c := s.at(g)

		switch {
		case !c.bare && !c.drains:
			return refused("it does not drain")
		case len(s.holders(c)) > 0:
			return refused("it is in use")
		}

		c.onBus, c.drains, c.persistent, c.initialised = false, false, false, false

		if how.Last && !how.Bare {
			s.unloaded = true
			unloaded = []string{"nvidia_drm", "nvidia_uvm"}
		}

		return nil
	})

	return unloaded, err
}

func (s *sim) Load(ctx context.Context, modules []string) error {
	return s.do(ctx, "Load "+strings.Join(modules, " "), func() error {
		s.unloaded = false

		return nil
	})
}

func (s *sim) RemoveDeviceFile(ctx context.Context, g gpu.GPU) error {
	return s.do(ctx, "RemoveDeviceFile", func() error {
		delete(s.files, g.Minor)

		return nil
	})
}

func (s *sim) Rescan(ctx context.Context) error {
	return s.do(ctx, "Rescan", func() error {
		for _, c := range s.cards {
			if !c.onBus {
				c.onBus, c.initialised = true, !s.lazy
			}
		}

		return nil
	})
}

func (s *sim) Init(ctx context.Context) error {
	return s.do(ctx, "Init", func() error {
		for _, c := range s.cards {
			c.initialised = c.onBus && !c.bare
		}

		return nil
	})
}

var errBroken = errors.New("broken")
