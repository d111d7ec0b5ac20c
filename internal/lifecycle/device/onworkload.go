// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/workload"
)

// workloadNode is a host that is a node of a cluster. The cluster's API says who uses a GPU,
// keeps new work from it and is told when one comes or goes. What is done on the operating system is
// done over the connection, where the host has one.
type workloadNode struct {
	host    Node // nil: there is no connection
	cluster *workload.Node
	lenient bool // an API that does not answer keeps nothing from going

	coming   bool // a device was ordered, and the plug-ins were not told of it yet
	ordered  bool // a device was ordered, and the cluster did not show it yet
	released workload.Released
	asked    bool // the release asked the API
	warnings []string
}

var _ Node = (*workloadNode)(nil)

// WorkloadNode is the node of a host that is a node of a cluster; host is what its connection
// gives, or nil. With SkipIfUnreachable an API that does not answer is passed over where there
// is a connection to ask.
func WorkloadNode(host Node, cluster *workload.Node, skip SkipDrain) Node {
	return &workloadNode{host: host, cluster: cluster, lenient: skip == SkipIfUnreachable}
}

// Name implements [Node].
func (n *workloadNode) Name() string {
	if n.host != nil {
		return n.host.Name()
	}

	return n.cluster.Name()
}

// Warnings implements [Node].
func (n *workloadNode) Warnings() []string {
	out := append(n.warnings, n.cluster.Warnings()...)
	n.warnings = nil

	if n.host != nil {
		out = append(out, n.host.Warnings()...)
	}

	return out
}

// Check implements [Node]: a cluster that does not have the node, or does not know the devices,
// would never show one.
func (n *workloadNode) Check(ctx context.Context) error {
	if err := n.cluster.Check(ctx); err != nil {
		return workloadError(err)
	}

	if n.host == nil {
		return nil
	}

	return n.host.Check(ctx)
}

// Remember implements [Node].
func (n *workloadNode) Remember(ctx context.Context) error {
	n.coming, n.ordered = true, true

	if err := n.cluster.Remember(ctx); err != nil {
		return workloadError(err)
	}

	if n.host == nil {
		return nil
	}

	return n.host.Remember(ctx)
}

// See implements [Node]: first the operating system has the device, then the plug-ins are told
// once, then the cluster shows it. It tells nobody anything where nothing was ordered: a refresh
// looks and changes nothing.
func (n *workloadNode) See(ctx context.Context, r Record) (Record, bool, error) {
	if n.host != nil {
		after, visible, err := n.host.See(ctx, r)
		if r = after; err != nil || !visible {
			return r, false, err
		}
	}

	if n.coming {
		done, err := n.cluster.Announce(ctx)
		if err != nil {
			return r, false, workloadError(err)
		}

		n.coming = !done
	}

	seen, err := n.cluster.See(ctx, n.target(r))

	switch {
	case errors.Is(err, workload.ErrHidden):
		return r, false, kindError{err, ErrNotVisible}
	case err != nil:
		return r, false, workloadError(err)
	}

	r.DeviceID, r.BusID = cmp.Or(r.DeviceID, seen.UUID), cmp.Or(r.BusID, seen.BusID)

	if n.ordered {
		if err := n.cluster.Welcome(ctx, seen); err != nil {
			return r, false, workloadError(err)
		}

		n.ordered = false
	}

	return r, true, nil
}

// Rescan implements [Node].
func (n *workloadNode) Rescan(ctx context.Context) error {
	if n.host != nil {
		if err := n.host.Rescan(ctx); err != nil {
			return err
		}
	}

	return workloadError(n.cluster.Restart(ctx))
}

// target names a device as the cluster may know it.
func (n *workloadNode) target(r Record) workload.Target {
	t := workload.Target{ID: r.DeviceID, BusID: r.BusID}

	if on, ok := n.host.(interface{ id(r Record) string }); ok {
		t.ID = on.id(r) // the operating system may know it by another id than the fabric
	}

	return t
}

// Release implements [Node]. Nothing is done on the operating system before the cluster has let
// go of the device; and what the cluster was told is taken back where the operating system refuses.
func (n *workloadNode) Release(ctx context.Context, r Record, force bool) (err error) {
	n.asked = true
	n.released, err = n.cluster.Release(ctx, n.target(r), workload.Options{Force: force, Precise: n.host != nil})
	err = workloadError(err)

	switch {
	case errors.Is(err, ErrUnreachable) && n.lenient && n.host != nil:
		n.asked = false
		n.warnings = append(n.warnings, fmt.Sprintf("Device %s of %s is drained over its connection alone, as skip_drain or force_detach says: %v.", r.Label(), n.Name(), err))
	case err != nil:
		return err
	}

	if n.host == nil {
		return nil
	}

	if err := n.host.Release(ctx, r, force); err != nil {
		return n.undone(ctx, err)
	}

	return nil
}

// undone takes back what the cluster was told, after the operating system did not let go.
func (n *workloadNode) undone(ctx context.Context, err error) error {
	if !n.asked {
		return err
	}

	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()

	if undo := n.cluster.Restore(limited, n.released, false); undo != nil {
		return fmt.Errorf("%w; and not everything could be put back: %w", err, undo)
	}

	return err
}

// Finish implements [Node].
func (n *workloadNode) Finish(ctx context.Context) error {
	var failed []error

	if n.host != nil {
		failed = append(failed, n.host.Finish(ctx))
	}

	if n.asked {
		failed = append(failed, workloadError(n.cluster.Finish(ctx, n.released)))
	}

	return errors.Join(failed...)
}

// Restore implements [Node].
func (n *workloadNode) Restore(ctx context.Context) error {
	var failed []error

	if n.host != nil {
		failed = append(failed, n.host.Restore(ctx))
	}

	if n.asked {
		// The plug-ins saw the device go where it was taken from the kernel.
		failed = append(failed, workloadError(n.cluster.Restore(ctx, n.released, n.host != nil)))
	}

	return errors.Join(failed...)
}

// Idle implements [Node]: a device is idle when neither the cluster nor the operating system
// knows a user of it.
func (n *workloadNode) Idle(ctx context.Context, all []Record) (map[string]bool, error) {
	out := map[string]bool{}

	if n.host != nil {
		told, err := n.host.Idle(ctx, all)
		if err != nil {
			return nil, err
		}

		out = told
	}

	targets := make([]workload.Target, len(all))
	for i, r := range all {
		targets[i] = n.target(r)
	}

	used, err := n.cluster.Used(ctx, targets)
	if err != nil {
		return nil, workloadError(err)
	}

	for i, r := range all {
		switch used[i] {
		case workload.InUse:
			out[r.FabricID] = false
		case workload.Free:
			if _, told := out[r.FabricID]; !told && n.host == nil {
				out[r.FabricID] = true
			}
		case workload.Untold:
		}
	}

	return out, nil
}

// workloadError gives the errors of a cluster the kinds of a host's.
func workloadError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, workload.ErrInDoubt):
		return fmt.Errorf("%w: %s", err, doubtAdvice)
	case errors.Is(err, workload.ErrInUse) && !errors.Is(err, workload.ErrNotUndone):
		return kindError{err, ErrInUse}
	case errors.Is(err, workload.ErrUnreachable):
		return kindError{err, ErrUnreachable}
	default:
		return err
	}
}
