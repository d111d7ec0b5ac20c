// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	waiting "github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// drainRhythm is how often a draining OSD is looked at: data moves for minutes to hours.
var drainRhythm = waiting.Cadence{First: 2 * time.Second, Factor: 1.5, Max: 15 * time.Second, Jitter: 0.1, Errors: 8}

// removeOSDs takes OSDs out: a few at a time, each out first, then only once Ceph says twice
// that no data is lost, the daemon, the OSD, its key and its place. Each step can be repeated
// from any point.
func (w *worker) removeOSDs(ctx context.Context, seen *Seen, all []Leaving) error {
	c, err := w.cluster(ctx, seen)
	if err != nil {
		return err
	}

	if err := w.roomLeft(seen, all); err != nil {
		return err
	}

	limit, cancel := ctx, context.CancelFunc(func() {})
	if t := w.Storage.Removal.Timeout; t > 0 {
		limit, cancel = context.WithTimeoutCause(ctx, t, fmt.Errorf("storage.removal.timeout of %s is over", t))
	}
	defer cancel()

	for batch := range chunks(all, max(w.Storage.Removal.Parallel, 1)) {
		if err := w.drain(limit, c, batch); err != nil {
			return err
		}

		for _, l := range batch {
			if err := w.removeOSD(ctx, c, seen, l); err != nil {
				return fmt.Errorf("osd.%d on %s: %w", l.Slot.ID, l.Host, err)
			}
		}
	}

	return nil
}

// roomLeft refuses what would never end: with fewer hosts or OSDs than a pool has replicas no
// group ever becomes clean.
func (w *worker) roomLeft(seen *Seen, all []Leaving) error {
	going := map[int]bool{}

	for _, l := range all {
		if l.OSD != nil && !l.OSD.New {
			going[l.OSD.ID] = true
		}
	}

	if len(going) == 0 {
		return nil
	}

	hosts, osds := map[string]bool{}, 0

	for _, o := range seen.Cluster.OSDMap.OSDs {
		if !going[o.ID] && o.In {
			hosts[o.Host] = true
			osds++
		}
	}

	left, what := len(hosts), "hosts with OSDs"
	if w.PoolDefaults.FailureDomain == RoleOSD {
		left, what = osds, "OSDs"
	}

	for _, p := range seen.Cluster.OSDMap.Pools {
		if p.Size > left {
			return fmt.Errorf("pool %s keeps %d copies, and %d %s would be left: its data could never be placed. Add OSDs first, or lower the pool's size", p.Name, p.Size, left, what)
		}
	}

	return nil
}

// drain marks OSDs out and waits until they hold nothing that is needed.
func (w *worker) drain(ctx context.Context, c *api.Cluster, batch []Leaving) error {
	var ids []int

	for _, l := range batch {
		if l.OSD != nil && !l.OSD.New {
			ids = append(ids, l.OSD.ID)
		}
	}

	if len(ids) == 0 {
		return nil
	}

	if err := c.OSDOut(ctx, ids...); err != nil {
		return err
	}

	w.log(ctx, fmt.Sprintf("draining %d OSDs: their data moves to others", len(ids)))

	// Right after "out" Ceph may call an OSD safe from statistics that are older: groups must be
	// clean, and the answer must come twice.
	err := waiting.Until(ctx, drainRhythm, waiting.Twice(func(ctx context.Context) (waiting.Verdict, string, error) {
		note, err := w.drained(ctx, c, ids)

		switch {
		case err != nil:
			return waiting.Again, "", waiting.Transient(err)
		case note != "":
			return waiting.Again, note, nil
		default:
			return waiting.Done, "safe at the first look", nil
		}
	}))
	if err != nil {
		return fmt.Errorf("draining osds %v: %w. They stay out, and nothing is lost; the next apply goes on from here", ids, err)
	}

	return nil
}

// drained says why OSDs cannot go yet; empty: they can.
func (w *worker) drained(ctx context.Context, c *api.Cluster, ids []int) (string, error) {
	pgs, err := c.PGs(ctx)
	if err != nil {
		return "", err
	}

	if bad := api.PGsHealthy(pgs); len(bad) > 0 {
		return fmt.Sprintf("%d placement groups are %s", bad[0].Count, bad[0].State), nil
	}

	ok, why, err := c.OSDSafeToDestroy(ctx, ids...)
	if err != nil || ok {
		return "", err
	}

	if why == "" {
		why = "not safe to destroy yet"
	}

	return why, nil
}

