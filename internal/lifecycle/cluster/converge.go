// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// Create makes the cluster, or goes on with what an unfinished create of the same cluster left.
func (r *Run) Create(ctx context.Context) Result { return r.converge(ctx, Record{}, true) }

// Update makes the cluster what is wanted.
func (r *Run) Update(ctx context.Context, was Record) Result { return r.converge(ctx, was, false) }

func (r *Run) converge(ctx context.Context, was Record, create bool) Result {
	w := r.worker(was)

	err := w.prepare(ctx, create)
	began := err == nil

	// What is there is not this create's: it knows nothing of it, and gives nothing of it back.
	var exists *ExistsError
	if errors.As(err, &exists) {
		return Result{Err: err, Warnings: w.warnings}
	}

	if err == nil {
		err = w.issue(time.Now())
	}

	if err == nil {
		err = w.work(ctx)
	}

	if err == nil && create {
		w.finished(ctx)
	}

	if err != nil && create && began && r.Wanted.Rollback && ctx.Err() == nil {
		err = w.rollback(ctx, err)
	}

	return w.result(ctx, err)
}

// prepare looks, decides who is to be there, and gives hosts to those who have none. Everything that
// can be refused is refused here, before the first deployment.
func (w *worker) prepare(ctx context.Context, create bool) error {
	var errs []error
	if w.pools, errs = w.Wanted.CompilePools(); len(errs) > 0 {
		return errors.Join(errs...)
	}

	w.Far.Forget() // an apply decides on what is there now

	if err := w.look(ctx); err != nil {
		return err
	}

	if err := w.ours(create); err != nil {
		return err
	}

	if err := w.lineUp(); err != nil {
		return err
	}

	if err := w.untouched(create); err != nil {
		return err
	}

	if create {
		if err := w.oldKeys(ctx); err != nil {
			return err
		}
	}

	if err := w.kept(ctx); err != nil {
		return err
	}

	if err := w.staff(ctx); err != nil {
		return err
	}

	return w.undisputed(ctx)
}

// lineUp decides which machines stay, come and go.
func (w *worker) lineUp() error {
	have := map[string]Machine{}

	for name, m := range w.members {
		m.record.UpToDate = true
		if w.shape(m) {
			m.record.UpToDate = m.upToDate()
		}

		have[name] = m.record
	}

	l := w.Wanted.Lineup(have)
	if err := w.permit(l); err != nil {
		return err
	}

	for _, s := range l.Add {
		w.enlist(s)
	}

	for _, v := range l.Leave {
		w.members[v.Name].unwanted = true
	}

	return w.foresee()
}

// permit refuses what would take down more machines than one apply may, and a control plane of which
// nobody knows how it is.
func (w *worker) permit(l Lineup) error {
	var names, masters []string

	for _, m := range l.Leave {
		names = append(names, m.Name)
	}

	for _, s := range l.Keep {
		m := w.members[s.Name]
		if !m.outdated() {
			continue
		}

		if m.Role == ControlPlane {
			masters = append(masters, s.Name)
		}

		if m.pool.Rollout.Strategy == Replace {
			names = append(names, s.Name)
		}
	}

	return errors.Join(w.Wanted.CheckDeprovision(names), w.Wanted.CheckAskable(masters, w.reachable()))
}

// outdated reports whether a machine runs, and was made from another template than its pool has now.
func (m *member) outdated() bool {
	return m.sight() == SeenActive && !m.upToDate() && m.pool.Rollout.Strategy != OnDelete
}

// work deploys, follows templates and takes down, control plane before workers, capacity first and
// last: what leaves, leaves when everything else is done.
func (w *worker) work(ctx context.Context) error {
	if err := w.setCleaning(ctx); err != nil {
		return err
	}

	if w.Wanted.Wait.Level == LevelClaimed {
		return w.scaleIn(ctx)
	}

	if err := w.renderAll(ctx); err != nil {
		return w.unclaim(ctx, w.wantedMembers(), err)
	}

	if err := w.repair(ctx); err != nil {
		return err
	}

	if err := w.raiseControlPlane(ctx); err != nil {
		return err
	}

	// Workers that fail do not keep the others from anything, nor the rest of the work from them.
	errs := []error{w.raiseWorkers(ctx)}

	if ctx.Err() == nil && errs[0] == nil {
		errs = append(errs, w.rollOut(ctx))
	}

	if ctx.Err() == nil {
		errs = append(errs, w.scaleIn(ctx))
	}

	return errors.Join(errs...)
}

