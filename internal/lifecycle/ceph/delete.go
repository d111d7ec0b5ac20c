// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	waiting "github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Delete ends the cluster. Without the confirmation its daemons stop, and data and identity
// stay on the hosts; with it devices are wiped as asked and folders deleted, each only after
// its fsid was compared. What cannot be done keeps the cluster in the state.
func (r *Run) Delete(ctx context.Context, was Record, how CleanupSpec) Result {
	w := r.worker(was)
	defer w.closeSession()

	w.say(PhaseDeleting, "True", ReasonDeleting, messageDeleting)

	seen, err := w.look(ctx, nil, Ask{})
	if err != nil {
		return Result{Record: was, Known: true, Err: err}
	}

	seen, gone, err := w.lookGone(ctx, seen)
	if err != nil || gone {
		return Result{Record: was, Known: !gone, Gone: gone, Err: err}
	}

	if w.External != nil {
		err = w.disconnect(ctx, seen)
	} else {
		err = w.end(ctx, seen, how)
	}

	if err != nil {
		res := w.result(seen)
		res.Err, res.Stands = err, w.stands(seen)

		return res
	}

	return Result{Gone: true, Warnings: w.warnings}
}

// disconnect forgets a cluster that somebody else runs: only what we wrote goes.
func (w *worker) disconnect(ctx context.Context, seen *Seen) error {
	return w.eachHost(ctx, seen, func(ctx context.Context, h HostSpec, l Layout) error { return h.Host.Erase(ctx, l) })
}

func (w *worker) end(ctx context.Context, seen *Seen, how CleanupSpec) error {
	confirmed := how.Confirmation == Confirmation

	if err := w.silent(seen, confirmed); err != nil {
		return err
	}

	if seen.Identity == nil {
		return fmt.Errorf("no host has the identity of the cluster any more (%s), and the state does not hold its keys: nothing proves that what is there is ours. Remove it by hand, then `terraform state rm`", Layout{Dir: w.Dir}.IdentityFile())
	}

	if err := w.dependents(ctx, seen, how); err != nil {
		return err
	}

	if err := w.noteEnding(ctx, seen, confirmed); err != nil {
		return err
	}

	// OSDs first: they say goodbye to a monitor, and wait for it in vain where there is none.
	for _, kind := range []string{RoleMDS, RoleOSD, RoleMgr, RoleMon} {
		if err := w.stopAll(ctx, seen, kind); err != nil {
			return err
		}
	}

	w.closeSession()

	if !confirmed {
		w.remarkKept(seen)

		return nil
	}

	return w.erase(ctx, seen, how)
}

// silent refuses to call a cluster gone that a host without an answer may still run.
func (w *worker) silent(seen *Seen, confirmed bool) error {
	var silent []string

	for _, name := range sortedKeys(seen.Hosts) {
		if err := seen.Hosts[name].Err; err != nil {
			silent = append(silent, name+": "+err.Error())
		}
	}

	if len(silent) == 0 {
		return nil
	}

	what := "daemons of the cluster may run there"
	if confirmed {
		what = "its data is there, and was to be destroyed"
	}

	return fmt.Errorf("%d hosts do not answer, and %s:\n- %s\nNothing was stopped. Bring them back, or take them out of hosts and apply before the destroy", len(silent), what, strings.Join(silent, "\n- "))
}

// dependents refuses while pools hold data of users.
func (w *worker) dependents(ctx context.Context, seen *Seen, how CleanupSpec) error {
	if how.AllowWithData {
		return nil
	}

	if seen.Cluster == nil {
		return w.unasked(seen, how)
	}

	c, err := w.cluster(ctx, seen)
	if err != nil {
		return err
	}

	full, err := w.fullPools(ctx, c, seen)
	if err != nil {
		return fmt.Errorf("whether pools hold data is not known, and nothing was stopped: %w. Set cleanup.allow_with_data to go on all the same", err)
	}

	if len(full) == 0 {
		return nil
	}

	w.say(PhaseBlocked, "True", ReasonDependents, "pools hold data: "+strings.Join(full, ", "))

	return fmt.Errorf("pools hold data: %s. Nothing was stopped. Remove the pools, or set cleanup.allow_with_data = true and apply before the destroy", strings.Join(full, ", "))
}

// unasked refuses to destroy the OSDs of a cluster of which nobody says whether they hold data.
func (w *worker) unasked(seen *Seen, how CleanupSpec) error {
	if how.Confirmation != Confirmation {
		return nil // the data stays
	}

	made := slices.ContainsFunc(newView(&w.Wanted, seen).slots(), func(l Leaving) bool { return l.Slot.Made })
	if !made || w.ending(seen) {
		return nil
	}

	why := "no monitor answers"
	if seen.Why != nil {
		why = seen.Why.Error()
	}

	return fmt.Errorf("whether pools hold data is not known, and nothing was stopped: %s. Start the cluster with an apply first, or set cleanup.allow_with_data = true and apply before the destroy", why)
}

// statsRhythm is for looks of which no two tell of the same reports.
var statsRhythm = waiting.Cadence{First: LagTime, Factor: 1, Max: LagTime, Errors: 4}

// statsLimit is how long groups may take to be known: a manager that has just become active knows of
// no group what it holds until its OSD has reported, and calls every pool empty until then.
const statsLimit = time.Minute

