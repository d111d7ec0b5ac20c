// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// idle are the states in which nothing of a machine is on a host and nothing is under way.
var idle = []ironic.State{ironic.Available, ironic.Manageable, ironic.Enroll, ironic.InspectFailed, ironic.CleanFailed}

// Release gives a claim back. The host is looked at anew: where it does not carry the claim,
// nothing of it is touched, and a second call finds nothing to do. A host that may still run
// the machine keeps its claim, and the error is an [InUseError].
//
// A zero seen ends a claim that has no host, such as an allocation that failed.
func Release(ctx context.Context, far Far, id string, seen host.Seen) error {
	if id == "" {
		return errors.New("give back a claim: no id is given")
	}

	if seen.Node.UUID == "" {
		return drop(ctx, far, id)
	}

	now, err := far.Look(ctx, seen.Node.UUID)

	switch {
	case errors.Is(err, host.ErrGone):
		return drop(ctx, far, id)
	case err != nil:
		return err
	case now.Node.InstanceUUID != id:
		return clearFor(ctx, far, id, now)
	case !slices.Contains(idle, now.Node.ProvisionState):
		return &InUseError{Host: label(now), State: now.Node.ProvisionState}
	}

	var ops []ironic.Patch
	if _, noted := now.Node.InstanceInfo[host.TenancyKey]; noted {
		ops = append(ops, ironic.Patch{Op: "remove", Path: notePath})
	}

	if kindOf(now) == KindInstance {
		// Both at once: a note without its claim must not be seen.
		ops = append(ops, ironic.Patch{Op: "remove", Path: "/instance_uuid"})
	}

	// The note goes while the claim keeps others off; the claim then goes by its own id, which
	// can only ever be ours.
	if len(ops) > 0 {
		if _, err := far.Patch(ctx, now.Node.UUID, ops); err != nil && !errors.Is(err, host.ErrGone) {
			return fmt.Errorf("give back host %s: %w", label(now), err)
		}
	}

	if kindOf(now) == KindInstance {
		return nil
	}

	return drop(ctx, far, id)
}

// clearFor ends an allocation whose node does not carry it. One that is on another node is
// not the one that was meant, and stays.
func clearFor(ctx context.Context, far Far, id string, s host.Seen) error {
	a, err := far.Allocation(ctx, id)

	switch {
	case errors.Is(err, ironic.ErrNoAllocations), errors.Is(err, ironic.ErrNotFound):
		return nil
	case err != nil:
		return err
	case a.NodeUUID != "" && a.NodeUUID != s.Node.UUID:
		return nil
	}

	return drop(ctx, far, id)
}

// drop deletes an allocation and waits until its record is gone: as long as it is there, the
// next of the same name would take it for its own.
func drop(ctx context.Context, far Far, id string) error {
	err := far.Deallocate(ctx, id)

	switch {
	case errors.Is(err, ironic.ErrNoAllocations), errors.Is(err, ironic.ErrNotFound):
		return nil
	case err != nil && !wait.IsTransient(err):
		return fmt.Errorf("delete allocation %s: %w", id, err)
	}

	err = within(ctx, patience, func(ctx context.Context) (wait.Verdict, string, error) {
		a, err := far.Allocation(ctx, id)

		switch {
		case errors.Is(err, ironic.ErrNotFound):
			return wait.Done, "", nil
		case err != nil:
			return wait.Again, "", err
		default:
			return wait.Again, "it is " + string(a.State), nil
		}
	})
	if err != nil {
		return fmt.Errorf("wait until allocation %s is gone: %w", id, err)
	}

	return nil
}
