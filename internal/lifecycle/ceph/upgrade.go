// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	waiting "github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// upgradeRhythm is how often an upgrade asks whether it may go on.
var upgradeRhythm = waiting.Cadence{First: time.Second, Factor: 1.5, Max: 10 * time.Second, Jitter: 0.1, Errors: 8}

// restart restarts what is next: one monitor, one manager, or the OSDs of one host that may
// stop together. What is left is seen at the next look, so that an apply which is cut off
// goes on from there.
func (w *worker) restart(ctx context.Context, seen *Seen, all []Outdated) error {
	c, err := w.cluster(ctx, seen)
	if err != nil {
		return err
	}

	first := all[0]
	w.log(ctx, fmt.Sprintf("upgrading %s on %s from %s to %s", first.Daemon, first.Host, first.Running, first.Program))

	switch first.Type {
	case RoleMon:
		return w.restartMon(ctx, c, seen, first)
	case RoleMgr:
		return w.restartMgr(ctx, c, seen, all)
	case RoleOSD:
		return w.restartOSDs(ctx, c, seen, all)
	default:
		return w.bounce(ctx, seen, first.Placed, StartHow{})
	}
}

// bounceLimit is how long a daemon that was stopped may take to start once nobody waits any more.
const bounceLimit = 3 * time.Minute

// bounce stops and starts a daemon. Once it may be stopped it is started again, whatever becomes of
// the run: an apply that is cut off must not leave a daemon down, and kept from starting.
func (w *worker) bounce(ctx context.Context, seen *Seen, p Placed, how StartHow) error {
	h, err := w.on(p.Host)
	if err != nil {
		return err
	}

	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	defer w.mark(p.Host)

	l := w.layout(seen, p.Host)

	stopped := h.Stop(ctx, l, p.Daemon)
	if stopped != nil {
		stopped = fmt.Errorf("stop %s on %s: %w", p.Daemon, p.Host, stopped)
		if ctx.Err() == nil {
			return stopped
		}
	}

	free, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), bounceLimit, fmt.Errorf("%s did not start in %s", p.Daemon, bounceLimit))
	defer cancel()

	if err := h.Start(free, l, p.Daemon, how); err != nil {
		return errors.Join(stopped, fmt.Errorf("start %s on %s: %w", p.Daemon, p.Host, err))
	}

	return stopped
}

func (w *worker) restartMon(ctx context.Context, c *api.Cluster, seen *Seen, o Outdated) error {
	// With fewer than three there is no one to take over: it is down for a moment.
	if len(seen.Cluster.Quorum.Mons) > 2 && !w.Upgrade.SkipChecks {
		if err := w.mayStop(ctx, o.String(), func(ctx context.Context) (api.OkToStop, error) { return c.MonOkToStop(ctx, o.ID) }); err != nil {
			return err
		}
	}

	if err := w.bounce(ctx, seen, o.Placed, StartHow{}); err != nil {
		return err
	}

	if w.via == o.Host {
		w.closeSession()
	}

	return nil
}

// restartMgr restarts standbys first; the active one hands over to one of those.
func (w *worker) restartMgr(ctx context.Context, c *api.Cluster, seen *Seen, all []Outdated) error {
	mgr, err := c.Mgr(ctx)
	if err != nil {
		return err
	}

	next := all[0]

	for _, o := range all {
		if o.Type == RoleMgr && isStandby(mgr, o.ID) {
			next = o

			break
		}
	}

	if err := w.handOver(ctx, c, next.ID); err != nil {
		return err
	}

	if err := w.bounce(ctx, seen, next.Placed, StartHow{}); err != nil {
		return err
	}

	if err := w.awaitVersion(ctx, c, next); err != nil {
		return err
	}

	return w.awaitMgr(ctx, c, func(api.Mgr) bool { return true })
}

// awaitVersion waits until the cluster knows a restarted daemon by its new version. The
// monitors list the one before for as long as its last beacon counts: a look before that
// would have the daemon restarted again.
func (w *worker) awaitVersion(ctx context.Context, c *api.Cluster, o Outdated) error {
	limit, cancel := context.WithTimeoutCause(ctx, handover, fmt.Errorf("%s did not come back with %s", o.Daemon, o.Program))
	defer cancel()

	return waiting.Until(limit, waiting.Quick, func(ctx context.Context) (waiting.Verdict, string, error) {
		metas, err := c.Metadata(ctx, o.Type)

		switch {
		case err != nil:
			return waiting.Again, "", waiting.Transient(err)
		case metas[o.ID].Version.Compare(o.Program) == 0:
			return waiting.Done, "", nil
		default:
			return waiting.Again, fmt.Sprintf("%s is known with version %s", o.Daemon, metas[o.ID].Version), nil
		}
	})
}

