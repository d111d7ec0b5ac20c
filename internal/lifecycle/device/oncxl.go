// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/cxl"
)

// cxlNode is a host on which CXL memory comes and goes. No GPU command is ever run for it.
type cxlNode struct {
	ops      cxl.Ops
	before   cxl.Before
	released cxl.Released
}

var _ Node = (*cxlNode)(nil)

// CXLNode is the node of a host with CXL memory.
func CXLNode(ops cxl.Ops) Node { return &cxlNode{ops: ops} }

// Name implements [Node].
func (n *cxlNode) Name() string { return n.ops.Name() }

// Warnings implements [Node].
func (n *cxlNode) Warnings() []string { return nil }

// Check implements [Node]: memory needs no driver, only a host that answers.
func (n *cxlNode) Check(ctx context.Context) error {
	_, err := n.ops.List(ctx)

	return cxlError(err)
}

// Remember implements [Node].
func (n *cxlNode) Remember(ctx context.Context) (err error) {
	n.before, err = cxl.Remember(ctx, n.ops)

	return cxlError(err)
}

// See implements [Node]. The device id of CXL memory is its serial.
func (n *cxlNode) See(ctx context.Context, r Record) (Record, bool, error) {
	s, err := cxl.See(ctx, n.ops, serial(r), n.before)
	if err == nil && !s.Visible && r.DeviceID == "" && r.Serial != "" {
		s, err = cxl.See(ctx, n.ops, "", n.before) // the fabric may mean the number of the board
	}

	if err != nil {
		return r, false, cxlError(err)
	}

	if !s.Visible {
		return r, false, errors.New(cmp.Or(s.Note, "the host shows no new memory device"))
	}

	r.DeviceID = cmp.Or(r.DeviceID, s.Memory.Serial)

	return r, true, nil
}

// Rescan implements [Node].
func (n *cxlNode) Rescan(ctx context.Context) error { return cxlError(n.ops.Rescan(ctx)) }

// Release implements [Node]. Memory that is in use stays: there is no way to force it.
func (n *cxlNode) Release(ctx context.Context, r Record, _ bool) (err error) {
	n.released, err = cxl.Release(ctx, n.ops, cxl.Target{Serial: serial(r), Unproved: r.DeviceID == ""})

	return cxlError(err)
}

// Finish implements [Node].
func (n *cxlNode) Finish(context.Context) error { return nil }

// Restore implements [Node].
func (n *cxlNode) Restore(ctx context.Context) error {
	if n.released.Absent {
		return nil
	}

	return cxlError(n.ops.Restore(ctx, n.released))
}

// Idle implements [Node]. Whether memory is in use shows only when it is taken away.
func (n *cxlNode) Idle(context.Context, []Record) (map[string]bool, error) {
	return map[string]bool{}, nil
}

func serial(r Record) string { return cmp.Or(r.DeviceID, r.Serial) }

func cxlError(err error) error {
	switch {
	case errors.Is(err, cxl.ErrInDoubt):
		return fmt.Errorf("%w: %s", err, doubtAdvice)
	case errors.Is(err, cxl.ErrInUse) && !errors.Is(err, cxl.ErrNotUndone):
		return kindError{err, ErrInUse}
	case errors.Is(err, cxl.ErrUnreachable):
		return kindError{err, ErrUnreachable}
	default:
		return err
	}
}
