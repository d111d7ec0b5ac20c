// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// reuse makes a machine anew on the very host that it has, and lets nobody else take that in between:
// the host is marked retired while it is undeployed, so that it ends where no scheduler looks, and is
// claimed again there.
func (w *worker) reuse(ctx context.Context, m *member) error {
	p := &pilot{worker: w, m: m, goal: GoalGone}

	if err := p.drain(ctx); err != nil {
		return fmt.Errorf("machine %s%s: %w", m.Name, m.on(), err)
	}

	if err := p.leave(ctx); err != nil {
		return fmt.Errorf("machine %s%s: %w", m.Name, m.on(), err)
	}

	p.drained, p.left = true, true

	if err := w.keep(ctx, p); err != nil {
		m.err = fmt.Errorf("machine %s%s: keeping its host: %w", m.Name, m.on(), err)

		return m.err
	}

	return w.bring(ctx, m, GoalRun)
}

// holdTime is how long a host is held for its machine, for people who look at it.
const holdTime = 24 * time.Hour

func (w *worker) keep(ctx context.Context, p *pilot) error {
	m := p.m
	r := w.request(m)

	s, err := claim.Keep(ctx, w.Far, r, m.seen, time.Now().Add(holdTime))
	if err != nil {
		return err
	}

	w.take(m, s)

	note := m.note
	if err := p.undeploy(ctx); err != nil {
		return err
	}

	note.Deploying, note.Deployed, note.Provisioned = "", "", ""
	r.Note = note.Value()

	if s, err = claim.Reclaim(ctx, w.Far, r, m.seen, nil); err != nil {
		return err
	}

	m.kind = claim.KindInstance
	w.take(m, s)

	return nil
}

// kept finds hosts that an earlier run, which was cut short, kept for machines, and claims them again.
func (w *worker) kept(ctx context.Context) error {
	for _, m := range w.wantedMembers() {
		if !m.sight().vacant() {
			continue
		}

		r := w.request(m)

		for _, s := range w.allHosts() {
			if !r.Reclaimable(s) {
				continue
			}

			w.describe(m)

			r.Note = m.note.Value()

			got, err := claim.Reclaim(ctx, w.Far, r, s, nil)
			if err != nil {
				return fmt.Errorf("machine %s: taking host %s again, which was kept for it: %w", m.Name, choose.Name(s), err)
			}

			m.kind = claim.KindInstance
			w.take(m, got)
		}
	}

	return nil
}

// unkeep gives hosts free that were kept for a machine which does not come back.
func (w *worker) unkeep(ctx context.Context, m *member) {
	for _, s := range w.candidates(nil) {
		if r := w.request(m); r.Kept(s) || w.holds(m, s) {
			if _, err := claim.Unkeep(ctx, w.Far, r, s); err != nil && !errors.Is(err, host.ErrGone) {
				w.warn("Host "+choose.Name(s)+" is still kept for machine "+m.Name, err.Error())
			}
		}
	}
}

// unhold takes the hold of a host back on which its machine runs again.
func (w *worker) unhold(ctx context.Context, m *member) {
	if !w.holds(m, m.seen) {
		return
	}

	s, err := claim.Unhold(ctx, w.Far, w.request(m), m.seen)
	if err != nil && !errors.Is(err, host.ErrGone) {
		w.warn("Host "+choose.Name(m.seen)+" is still held for machine "+m.Name, err.Error())

		return
	}

	note := m.note
	w.take(m, s)
	m.note = note // not written yet
}

// holds reports whether a host is held for a machine.
func (w *worker) holds(m *member, s host.Seen) bool {
	hold, held := choose.ParseHold(s.Journal.Hold)

	return held && hold.Of(w.Wanted.Namespace+"/"+w.Wanted.Name, m.Name)
}