// raiseControlPlane brings up the control plane: the first machine alone, as it begins the cluster;
// the others one by one where each has to find a healthy control plane, else side by side.
func (w *worker) raiseControlPlane(ctx context.Context) error {
	all := w.controlPlane()
	if len(all) == 0 {
		return nil
	}

	first := all[0]

	if at := slices.IndexFunc(all, func(m *member) bool { return m.sight() == SeenActive }); at > 0 {
		first = all[at] // one that runs is what others join
	}

	if err := w.deployFirst(ctx, first); err != nil {
		return err
	}

	rest := slices.DeleteFunc(slices.Clone(all), func(m *member) bool { return m == first })

	if w.Wanted.Bootstrap == nil && !w.joins() {
		return remote.Each(ctx, 0, rest, func(ctx context.Context, m *member) error { return w.bring(ctx, m, GoalRun) })
	}

	for _, m := range rest {
		if m.sight() != SeenActive && w.Wanted.Bootstrap != nil && w.joins() {
			if err := w.healthyControlPlane(ctx, m); err != nil {
				return err
			}
		}

		if err := w.bring(ctx, m, GoalRun); err != nil {
			return err
		}
	}

	return nil
}

// deployFirst deploys the first machine and waits for the endpoint before its Node is looked for.
func (w *worker) deployFirst(ctx context.Context, m *member) error {
	fresh := m.sight() != SeenActive
	joined := m.joined
	m.joined = true // not yet

	err := w.bring(ctx, m, GoalRun)
	m.joined = joined

	if err != nil {
		return err
	}

	if fresh || w.Wanted.Wait.Level.reaches(LevelAPI) {
		if err := w.awaitEndpoint(ctx); err != nil {
			m.err = err

			return fmt.Errorf("machine %s%s: %w", m.Name, m.on(), err)
		}
	}

	return w.bring(ctx, m, GoalRun)
}

// raiseWorkers brings up the workers of all pools side by side.
func (w *worker) raiseWorkers(ctx context.Context) error {
	var all []*member

	for _, m := range w.wantedMembers() {
		if m.Role != ControlPlane && !w.withoutHost(m) {
			all = append(all, m)
		}
	}

	return remote.Each(ctx, 0, all, func(ctx context.Context, m *member) error { return w.bring(ctx, m, GoalRun) })
}

// withoutHost reports whether a machine stays planned, because there are too few hosts and that is
// tolerated.
func (w *worker) withoutHost(m *member) bool {
	var few *CapacityError

	return w.Wanted.Partial && m.sight() == SeenNothing && errors.As(m.err, &few)
}

// scaleIn takes down who is too many: workers side by side, then the control plane one by one.
func (w *worker) scaleIn(ctx context.Context) error {
	var workers, masters []*member

	for _, name := range sortedKeys(w.members) {
		switch m := w.members[name]; {
		case !m.unwanted:
		case m.Role == ControlPlane:
			masters = append(masters, m)
		case w.short(m):
			w.warn("Machine "+m.Name+" stays for now", "It is one too many, and a machine of its pool that is to stay is not well: the pool would be left with less than it has.")
		default:
			workers = append(workers, m)
		}
	}

	errs := []error{remote.Each(ctx, 0, workers, w.takeDown)}

	for _, m := range masters {
		if ctx.Err() != nil {
			break
		}

		if err := w.healthyControlPlane(ctx, m); err != nil {
			return errors.Join(append(errs, err)...)
		}

		if err := w.takeDown(ctx, m); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}

	return errors.Join(errs...)
}

// short reports whether a machine that works is to leave a pool in which one that is to stay failed in
// this run: the rollout that it may be part of has not come so far.
func (w *worker) short(m *member) bool {
	if m.sight() != SeenActive || m.ill() || slices.Contains(w.Wanted.DeleteMachines, m.Name) {
		return false
	}

	return slices.ContainsFunc(w.of(m.Pool), func(other *member) bool { return other.err != nil && !other.sight().vacant() })
}

// takeDown brings a machine to its end. One that did not get there stays a machine of the cluster.
func (w *worker) takeDown(ctx context.Context, m *member) error {
	if err := w.bring(ctx, m, GoalGone); err != nil {
		return err
	}

	w.unkeep(ctx, m)

	m.gone = true

	return nil
}
