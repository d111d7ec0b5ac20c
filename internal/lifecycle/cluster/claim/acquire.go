// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	// patience is how long an allocation may be under way, a record take to vanish, or a
	// lock keep us from one host.
	patience = time.Minute

	// undo is how long giving back may take after the run itself has ended.
	undo = 30 * time.Second
)

// rhythm looks at an allocation at once and soon after, then once a second: an Ironic with
// nothing else to do needs some milliseconds.
var rhythm = wait.Cadence{First: 100 * time.Millisecond, Factor: 2, Max: time.Second, Errors: 5}

// taker is one run of Acquire.
type taker struct {
	Request

	far     Far
	refused map[string]string
	plain   bool // allocations cannot be used here
}

// Acquire gives a machine a host: the one that it already has, or the first candidate that
// can be claimed. The map says of every host that was tried in vain why, by its name.
//
// It leaves nothing behind when it fails: what was taken is given back, also when the context
// has ended. The error is a [NoHostError] where no candidate is left.
func Acquire(ctx context.Context, far Far, r Request) (Got, map[string]string, error) {
	t := &taker{Request: r, far: far, refused: map[string]string{}}

	if r.ID == "" {
		return Got{}, nil, errors.New("claim a host: no id is given")
	}

	got, found, err := t.resume(ctx)
	if err != nil || found {
		return got, t.refused, t.wrap(err)
	}

	for _, h := range r.Candidates {
		if _, tried := t.refused[label(h)]; tried {
			continue
		}

		got, why, err := t.try(ctx, h)
		if err != nil {
			return Got{}, t.refused, t.wrap(err)
		}

		if why == "" {
			return got, t.refused, nil
		}

		t.refused[label(h)] = why
	}

	return Got{}, t.refused, &NoHostError{Machine: r.Machine, Refused: t.refused}
}

func (t *taker) wrap(err error) error {
	if err == nil {
		return nil
	}

	return fmt.Errorf("claim a host for machine %s: %w", t.Machine, err)
}

// resume finds the claim of an earlier run.
func (t *taker) resume(ctx context.Context) (Got, bool, error) {
	s, kind, err := t.held(ctx)
	if err != nil || kind == "" {
		return Got{}, false, err
	}

	for _, h := range t.Candidates {
		if s.Ports == nil && h.Node.UUID == s.Node.UUID {
			s.Ports = h.Ports
		}
	}

	// Nothing was deployed yet, so that the check after claiming is still to be made.
	if s.Offered() {
		if why := t.refusal(s); why != "" {
			if err := Release(ctx, t.far, t.ID, s); err != nil {
				return Got{}, false, err
			}

			t.refused[label(s)] = why

			return Got{}, false, nil
		}
	}

	if _, noted := s.Node.InstanceInfo[host.TenancyKey]; !noted && host.Resting(s.Node.ProvisionState) {
		// An earlier run ended between the allocation and its note.
		if s, err = t.far.Patch(ctx, s.Node.UUID, []ironic.Patch{{Op: "add", Path: notePath, Value: t.note()}}); err != nil {
			return Got{}, false, err
		}
	}

	return Got{Host: s, Kind: kind, Resumed: true}, true, nil
}

// held returns the host that carries the claim, and an empty kind where none does. Records of
// allocations that hold nothing are cleared away, and waited for until they are gone.
func (t *taker) held(ctx context.Context) (host.Seen, Kind, error) {
	a, err := t.settled(ctx, t.ID)

	switch {
	case errors.Is(err, ironic.ErrNoAllocations):
		t.plain = true
	case errors.Is(err, ironic.ErrNotFound):
	case err != nil:
		return host.Seen{}, "", err
	default:
		if s, ours, err := t.carries(ctx, a); err != nil || ours {
			return s, KindAllocation, err
		}

		// It failed, it hung, or its node knows nothing of it: it is on its way out.
		if err := drop(ctx, t.far, t.ID); err != nil {
			return host.Seen{}, "", err
		}
	}

	s, err := t.far.ByClaim(ctx, t.ID)
	if errors.Is(err, host.ErrGone) {
		return host.Seen{}, "", nil
	}

	if err != nil {
		return host.Seen{}, "", err
	}

	return s, kindOf(s), nil
}

// kindOf says what the claim on a node is made of.
func kindOf(s host.Seen) Kind {
	if s.Node.AllocationUUID != "" {
		return KindAllocation
	}

	return KindInstance
}

// carries looks whether the node of an active allocation carries its claim.
func (t *taker) carries(ctx context.Context, a ironic.Allocation) (host.Seen, bool, error) {
	if a.State != ironic.AllocationActive || a.NodeUUID == "" {
		return host.Seen{}, false, nil
	}

	s, err := t.far.Look(ctx, a.NodeUUID)
	if errors.Is(err, host.ErrGone) {
		return host.Seen{}, false, nil
	}

	return s, err == nil && s.Node.InstanceUUID == a.UUID, err
}

// settled waits until an allocation is no longer under way; one that hangs is returned as it is.
func (t *taker) settled(ctx context.Context, id string) (ironic.Allocation, error) {
	return settled(ctx, t.far, id)
}

func settled(ctx context.Context, far Far, id string) (ironic.Allocation, error) {
	var a ironic.Allocation

	err := within(ctx, patience, func(ctx context.Context) (wait.Verdict, string, error) {
		var err error
		if a, err = far.Allocation(ctx, id); err != nil {
			return wait.Again, "", err
		}

		if a.State == ironic.AllocationActive || a.State == ironic.AllocationError {
			return wait.Done, "", nil
		}

		return wait.Again, "allocation " + id + " is " + string(a.State), nil
	})

	var late *wait.TimeoutError
	if errors.As(err, &late) && ctx.Err() == nil && a.UUID != "" {
		return a, nil
	}

	return a, err
}

// within probes for at most d.
func within(ctx context.Context, d time.Duration, probe wait.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()

	return wait.Until(ctx, rhythm, probe)
}
