// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"cmp"
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
	shown    map[string]string // by fabric id: the UUIDs of GPUs of which the fabric tells another id
}

var _ Node = (*gpuNode)(nil)

// GPUNode is the node of a host with GPUs.
func GPUNode(ops gpu.Ops) Node { return &gpuNode{ops: ops, shown: map[string]string{}} }

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

// See implements [Node]. Where the fabric gave no id, the GPU that is new is the device, and
// its UUID the id. Where it gave another id, that one stays, for the fabric's id is compared
// with it; the UUID is remembered beside it.
func (n *gpuNode) See(ctx context.Context, r Record) (Record, bool, error) {
	s, err := gpu.See(ctx, n.ops, r.DeviceID, n.before)
	if err != nil {
		return r, false, nodeError(err)
	}

	if s.GPU.BusID != "" {
		r.BusID = s.GPU.BusID
	}

	if s.Visible && s.GPU.UUID != "" {
		r.DeviceID = cmp.Or(r.DeviceID, s.GPU.UUID)
		n.shown[r.FabricID] = s.GPU.UUID
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

// id is what the host calls a device: its UUID where the host showed it.
func (n *gpuNode) id(r Record) string { return cmp.Or(n.shown[r.FabricID], r.DeviceID) }

// Release implements [Node].
func (n *gpuNode) Release(ctx context.Context, r Record, force bool) (err error) {
	target := gpu.Target{ID: n.id(r), BusID: r.BusID}
	n.released, err = gpu.Release(ctx, n.ops, target, gpu.Options{Force: force})

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
		if id := n.id(r); id != "" {
			names = append(names, id)
		}
	}

	told, err := gpu.Idle(ctx, n.ops, names)
	if err != nil {
		return nil, nodeError(err)
	}

	out := map[string]bool{}

	for _, r := range all {
		if free, ok := told[n.id(r)]; ok {
			out[r.FabricID] = free
		}
	}

	return out, nil
}

// doubtAdvice follows an error that says that a device cannot be told from others.
const doubtAdvice = `nothing was changed; look at the host, and set skip_drain = "always" to detach the device without asking it`

// nodeError gives the errors of all kinds of nodes the same kinds. A refusal that left
// something changed has none, for then its words alone say what is to be done.
func nodeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gpu.ErrInDoubt):
		return fmt.Errorf("%w: %s", err, doubtAdvice)
	case errors.Is(err, gpu.ErrInUse) && !errors.Is(err, gpu.ErrNotUndone) && !errors.Is(err, gpu.ErrPending):
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
