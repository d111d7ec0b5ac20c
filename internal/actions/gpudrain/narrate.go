// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpudrain

import (
	"context"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

// narrated are operations that tell people what they are about to do. What only looks is
// left out, but for the look that may refuse.
type narrated struct {
	gpu.Ops

	say func(format string, args ...any)
}

// Holders implements [gpu.Ops].
func (n narrated) Holders(ctx context.Context, g gpu.GPU) ([]gpu.Process, error) {
	n.say("Looking who holds GPU %s", g.Label())

	return n.Ops.Holders(ctx, g)
}

// SetDrain implements [gpu.Ops].
func (n narrated) SetDrain(ctx context.Context, g gpu.GPU, on bool) error {
	if on {
		n.say("Draining GPU %s: no new processes", g.Label())
	} else {
		n.say("Ending the drain of GPU %s", g.Label())
	}

	return n.Ops.SetDrain(ctx, g, on)
}

// SetPersistence implements [gpu.Ops].
func (n narrated) SetPersistence(ctx context.Context, g gpu.GPU, on bool) error {
	n.say("Turning persistence mode of GPU %s %s", g.Label(), map[bool]string{true: "on", false: "off"}[on])

	return n.Ops.SetPersistence(ctx, g, on)
}

// StopPersistenced implements [gpu.Ops].
func (n narrated) StopPersistenced(ctx context.Context) (bool, error) {
	n.say("Stopping nvidia-persistenced, if it runs")

	return n.Ops.StopPersistenced(ctx)
}

// StartPersistenced implements [gpu.Ops].
func (n narrated) StartPersistenced(ctx context.Context) error {
	n.say("Starting nvidia-persistenced again")

	return n.Ops.StartPersistenced(ctx)
}

// Remove implements [gpu.Ops].
func (n narrated) Remove(ctx context.Context, g gpu.GPU, how gpu.Removal) ([]string, error) {
	n.say("Removing GPU %s from the kernel", g.Label())

	return n.Ops.Remove(ctx, g, how)
}

// Load implements [gpu.Ops].
func (n narrated) Load(ctx context.Context, modules []string) error {
	n.say("Loading the modules %s again", strings.Join(modules, ", "))

	return n.Ops.Load(ctx, modules)
}

// RemoveDeviceFile implements [gpu.Ops].
func (n narrated) RemoveDeviceFile(ctx context.Context, g gpu.GPU) error {
	n.say("Removing the device file of GPU %s", g.Label())

	return n.Ops.RemoveDeviceFile(ctx, g)
}

// Rescan implements [gpu.Ops].
func (n narrated) Rescan(ctx context.Context) error {
	n.say("Scanning the PCI bus of %s for devices", n.Name())

	return n.Ops.Rescan(ctx)
}

// Init implements [gpu.Ops].
func (n narrated) Init(ctx context.Context) error {
	n.say("Making the driver of %s initialise its GPUs", n.Name())

	return n.Ops.Init(ctx)
}
