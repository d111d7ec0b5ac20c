// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// distrusted stands for what is on a machine that is to be deployed anew whatever its template.
const distrusted = "distrusted"

// again deploys a machine anew on its host.
func (w *worker) again(ctx context.Context, m *member, goal Goal) error {
	if m.pool.Name == "" {
		return w.leaveNote(m)
	}

	node := cmp.Or(m.record.Node, m.note.Remediation.Node)

	if err := w.distrust(ctx, m); err != nil {
		return err
	}

	w.shape(m)
	m.data, m.joined = nil, false

	if err := w.bring(ctx, m, goal); err != nil {
		return err
	}

	m.remedy.Outcome = OutcomeRemade

	return errors.Join(w.unfenced(ctx, node), w.recovered(ctx, m))
}

// unfenced takes away what an attempt that was cut short may have left on a Node.
func (w *worker) unfenced(ctx context.Context, node string) error {
	if node == "" || !w.reachable() {
		return nil
	}

	api, err := w.workload(ctx)
	if err != nil {
		return err
	}

	bounded, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()

	if err := nodes.Unfence(bounded, api, node, nodes.Backup{}); err != nil {
		return fmt.Errorf("taking the fence away: %w", err)
	}

	return nil
}

// exchange gives a machine another host. The one that it leaves is marked, switched off, and not
// chosen again before somebody has looked at it.
func (w *worker) exchange(ctx context.Context, m *member) error {
	if m.pool.Name == "" {
		return w.leaveNote(m)
	}

	if err := w.anyOther(ctx, m); err != nil {
		return err
	}

	id, count := m.seen.Node.UUID, m.note.Remediation.Count

	if err := w.mark(ctx, id, "remediation of "+w.Wanted.Namespace+"/"+w.Wanted.Name+"/"+m.Name+" failed at "+now()); err != nil {
		return err
	}

	// A machine that does not answer cannot be drained: it is switched off instead.
	if err := w.switchTo(ctx, m, ironic.PowerOff); err != nil {
		return err
	}

	p := &pilot{worker: w, m: m, goal: GoalGone, drained: true}
	if err := w.fly(ctx, p); err != nil {
		return err
	}

	m.avoid = append(m.avoid, id)
	m.data, m.joined = nil, false

	if err := w.bring(ctx, m, GoalRun); err != nil {
		return err
	}

	m.note.Remediation = &host.Remediation{Count: count}
	m.remedy.Outcome = OutcomeRemade

	return w.scribble(ctx, m)
}

// anyOther makes sure that there is another host before a machine leaves the one that it has.
func (w *worker) anyOther(ctx context.Context, m *member) error {
	_, err := w.choices(ctx, m, []string{m.seen.Node.UUID})

	var few *CapacityError
	if errors.As(err, &few) {
		return fmt.Errorf("it stays where it is, as there is no other host for it: %w", err)
	}

	return err
}
