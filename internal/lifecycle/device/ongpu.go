// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

// gpuNode is a host on which GPUs come and go.
type gpuNode struct {
	ops      gpu.Ops
	before   gpu.Before
	released gpu.Released
}

var _ Node = (*gpuNode)(nil)

// GPUNode is the node of a host with GPUs.
func GPUNode(ops gpu.Ops) Node { return &gpuNode{ops: ops} }

// Name implements [Node].
func (n *gpuNode) Name() string { return n.ops.Name() }

// Warnings implements [Node].
func (n *gpuNode) Warnings() []string { return n.ops.Warnings() }

// Check implements [Node]: a GPU without a driver is of no use, and cannot be drained.
func (n *gpuNode) Check(ctx context.Context) error {
	driver, err := n.ops.Driver(ctx)

	switch {
	case err != nil:
		return nodeError(err)
	case driver == gpu.DriverNone:
		return fmt.Errorf("%s: %w", n.Name(), gpu.ErrNoDriver)
	default:
		return nil
	}
}

// Remember implements [Node].
func (n *gpuNode) Remember(ctx context.Context) (err error) {
	n.before, err = gpu.Remember(ctx, n.ops)

	return nodeError(err)
}

// See implements [Node]. Where the fabric gave no id, the GPU that is new is the device.
func (n *gpuNode) See(ctx context.Context, r Record) (Record, bool, error) {
	s, err := gpu.See(ctx, n.ops, r.DeviceID, n.before)
	if err != nil {
		return r, false, nodeError(err)
	}

	if s.GPU.BusID != "" {
		r.BusID = s.GPU.BusID
	}

	if r.DeviceID == "" && s.Visible {
		r.DeviceID = s.GPU.UUID
	}

	if !s.Visible && s.Note != "" {
		return r, false, errors.New(s.Note)
	}

	return r, s.Visible, nil
}

// Rescan implements [Node].
func (n *gpuNode) Rescan(ctx context.Context) error {
	if err := n.ops.Rescan(ctx); err != nil {
		return nodeError(err)
	}

	return nodeError(n.ops.Init(ctx))
}

// Release implements [Node].
func (n *gpuNode) Release(ctx context.Context, r Record, force bool) (err error) {
	n.released, err = gpu.Release(ctx, n.ops, gpu.Target{ID: r.DeviceID, BusID: r.BusID}, gpu.Options{Force: force})

	return nodeError(err)
}

// Finish implements [Node].
func (n *gpuNode) Finish(ctx context.Context) error {
	if n.released.Absent {
		return nil
	}

	return nodeError(gpu.Finish(ctx, n.ops, n.released))
}

// Restore implements [Node].
func (n *gpuNode) Restore(ctx context.Context) error {
	if n.released.Absent {
		return nil
	}

	return nodeError(gpu.Restore(ctx, n.ops, n.released))
}

// Idle implements [Node].
func (n *gpuNode) Idle(ctx context.Context, all []Record) (map[string]bool, error) {
	var names []string

	for _, r := range all {
		if r.DeviceID != "" {
			names = append(names, r.DeviceID)
		}
	}

	told, err := gpu.Idle(ctx, n.ops, names)
	if err != nil {
		return nil, nodeError(err)
	}

	out := map[string]bool{}

	for _, r := range all {
		if free, ok := told[r.DeviceID]; ok && r.DeviceID != "" {
			out[r.FabricID] = free
		}
	}

	return out, nil
}

// nodeError gives the errors of all kinds of nodes the same kinds.
func nodeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gpu.ErrInUse):
		return kindError{err, ErrInUse}
	case errors.Is(err, gpu.ErrUnreachable):
		return kindError{err, ErrUnreachable}
	default:
		return err
	}
}

// kindError adds a kind to an error without a word more.
type kindError struct {
	error

	kind error
}

func (e kindError) Unwrap() []error { return []error{e.error, e.kind} }
