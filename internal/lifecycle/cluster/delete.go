// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
)

// Delete ends the cluster: workers side by side, then, once every one of them is gone, the control
// plane. Nothing is drained and no Node is deleted: the cluster goes with them. It is gone only when
// Ironic shows no claim of it any more.
func (r *Run) Delete(ctx context.Context, was Record) Result {
	w := r.worker(was)

	var errs []error
	if w.pools, errs = w.Wanted.CompilePools(); len(errs) > 0 {
		w.pools = nil // what was applied once is not refused now
	}

	w.Far.Forget()

	err := w.look(ctx)
	if err == nil {
		err = w.foreignOwner()
	}

	if err == nil {
		err = w.end(ctx, func(*member) bool { return true })
	}

	if err == nil {
		err = w.sweep(ctx)
	}

	res := w.result(ctx, err)
	res.Record.State = ClusterDeleting
	res.Record.Ready = false
	res.Gone = err == nil && len(res.Record.Machines) == 0

	return res
}

// foreignOwner refuses to take down what another owner_id has put there.
func (w *worker) foreignOwner() error {
	for _, name := range sortedKeys(w.members) {
		m := w.members[name]
		if m.seen.Node.UUID != "" && m.note.ID != "" && m.note.OwnerID != w.Wanted.OwnerID {
			return fmt.Errorf("machine %s%s belongs to owner_id %q, and this provider's owner_id is %q: nothing was touched", name, m.on(), m.note.OwnerID, w.Wanted.OwnerID)
		}
	}

	return nil
}

// end takes machines down.
func (w *worker) end(ctx context.Context, which func(*member) bool) error {
	var workers, masters []*member

	for _, name := range sortedKeys(w.members) {
		m := w.members[name]
		if !which(m) {
			continue
		}

		m.unwanted = true

		w.shape(m)

		if m.Role == ControlPlane {
			masters = append(masters, m)
		} else {
			workers = append(workers, m)
		}
	}

	for _, group := range [][]*member{workers, masters} {
		if err := remote.Each(ctx, 0, group, w.takeAway); err != nil {
			return err
		}
	}

	return nil
}

// takeAway brings one machine of a cluster that goes to its end.
func (w *worker) takeAway(ctx context.Context, m *member) error {
	if err := w.fly(ctx, &pilot{worker: w, m: m, goal: GoalGone, ending: true}); err != nil {
		return err
	}

	w.unkeep(ctx, m)

	m.gone = true

	return nil
}

// sweep gives back claims that have no host: allocations that failed.
func (w *worker) sweep(ctx context.Context) error {
	w.Far.Forget()

	found, err := claim.Leftover(ctx, w.Far, w.Wanted.Namespace, w.Wanted.Name)
	if err != nil {
		return err
	}

	var errs []error

	for _, f := range found {
		if f.HostID == "" {
			errs = append(errs, claim.Release(ctx, w.Far, f.ID, f.Host))

			continue
		}

		errs = append(errs, fmt.Errorf("machine %s is still on host %s", f.Machine, f.HostID))
	}

	return errors.Join(errs...)
}
