// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// This file is a machine's way from a host that failed it, or that it has lost, to another one.

// giveUp gives a host back that failed its machine, so that another one takes its place, where that
// is wanted. The host is marked: nobody is to choose it before somebody has looked at it.
func (p *pilot) giveUp(ctx context.Context, cause error) error {
	var failed *host.FailedError
	if !errors.As(cause, &failed) || !p.Wanted.RetryOther || p.m.failed >= p.Wanted.HostRetries || p.goal != GoalRun {
		return cause
	}

	p.log(ctx, fmt.Sprintf("machine %s%s failed, another host takes its place: %s", p.m.Name, p.m.on(), cause))
	p.warn("Host "+choose.Name(p.m.seen)+" failed machine "+p.m.Name,
		cause.Error()+". It is marked unhealthy: no cluster chooses it before that mark is taken away.")

	id := p.m.seen.Node.UUID
	p.m.failed++
	p.m.avoid = append(p.m.avoid, id)
	p.m.err = cause

	if err := p.mark(ctx, id, "deploying "+p.Wanted.Namespace+"/"+p.Wanted.Name+"/"+p.m.Name+" failed: "+firstLine(cause.Error())); err != nil {
		return errors.Join(cause, err)
	}

	if err := p.undeploy(ctx); err != nil {
		return errors.Join(cause, err)
	}

	return nil
}

// mark writes on a host why no cluster should choose it: the one thing beside holds that a cluster
// writes outside of its own note.
func (w *worker) mark(ctx context.Context, id, why string) error {
	s, err := w.Far.Look(ctx, id)
	if err != nil {
		return err
	}

	value := any(why)
	ops := []ironic.Patch{{Op: "add", Path: "/extra/" + host.JournalKey + "/unhealthy", Value: value}}

	if _, ok := s.Node.Extra[host.JournalKey].(map[string]any); !ok {
		ops = []ironic.Patch{{Op: "add", Path: "/extra/" + host.JournalKey, Value: map[string]any{"unhealthy": why}}}
	}

	if _, err := w.Far.Patch(ctx, id, ops); err != nil {
		return fmt.Errorf("marking the host unhealthy: %w", err)
	}

	return nil
}

// another finds a host for a machine that had one: from a fresh list, and never one that failed it.
func (p *pilot) another(ctx context.Context) error {
	done, err := p.claiming.Enter(ctx)
	if err != nil {
		return err
	}
	defer done()

	candidates, err := p.choices(ctx, p.m, p.m.avoid)
	if err != nil {
		return err
	}

	first := p.m.record.HostID // where it was, if that is free
	if p.m.pool.Reuse != ReuseNever {
		slices.SortStableFunc(candidates, func(a, b host.Seen) int { return preferred(first, a) - preferred(first, b) })
	}

	p.m.note, p.m.data = host.Tenancy{Addresses: p.m.note.Addresses}, nil

	return p.claimOne(ctx, p.m, candidates)
}

func preferred(id string, s host.Seen) int {
	if s.Node.UUID == id {
		return 0
	}

	return 1
}

// choices are the hosts that a machine may have now but for some, the best first.
func (w *worker) choices(ctx context.Context, m *member, not []string) ([]host.Seen, error) {
	all, err := w.relist(ctx)
	if err != nil {
		return nil, err
	}

	all = slices.DeleteFunc(all, func(s host.Seen) bool { return slices.Contains(not, s.Node.UUID) })

	out := choose.Candidates(w.Wanted.Request(m.Slot), all, w.taken(), nil, time.Now())
	if len(out) == 0 {
		_, refused := w.Wanted.Assign([]Slot{m.Slot}, all, w.taken())

		return nil, &CapacityError{refused}
	}

	return out, nil
}

// relist reads the list of hosts anew.
func (w *worker) relist(ctx context.Context) ([]host.Seen, error) {
	w.Far.Forget()

	all, err := w.Far.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing hosts: %w", err)
	}

	w.mu.Lock()
	defer w.mu.Unlock()

	for _, s := range all {
		w.hosts[s.Node.UUID] = s
	}

	return slices.Clone(all), nil
}
