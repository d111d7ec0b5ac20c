// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// try claims one host. The text says why it could not be had.
func (t *taker) try(ctx context.Context, h host.Seen) (Got, string, error) {
	var (
		kind = KindInstance
		why  string
		err  error
	)

	// The list may be of minutes ago; what is plainly not fit any more is not even claimed for a
	// moment, which might be the one in which its machine wants it back.
	h, err = t.look(ctx, h)

	switch {
	case errors.Is(err, host.ErrGone):
		return Got{}, "it is gone", nil
	case err != nil:
		return Got{}, "", err
	}

	if why = t.refusal(h); why != "" {
		return Got{}, why, nil
	}

	// Ironic allocates only what is available; a host that is cleaned first is claimed plainly.
	if !t.plain && h.Node.ProvisionState == ironic.Available && h.Node.ResourceClass != "" && h.Node.PowerState != "" {
		kind = KindAllocation
		why, err = t.allocate(ctx, h)

		if errors.Is(err, ironic.ErrNoAllocations) {
			t.plain, kind, why, err = true, KindInstance, "", nil
		}
	}

	if kind == KindInstance {
		why, err = t.associate(ctx, h)
	}

	if err != nil {
		return Got{}, "", t.giveBack(ctx, h, err)
	}

	if why != "" {
		return Got{}, why, nil
	}

	// The host may have changed since it was chosen, and Ironic lets a claim be made on hosts in
	// maintenance and in other states.
	now, err := t.look(ctx, h)
	if err == nil && now.Node.InstanceUUID != t.ID {
		err = fmt.Errorf("host %s was claimed and carries the claim %q a moment later", label(h), now.Node.InstanceUUID)
	}

	if err != nil {
		return Got{}, "", t.giveBack(ctx, h, err)
	}

	if why := t.refusal(now); why != "" {
		return Got{}, why, Release(ctx, t.far, t.ID, now)
	}

	return Got{Host: now, Kind: kind}, "", nil
}

// look returns a host as it is now, with the ports that the list had.
func (t *taker) look(ctx context.Context, h host.Seen) (host.Seen, error) {
	now, err := t.far.Look(ctx, h.Node.UUID)
	if now.Ports == nil {
		now.Ports = h.Ports
	}

	return now, err
}

// giveBack frees a host after a failure, also where the run has been ended.
func (t *taker) giveBack(ctx context.Context, h host.Seen, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undo)
	defer cancel()

	if err := Release(ctx, t.far, t.ID, h); err != nil {
		return fmt.Errorf("%w; the claim %s on host %s could not be given back: %w", cause, t.ID, label(h), err)
	}

	return cause
}

// allocate claims a host through an allocation and puts the note on it.
func (t *taker) allocate(ctx context.Context, h host.Seen) (string, error) {
	if err := t.post(ctx, h); err != nil {
		return "", err
	}

	a, err := t.settled(ctx, t.ID)

	switch {
	case errors.Is(err, ironic.ErrNotFound):
		return "its allocation was deleted by somebody else", nil
	case err != nil:
		return "", err
	case a.State == ironic.AllocationActive && a.NodeUUID != h.Node.UUID:
		return "", fmt.Errorf("allocation %s is on host %s and was asked for on %s; is another run of this cluster under way?", t.ID, a.NodeUUID, label(h))
	case a.State != ironic.AllocationActive:
		why := a.LastError
		if a.State != ironic.AllocationError {
			why = "its allocation was still " + string(a.State) + " after " + patience.String()
		}

		// The record and its name would stay. Whatever it became in the meantime goes, too.
		return why, Release(ctx, t.far, t.ID, h)
	}

	_, err = t.far.Patch(ctx, h.Node.UUID, []ironic.Patch{{Op: "add", Path: notePath, Value: t.note()}})

	return "", err
}

// post asks for an allocation of one host. A record of the same name that is being deleted is
// waited out: what counts is the id, and a name may still be that of a predecessor.
func (t *taker) post(ctx context.Context, h host.Seen) error {
	create := ironic.NewAllocation{
		UUID: t.ID, Name: t.name(), ResourceClass: h.Node.ResourceClass, CandidateNodes: []string{h.Node.UUID}, Extra: t.extra(),
	}

	var taken error

	err := within(ctx, patience, func(ctx context.Context) (wait.Verdict, string, error) {
		_, err := t.far.Allocate(ctx, create)
		if err == nil {
			return wait.Done, "", nil
		}

		if !errors.Is(err, ironic.ErrConflict) {
			return wait.Again, "", err
		}

		taken = err

		// The id is ours alone: who has it asked for the same, and the host will tell.
		if _, err := t.far.Allocation(ctx, t.ID); !errors.Is(err, ironic.ErrNotFound) {
			return wait.Done, "", err
		}

		return wait.Again, "the name " + t.name() + " is taken", nil
	})

	var late *wait.TimeoutError
	if taken != nil && errors.As(err, &late) && ctx.Err() == nil {
		return fmt.Errorf("the name %s of the allocation is taken by another one and did not become free within %s; "+
			"look at `openstack baremetal allocation show %s`: %w", t.name(), patience, t.name(), taken)
	}

	return err
}

// associate claims a host by its instance_uuid, with the note in the same request.
func (t *taker) associate(ctx context.Context, h host.Seen) (string, error) {
	ops := []ironic.Patch{
		{Op: "add", Path: "/instance_uuid", Value: t.ID},
		{Op: "add", Path: notePath, Value: t.note()},
	}

	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	err := wait.Retry(short, rhythm, func(ctx context.Context) error {
		_, err := t.far.Patch(ctx, h.Node.UUID, ops)

		if wait.IsTransient(err) {
			// The answer was lost; the same again does no harm where it arrived.
			return err
		}

		if errors.Is(err, ironic.ErrBusy) {
			return wait.Transient(err)
		}

		return err
	})

	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", err
	case errors.Is(err, host.ErrGone):
		return "it is gone", nil
	case errors.Is(err, ironic.ErrBusy):
		return "it stays locked: " + err.Error(), nil
	case errors.Is(err, ironic.ErrTransition):
		return "a state transition is in progress", nil
	case errors.Is(err, ironic.ErrConflict):
		return t.lost(ctx, h, err)
	default:
		return "", err
	}
}

// lost sorts a conflict: another claim was faster on this host, or ours is on another one.
func (t *taker) lost(ctx context.Context, h host.Seen, cause error) (string, error) {
	s, err := t.far.ByClaim(ctx, t.ID)

	switch {
	case errors.Is(err, host.ErrGone):
		return "somebody else claimed it: " + cause.Error(), nil
	case err != nil:
		return "", err
	case s.Node.UUID == h.Node.UUID:
		return "", nil
	default:
		return "", fmt.Errorf("host %s has the claim %s already; is another run of this cluster under way? (%w)", label(s), t.ID, cause)
	}
}