// removeOSD ends an OSD that holds nothing any more.
func (w *worker) removeOSD(ctx context.Context, c *api.Cluster, seen *Seen, l Leaving) error {
	id, err := numberOf(ctx, c, l)
	if err != nil {
		return err
	}

	h := w.here(seen, l.Host)

	layout := w.layout(seen, l.Host)
	if h != nil {
		defer w.mark(l.Host)

		if id >= 0 {
			if err := h.Stop(ctx, layout, OSDDaemon(id)); err != nil {
				return err
			}
		}
	}

	if l.OSD != nil {
		if err := purge(ctx, c, *l.OSD); err != nil {
			return err
		}
	}

	if h == nil {
		w.warn(fmt.Sprintf("osd.%d was removed from the cluster only", id),
			fmt.Sprintf("Its host %q does not answer: daemon folder and device there stay as they are.", l.Host))

		return nil
	}

	if id >= 0 {
		if err := h.Remove(ctx, layout, OSDDaemon(id)); err != nil {
			return err
		}
	}

	return w.endRecord(ctx, h, layout, l.Slot)
}

// numberOf is the number of the daemon that goes; -1: it has none, or its number is another's by now.
func numberOf(ctx context.Context, c *api.Cluster, l Leaving) (int, error) {
	if l.OSD != nil {
		return l.OSD.ID, same(ctx, c, *l.OSD)
	}

	m, err := c.OSDMap(ctx)
	if err != nil {
		return -1, err
	}

	if slices.ContainsFunc(m.OSDs, func(o api.OSD) bool { return o.ID == l.Slot.ID }) {
		return -1, nil // with this uuid it would be known
	}

	return l.Slot.ID, nil
}

// endRecord deletes the record of an OSD, and before it what the device holds where that is wanted.
// The device of one that was never made may be any disk: only what proves to be ours is wiped.
func (w *worker) endRecord(ctx context.Context, h Host, l Layout, slot Slot) error {
	if !w.Storage.Removal.Allow || !w.Storage.Removal.Wipe {
		return h.Forget(ctx, l, slot)
	}

	err := h.Wipe(ctx, l, slot, WipeQuick, 1)
	if !slot.Made && (errors.Is(err, ErrInUse) || errors.Is(err, ErrForeign) || errors.Is(err, ErrGone)) {
		return h.Forget(ctx, l, slot)
	}

	return err
}

// The ways to wipe a device.
const (
	WipeNone  = "none"
	WipeQuick = "quick"
	WipeFull  = "full"
)

// purge takes an OSD out of the cluster's maps: it must be down by then, which the monitors
// may learn a moment after its end. Ceph knows it by its number, which may be another's by now.
func purge(ctx context.Context, c *api.Cluster, o api.OSD) error {
	limit, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the monitors still see it up"))
	defer cancel()

	err := waiting.Until(limit, waiting.Quick, func(ctx context.Context) (waiting.Verdict, string, error) {
		err := same(ctx, c, o)
		if err == nil {
			err = c.OSDPurge(ctx, o.ID)
		}

		switch {
		case errors.Is(err, api.ErrBusy):
			return waiting.Again, err.Error(), nil
		case err != nil:
			return waiting.Again, "", err
		default:
			return waiting.Done, "", nil
		}
	})
	if err != nil {
		return err
	}

	if err := c.AuthRemove(ctx, OSDDaemon(o.ID).String()); err != nil {
		return err
	}

	if o.Host != "" {
		return c.CrushRemove(ctx, o.Host) // a host that has other OSDs stays
	}

	return nil
}

// same makes sure that a number still is the OSD that is to go, and that one that was not drained,
// because it never ran, did not run meanwhile.
func same(ctx context.Context, c *api.Cluster, o api.OSD) error {
	m, err := c.OSDMap(ctx)
	if err != nil {
		return err
	}

	for _, now := range m.OSDs {
		switch {
		case now.ID != o.ID:
		case now.UUID != o.UUID:
			return fmt.Errorf("osd.%d has the uuid %s by now, and %s was to go: somebody made another one; nothing of it was touched", o.ID, now.UUID, o.UUID)
		case o.New && !now.New:
			return fmt.Errorf("osd.%d had never run, and ran meanwhile: it is drained first by the next apply", o.ID)
		}
	}

	return nil
}

// chunks cuts a list into pieces of n.
func chunks[T any](all []T, n int) func(func([]T) bool) {
	return func(yield func([]T) bool) {
		for ; len(all) > 0; all = all[min(n, len(all)):] {
			if !yield(all[:min(n, len(all))]) {
				return
			}
		}
	}
}
