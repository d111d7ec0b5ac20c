// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

// host is the operating system of a machine of a pool: it shows what the pool has attached,
// after a while, and unless something is in the way.
type host struct {
	pool    *pool
	machine string

	mu       sync.Mutex
	driver   error
	down     error // nobody answers
	hotplug  time.Duration
	scan     bool // needs a rescan
	scanned  bool
	never    bool
	busy     []string // device ids
	slow     time.Duration
	first    map[string]time.Time
	calls    []string
	warnings []string
}

func (h *host) call(words string) func() {
	h.mu.Lock()
	h.calls = append(h.calls, words)

	return h.mu.Unlock
}

func (h *host) Name() string { return h.machine }

func (h *host) Warnings() []string { return h.warnings }

func (h *host) Check(context.Context) error {
	defer h.call("check")()

	return errors.Join(h.down, h.driver)
}

func (h *host) Remember(context.Context) error {
	defer h.call("remember")()

	return h.down
}

func (h *host) See(_ context.Context, r device.Record) (device.Record, bool, error) {
	defer h.call("see " + r.DeviceID)()

	if h.first == nil {
		h.first = map[string]time.Time{}
	}

	if _, ok := h.first[r.DeviceID]; !ok {
		h.first[r.DeviceID] = time.Now()
	}

	visible := !h.never && (!h.scan || h.scanned) && time.Since(h.first[r.DeviceID]) >= h.hotplug
	if visible {
		r.BusID = "0000:1f:00.0"
	}

	return r, visible, h.down
}

func (h *host) Rescan(context.Context) error {
	defer h.call("rescan")()

	h.scanned = true

	return h.down
}

func (h *host) Release(_ context.Context, r device.Record, force bool) error {
	defer h.call("release " + r.DeviceID)()

	time.Sleep(h.slow)

	switch {
	case h.down != nil:
		return h.down
	case slices.Contains(h.busy, r.DeviceID) && !force:
		return fmt.Errorf("python3 uses it: %w", device.ErrInUse)
	default:
		return nil
	}
}

func (h *host) Finish(context.Context) error {
	defer h.call("finish")()

	return nil
}

func (h *host) Restore(context.Context) error {
	defer h.call("restore")()

	return nil
}

func (h *host) Idle(_ context.Context, all []device.Record) (map[string]bool, error) {
	defer h.call("idle")()

	out := map[string]bool{}
	for _, r := range all {
		out[r.FabricID] = !slices.Contains(h.busy, r.DeviceID)
	}

	return out, h.down
}