// restartOSDs restarts OSDs of the host of the first one, as many as may stop together, with
// noout for that host as long as it takes.
func (w *worker) restartOSDs(ctx context.Context, c *api.Cluster, seen *Seen, all []Outdated) (err error) {
	batch, ids := w.batch(all)

	if len(seen.Cluster.OSDMap.OSDs) > 2 && !w.Upgrade.SkipChecks {
		if w.Upgrade.RequireCleanPGs {
			if err := w.awaitClean(ctx, c); err != nil {
				return err
			}
		}

		if batch, ids, err = w.stoppable(ctx, c, batch, ids); err != nil {
			return err
		}
	}

	free, err := exempt(ctx, c, crushHost(batch[0].Host))
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, free()) }()

	v := newView(&w.Wanted, seen)

	for _, o := range batch {
		if err := w.bounce(ctx, seen, o.Placed, StartHow{CrushLocation: w.crushLocation(o.Host), Slot: v.slotOf(o.ID)}); err != nil {
			return err
		}
	}

	if err := w.awaitUp(ctx, c, ids); err != nil {
		return err
	}

	if w.Upgrade.SkipChecks {
		return nil
	}

	return w.awaitClean(ctx, c)
}

// slotOf is the record of an OSD by its id.
func (v *view) slotOf(id string) Slot {
	for _, l := range v.slots() {
		if strconv.Itoa(l.Slot.ID) == id {
			return l.Slot
		}
	}

	return Slot{}
}

// batch are the OSDs of one host that are next.
func (w *worker) batch(all []Outdated) ([]Outdated, []int) {
	var (
		batch []Outdated
		ids   []int
	)

	most := w.Upgrade.Parallel
	if most <= 0 {
		most = 20
	}

	for _, o := range all {
		if id, err := strconv.Atoi(o.ID); err == nil && o.Type == RoleOSD && o.Host == all[0].Host && len(batch) < most {
			batch, ids = append(batch, o), append(ids, id)
		}
	}

	return batch, ids
}

// stoppable is what of a batch may stop together: all of it, or else one.
func (w *worker) stoppable(ctx context.Context, c *api.Cluster, batch []Outdated, ids []int) ([]Outdated, []int, error) {
	ok, err := c.OSDOkToStop(ctx, ids...)
	if err != nil {
		return nil, nil, err
	}

	if ok.OK {
		return batch, ids, nil
	}

	err = w.mayStop(ctx, batch[0].String(), func(ctx context.Context) (api.OkToStop, error) { return c.OSDOkToStop(ctx, ids[0]) })

	return batch[:1], ids[:1], err
}

// mayStop waits until Ceph says that a daemon may stop.
func (w *worker) mayStop(ctx context.Context, name string, ask func(context.Context) (api.OkToStop, error)) error {
	limit, cancel := w.upgradeLimit(ctx)
	defer cancel()

	err := waiting.Until(limit, upgradeRhythm, func(ctx context.Context) (waiting.Verdict, string, error) {
		ok, err := ask(ctx)

		switch {
		case err != nil:
			return waiting.Again, "", waiting.Transient(err)
		case ok.OK:
			return waiting.Done, "", nil
		default:
			return waiting.Again, ok.Words, nil
		}
	})

	var late *waiting.TimeoutError
	if err == nil || ctx.Err() != nil || !errors.As(err, &late) {
		return err
	}

	if w.Upgrade.ContinueUnhealthy {
		w.warn(name+" was restarted although it was not ok to stop", late.Note)

		return nil
	}

	return fmt.Errorf("%s may not stop: %w. The other daemons were not touched. Mend what is said there, or set upgrade.continue_if_unhealthy", name, err)
}

func (w *worker) upgradeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	t := w.Upgrade.OkToStop
	if t <= 0 {
		t = 10 * time.Minute
	}

	return context.WithTimeoutCause(ctx, t, errors.New("upgrade.osd_ok_to_stop_timeout is over"))
}

func (w *worker) awaitUp(ctx context.Context, c *api.Cluster, ids []int) error {
	limit, cancel := w.upgradeLimit(ctx)
	defer cancel()

	err := waiting.Until(limit, upgradeRhythm, func(ctx context.Context) (waiting.Verdict, string, error) {
		m, err := c.OSDMap(ctx)
		if err != nil {
			return waiting.Again, "", waiting.Transient(err)
		}

		for _, o := range m.OSDs {
			if slices.Contains(ids, o.ID) && !o.Up {
				return waiting.Again, fmt.Sprintf("osd.%d is not up", o.ID), nil
			}
		}

		return waiting.Done, "", nil
	})
	if err != nil {
		return fmt.Errorf("after the restart: %w", err)
	}

	return nil
}

// awaitClean waits until every placement group is healthy, twice in a row.
func (w *worker) awaitClean(ctx context.Context, c *api.Cluster) error {
	limit, cancel := w.upgradeLimit(ctx)
	defer cancel()

	err := waiting.Until(limit, upgradeRhythm, waiting.Twice(func(ctx context.Context) (waiting.Verdict, string, error) {
		pgs, err := c.PGs(ctx)
		if err != nil {
			return waiting.Again, "", waiting.Transient(err)
		}

		if bad := api.PGsHealthy(pgs); len(bad) > 0 {
			return waiting.Again, fmt.Sprintf("placement groups are %v", bad), nil
		}

		return waiting.Done, "healthy at the first look", nil
	}))

	var late *waiting.TimeoutError
	if errors.As(err, &late) && ctx.Err() == nil && w.Upgrade.ContinueUnhealthy {
		w.warn("The upgrade went on although placement groups were not healthy", late.Note)

		return nil
	}

	if err != nil {
		return fmt.Errorf("placement groups did not become healthy, and the upgrade stops here with the remaining daemons untouched: %w", err)
	}

	return nil
}
