// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"slices"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	waiting "github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// mgrCaps are what a manager may do.
func mgrCaps() map[string]string {
	return map[string]string{"mon": "allow profile mgr", "osd": "allow *", "mds": "allow *"}
}

// handover is how long a standby may take to become active: mon_mgr_beacon_grace is 30 s.
const handover = 90 * time.Second

// makeDaemons makes managers and OSDs side by side.
func (w *worker) makeDaemons(ctx context.Context, seen *Seen, step Step) error {
	if len(step.OSDs) == 0 {
		return w.makeMgrs(ctx, seen, step.Placed)
	}

	kinds := []func() error{
		func() error { return w.makeMgrs(ctx, seen, step.Placed) },
		func() error { return w.makeOSDs(ctx, seen, step.OSDs) },
	}

	// The session is opened once, before both use it.
	if _, err := w.cluster(ctx, seen); err != nil {
		return err
	}

	return remote.Each(ctx, len(kinds), kinds, func(_ context.Context, do func() error) error { return do() })
}

// makeMgrs makes managers where they are missing and starts all of them. Nothing waits here:
// they load their modules while OSDs are made.
func (w *worker) makeMgrs(ctx context.Context, seen *Seen, placed []Placed) error {
	c, err := w.cluster(ctx, seen)
	if err != nil {
		return err
	}

	return w.each(ctx, placed, func(ctx context.Context, p Placed) error {
		if err := ended(ctx, c, seen, p.Daemon); err != nil {
			return err
		}

		key, err := c.AuthGetOrCreate(ctx, p.String(), mgrCaps())
		if err != nil {
			return err
		}

		h, err := w.on(p.Host)
		if err != nil {
			return err
		}

		l := w.layout(seen, p.Host)
		if err := h.MakeDaemon(ctx, l, p.Daemon, DaemonKeyring(p.Daemon, Secret(key))); err != nil {
			return err
		}

		return w.start(ctx, h, seen, p, StartHow{})
	})
}

// ended tells the cluster that its active manager does not run, where none of the hosts shows it: it
// notices by itself only after half a minute (much later where the monitors were down, too), and until
// then the one that is started would seem to be active already.
func ended(ctx context.Context, c *api.Cluster, seen *Seen, d Daemon) error {
	v := view{s: seen}
	runs := func(host string) bool {
		f, ok := v.daemon(host, d)

		return ok && f.Running
	}

	if seen.Cluster.Mgr.Active != d.ID || slices.ContainsFunc(sortedKeys(seen.Hosts), runs) {
		return nil
	}

	return c.MgrFail(ctx, d.ID)
}

// removeMgr hands over first where the manager is the active one: one that just ends is
// missed for half a minute.
func (w *worker) removeMgr(ctx context.Context, seen *Seen, p Placed) error {
	c, err := w.cluster(ctx, seen)
	if err != nil {
		return err
	}

	if err := w.handOver(ctx, c, p.ID); err != nil {
		return err
	}

	h, err := w.on(p.Host)
	if err != nil {
		return err
	}

	l := w.layout(seen, p.Host)
	if err := h.Stop(ctx, l, p.Daemon); err != nil {
		return err
	}

	// The monitors would list it until its last beacon is too old.
	if err := c.MgrFail(ctx, p.ID); err != nil && !errors.Is(err, api.ErrNotFound) {
		return err
	}

	if err := c.AuthRemove(ctx, p.String()); err != nil {
		return err
	}

	return h.Remove(ctx, l, p.Daemon)
}

// handOver makes a standby active where there is one and the named manager is active.
func (w *worker) handOver(ctx context.Context, c *api.Cluster, id string) error {
	mgr, err := c.Mgr(ctx)
	if err != nil {
		return err
	}

	if mgr.Active != id || len(mgr.Standbys) == 0 {
		return nil
	}

	if err := c.MgrFail(ctx, id); err != nil {
		return err
	}

	return w.awaitMgr(ctx, c, func(m api.Mgr) bool { return m.Active != id })
}

// awaitMgr waits for an active manager that pleases.
func (w *worker) awaitMgr(ctx context.Context, c *api.Cluster, pleases func(api.Mgr) bool) error {
	limit, cancel := context.WithTimeoutCause(ctx, handover, errors.New("no manager became active in time"))
	defer cancel()

	return waiting.Until(limit, waiting.Quick, func(ctx context.Context) (waiting.Verdict, string, error) {
		m, err := c.Mgr(ctx)

		switch {
		case err != nil:
			return waiting.Again, "", waiting.Transient(err)
		case m.Available && m.Active != "" && pleases(m):
			return waiting.Done, "", nil
		default:
			return waiting.Again, "the active manager is " + m.Active, nil
		}
	})
}

// isStandby reports whether a manager waits for the active one to end.
func isStandby(m api.Mgr, id string) bool { return slices.Contains(m.Standbys, id) }