// fullPools lists pools that hold data of users. Those that all look empty are looked at again,
// once what was written just before has been reported.
func (w *worker) fullPools(ctx context.Context, c *api.Cluster, seen *Seen) ([]string, error) {
	if !slices.ContainsFunc(seen.Cluster.OSDMap.Pools, func(p api.Pool) bool { return !ownPool(p.Name) }) {
		return nil, nil
	}

	limit, cancel := context.WithTimeoutCause(ctx, statsLimit, errors.New("not all placement groups are active"))
	defer cancel()

	var full []string

	empty := 0

	err := waiting.Until(limit, statsRhythm, func(ctx context.Context) (waiting.Verdict, string, error) {
		pgs, err := c.PGs(ctx)
		if err != nil {
			return waiting.Again, "", waiting.Transient(err)
		}

		if full, err = filled(ctx, c); err != nil {
			return waiting.Again, "", waiting.Transient(err)
		}

		for _, s := range pgs {
			if s.Count > 0 && !slices.Contains(strings.Split(s.State, "+"), "active") {
				empty = -1
			}
		}

		if empty++; len(full) > 0 || empty == 2 {
			return waiting.Done, "", nil
		}

		return waiting.Again, fmt.Sprintf("placement groups are %v", pgs), nil
	})

	return full, err
}

func filled(ctx context.Context, c *api.Cluster) ([]string, error) {
	use, err := PoolUse(ctx, c)
	if err != nil {
		return nil, err
	}

	var full []string

	for _, name := range sortedKeys(use) {
		if !ownPool(name) && HoldsData(use[name]) {
			full = append(full, name+" ("+amount(use[name])+")")
		}
	}

	return full, nil
}

// amount says how much a pool holds. Ceph tells bytes before it has counted the objects.
func amount(u api.PoolUse) string {
	if u.Objects == 0 {
		return fmt.Sprintf("%d bytes", u.Stored)
	}

	return fmt.Sprintf("%d objects, %d bytes", u.Objects, u.Stored)
}

// ownPool reports whether a pool is one that the manager makes for itself.
func ownPool(name string) bool { return name == ".mgr" || name == "device_health_metrics" }

func (w *worker) stopAll(ctx context.Context, seen *Seen, kind string) error {
	var running []Placed

	for _, h := range slices.Concat(w.Hosts, w.Former) {
		for _, d := range seen.Hosts[h.Name].Daemons {
			if d.Type == kind && (d.Running || d.Made) {
				running = append(running, Placed{Host: h.Name, Daemon: d.Daemon})
			}
		}
	}

	if len(running) > 0 {
		w.log(ctx, "stopping "+words(running))
	}

	return w.each(ctx, running, func(ctx context.Context, p Placed) error {
		h, err := w.on(p.Host)
		if err != nil {
			return err
		}

		return h.Stop(ctx, w.layout(seen, p.Host), p.Daemon)
	})
}

func (w *worker) remarkKept(seen *Seen) {
	var kept []string

	for _, name := range sortedKeys(seen.Hosts) {
		for _, s := range seen.Hosts[name].Slots {
			kept = append(kept, fmt.Sprintf("%s: %s of osd.%d", name, s.Path, s.ID))
		}

		kept = append(kept, name+": "+w.Dir)
	}

	w.warn("Data of Ceph cluster "+w.Name+" stays on its hosts",
		fmt.Sprintf("Its daemons were stopped. cleanup.confirmation was not %q, so nothing was deleted, and a new cluster of the same name in the same place goes on with this one (fsid %s):\n- %s",
			Confirmation, seen.Identity.FSID, strings.Join(kept, "\n- ")))
}

// erase wipes devices, and deletes folders once that is done everywhere: what proves that the
// cluster is ours goes last. All hosts are tried; what failed is named.
func (w *worker) erase(ctx context.Context, seen *Seen, how CleanupSpec) error {
	err := w.eachHost(ctx, seen, func(ctx context.Context, h HostSpec, l Layout) error {
		w.log(ctx, "wiping devices on "+h.Name)

		return remote.Each(ctx, osdsAtOnce, seen.Hosts[h.Name].Slots, func(ctx context.Context, s Slot) error {
			if err := w.endSlot(ctx, h.Host, l, s, how); err != nil {
				return fmt.Errorf("%s: %w", s.Path, err)
			}

			return nil
		})
	})
	if err != nil {
		return err
	}

	return w.eachHost(ctx, seen, func(ctx context.Context, h HostSpec, l Layout) error {
		w.log(ctx, "deleting "+l.Dir+" on "+h.Name)

		return h.Host.Erase(ctx, l)
	})
}

func (w *worker) endSlot(ctx context.Context, h Host, l Layout, s Slot, how CleanupSpec) error {
	if how.Wipe == WipeNone || how.Wipe == "" {
		return h.Forget(ctx, l, s)
	}

	return h.Wipe(ctx, l, s, how.Wipe, max(how.Passes, 1))
}

func (w *worker) eachHost(ctx context.Context, seen *Seen, do func(context.Context, HostSpec, Layout) error) error {
	return remote.Each(ctx, atOnce, slices.Concat(w.Hosts, w.Former), func(ctx context.Context, h HostSpec) error {
		if _, ok := (&view{s: seen}).reached(h.Name); !ok {
			return nil
		}

		if err := do(ctx, h, w.layout(seen, h.Name)); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}

		return nil
	})
}
