// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// rollOut makes outdated machines anew, pool by pool. The first failure ends it: what was not touched
// keeps running.
func (w *worker) rollOut(ctx context.Context) error {
	for _, p := range w.Wanted.Pools {
		if err := w.rollPool(ctx, p); err != nil {
			return err
		}
	}

	return nil
}

// rollPool follows a pool's template within its bounds.
func (w *worker) rollPool(ctx context.Context, p Pool) error {
	if p.Rollout.Strategy == OnDelete {
		return nil
	}

	step := w.roller(p)

	for first := true; ; first = false {
		out := w.outdatedOf(p.Name)
		if len(out) == 0 || ctx.Err() != nil {
			return context.Cause(ctx)
		}

		if err := w.beforeNext(ctx, p, out[0], first); err != nil {
			return err
		}

		if err := step(ctx, out); err != nil {
			return fmt.Errorf("rollout of pool %s stopped, %d machines keep their old template: %w", p.Name, len(w.outdatedOf(p.Name)), err)
		}
	}
}

// roller is how a pool takes one step: a machine beside the others where a host is free for it, else
// as many in place of others as may be missing.
func (w *worker) roller(p Pool) func(ctx context.Context, out []*member) error {
	surge, unavailable := p.Bounds()

	var told bool

	return func(ctx context.Context, out []*member) error {
		if surge > 0 {
			var spare *noSpareError
			if err := w.surge(ctx, p, out[0]); !errors.As(err, &spare) {
				return err
			}

			if err := w.Wanted.CheckUnspared(p, spare); err != nil {
				return err
			}

			if !told {
				w.warn("Pool "+p.Name+" is rolled out without machines beside it", fmt.Sprintf(
					"No host is free for rollout.max_surge, so that %d at a time of its machines go before they are made again (rollout.max_unavailable). %v", unavailable, spare.cause))
			}

			told = true
		}

		out = out[:min(unavailable, len(out))]
		if err := w.replaced(ctx, out); err != nil {
			return err
		}

		return remote.Each(ctx, unavailable, out, w.remakeOne)
	}
}

// CheckUnspared refuses a rollout for which no host is free beside the others, as the cause says, where no
// machine may be missing.
func (w *Wanted) CheckUnspared(p Pool, cause error) error {
	without := p
	without.Rollout.MaxSurge = Share{}

	switch _, unavailable := p.Bounds(); {
	case unavailable < 1:
		return fmt.Errorf("rollout.max_unavailable lets no machine go before another one is there (add a host, or let one be unavailable), and %w", cause)
	case without.Interrupts() && !w.ExternalEtcd && !w.AllowDisruption:
		return fmt.Errorf("a control plane with %d replicas does not survive that one of them goes before another one is there (add a host, or set rollout.allow_disruption where the cluster may be lost), and %w",
			p.Replicas, cause)
	default:
		return nil
	}
}

// unspared tells a host that failed from none that is free; the machine that it was for is none then.
func (w *worker) unspared(m *member, err error) error {
	var (
		few  *CapacityError
		lost *claim.NoHostError
	)

	if m.failed > 0 || !m.sight().vacant() || !errors.As(err, &few) && !errors.As(err, &lost) {
		return err
	}

	w.dismiss(m)

	return &noSpareError{err}
}

// CheckSpare says at plan what [worker.surge] comes to where no host of a list is free for a machine beside
// the others.
func (w *Wanted) CheckSpare(s Slot, all []host.Seen, taken map[string]choose.Placed) error {
	if _, refused := w.Assign([]Slot{s}, all, taken); len(refused) > 0 {
		return &noSpareError{&CapacityError{refused}}
	}

	return nil
}

// noSpareError says that no host is free for a machine beside the others.
type noSpareError struct{ cause error }

func (e *noSpareError) Error() string {
	return "no host is free for one beside the others (rollout.max_surge): " + e.cause.Error()
}

func (e *noSpareError) Unwrap() error { return e.cause }

// beforeNext pauses between the steps of a rollout, and waits for a control plane that can take one.
func (w *worker) beforeNext(ctx context.Context, p Pool, next *member, first bool) error {
	if !first && p.Rollout.Pause > 0 {
		if err := wait.Sleep(ctx, p.Rollout.Pause); err != nil {
			return err
		}
	}

	if p.Role != ControlPlane {
		return nil
	}

	return w.healthyControlPlane(ctx, next)
}

// Bounds are how many machines a rollout may make beyond the replicas, and how many of those it may
// take down, as Cluster API rounds them: both nothing would never get on. A control plane loses one
// machine at a time.
func (p Pool) Bounds() (surge, unavailable int) {
	surge, unavailable = p.Rollout.MaxSurge.Of(p.Replicas, true), p.Rollout.MaxUnavailable.Of(p.Replicas, false)
	if p.Rollout.Strategy != Replace {
		surge = 0 // a machine that keeps its host needs no other beside it
	}

	if surge == 0 {
		unavailable = max(unavailable, 1)
	}

	if p.Role == ControlPlane {
		unavailable = min(unavailable, 1)
	}

	return surge, unavailable
}

// outdatedOf are the outdated machines of a pool in the order in which they go: the ill first, then
// those in the fullest failure domain, then by index.
func (w *worker) outdatedOf(pool string) []*member {
	domains := map[string]int{}

	var out []*member

	for _, m := range w.of(pool) {
		domains[m.seen.Journal.FailureDomain]++

		if m.outdated() {
			out = append(out, m)
		}
	}

	slices.SortStableFunc(out, func(a, b *member) int {
		return cmp.Or(
			cmp.Compare(rankOf(a.ill()), rankOf(b.ill())),
			cmp.Compare(domains[b.seen.Journal.FailureDomain], domains[a.seen.Journal.FailureDomain]),
			cmp.Compare(a.Index, b.Index),
		)
	})

	return out
}

func rankOf(first bool) int {
	if first {
		return 0
	}

	return 1
}

// remakeOne makes one machine from its pool's present template.
func (w *worker) remakeOne(ctx context.Context, m *member) error {
	m.joined = false
	m.data = nil

	if m.pool.Rollout.Strategy == Rebuild {
		return w.bring(ctx, m, GoalRemade)
	}

	if m.pool.Reuse == ReuseRequired {
		return w.reuse(ctx, m)
	}

	if err := w.bring(ctx, m, GoalGone); err != nil {
		return err
	}

	return w.bring(ctx, m, GoalRun)
}

// next is the place of the machine that a rollout makes beside the others: an index is free again once its
// machine has gone.
func (w *worker) next(p Pool) Slot {
	used := map[int]bool{}
	for _, m := range w.members {
		used[m.Index] = used[m.Index] || m.Pool == p.Name && !m.gone
	}

	return w.Wanted.Beside(p, used)
}

// Beside is the machine that a rollout of a pool makes beside the others: the one with the lowest index that
// is not used.
func (w *Wanted) Beside(p Pool, used map[int]bool) Slot {
	index := 0
	for used[index] {
		index++
	}

	return w.slot(p, index)
}

// surge makes one machine beyond the replicas and takes an outdated one down once it runs.
func (w *worker) surge(ctx context.Context, p Pool, old *member) error {
	s := w.next(p)
	m := w.enlist(s)
	w.log(ctx, fmt.Sprintf("machine %s is to take the place of %s on %s", s.Name, old.Name, choose.Name(old.seen)))

	if err := w.bring(ctx, m, GoalRun); err != nil {
		return w.unspared(m, err)
	}

	if p.Role == ControlPlane { // the new one has to do its work before the old one goes
		if err := w.healthyControlPlane(ctx, old); err != nil {
			return err
		}
	}

	old.unwanted = true

	return w.takeDown(ctx, old)
}
