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
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	waiting "github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// each does something on several hosts side by side.
func (w *worker) each(ctx context.Context, placed []Placed, do func(context.Context, Placed) error) error {
	return remote.Each(ctx, atOnce, placed, func(ctx context.Context, p Placed) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}

		err := do(ctx, p)
		w.mark(p.Host)

		if err != nil && p.Type != "" {
			return fmt.Errorf("%s on %s: %w", p.Daemon, p.Host, err)
		}

		if err != nil {
			return fmt.Errorf("%s: %w", p.Host, err)
		}

		return nil
	})
}

// makeMons makes the stores of the first monitors, all with the same map, and starts them.
// Hosts work side by side; those that were made and started before are left alone.
func (w *worker) makeMons(ctx context.Context, seen *Seen, unmade []Placed) error {
	id := seen.Identity
	seed := MonSeed{Addrs: map[string]string{}, Keyring: SeedKeyring(id.MonSecret, id.AdminKey)}

	for name, place := range id.First {
		seed.Addrs[name] = place.Addr
	}

	return w.each(ctx, unmade, func(ctx context.Context, p Placed) error {
		h, err := w.on(p.Host)
		if err != nil {
			return err
		}

		l := w.layout(seen, p.Host)
		if err := h.MakeMon(ctx, l, p.ID, seed); err != nil {
			return err
		}

		return w.start(ctx, h, seen, p, StartHow{})
	})
}

func (w *worker) changeMons(ctx context.Context, seen *Seen, step Step) error {
	switch step.Do {
	case startMons:
		return w.each(ctx, step.Placed, func(ctx context.Context, p Placed) error {
			h, err := w.on(p.Host)
			if err != nil {
				return err
			}

			return w.start(ctx, h, seen, p, StartHow{})
		})
	case establish:
		return w.saveIdentity(ctx, seen, func(id *Identity) { id.Established = true })
	case addMon:
		return w.addMon(ctx, seen, step.Placed[0])
	default:
		return w.removeMon(ctx, seen, step.Placed[0])
	}
}

// addMon makes one more monitor of the running cluster's own map and starts it: it joins by
// itself. It is never added to the map before: in a cluster of one that would end the quorum at once.
func (w *worker) addMon(ctx context.Context, seen *Seen, p Placed) error {
	c, err := w.cluster(ctx, seen)
	if err != nil {
		return err
	}

	// Its letter is taken from now on, whatever happens.
	last := number(p.ID)
	if err := w.saveIdentity(ctx, seen, func(id *Identity) { id.LastMon = max(id.LastMon, last) }); err != nil {
		return err
	}

	monmap, err := c.MonMap(ctx)
	if err != nil {
		return err
	}

	h, err := w.on(p.Host)
	if err != nil {
		return err
	}

	l := w.layout(seen, p.Host)
	seed := MonSeed{Monmap: monmap, Keyring: SeedKeyring(seen.Identity.MonSecret, seen.Identity.AdminKey)}

	if err := h.MakeMon(ctx, l, p.ID, seed); err != nil {
		return err
	}

	if err := w.start(ctx, h, seen, p, StartHow{Addr: p.Addr}); err != nil {
		return err
	}

	return w.awaitMon(ctx, c, p)
}

// awaitMon waits until the map knows the new monitor: before that, a look would take its
// store for a left-over.
func (w *worker) awaitMon(ctx context.Context, c *api.Cluster, p Placed) error {
	limit, cancel := context.WithTimeoutCause(ctx, quorumLimit*time.Second, errors.New("the monitor did not join in time"))
	defer cancel()

	return waiting.Until(limit, waiting.Quick, func(ctx context.Context) (waiting.Verdict, string, error) {
		q, err := c.Quorum(ctx)
		if err != nil {
			return waiting.Again, "", waiting.Transient(err)
		}

		if slices.Contains(q.Names, p.ID) {
			return waiting.Done, "", nil
		}

		return waiting.Again, p.String() + " is not in quorum yet", nil
	})
}

// removeMon takes a monitor out of the map, then ends it, then deletes its store: never below
// a quorum. With two left, the one that stays must be in quorum.
func (w *worker) removeMon(ctx context.Context, seen *Seen, p Placed) error {
	c, err := w.cluster(ctx, seen)
	if err != nil {
		return err
	}

	q, err := c.Quorum(ctx)
	if err != nil {
		return err
	}

	if slices.ContainsFunc(q.Mons, func(m api.Mon) bool { return m.Name == p.ID }) {
		if err := w.dropMon(ctx, c, q, p); err != nil {
			return err
		}
	}

	h := w.here(seen, p.Host)
	if h == nil {
		w.warn(fmt.Sprintf("%s was removed from the map only", p.Daemon),
			fmt.Sprintf("Its host %q does not answer. Its store stays there; the cluster does not let it in again.", p.Host))

		return nil
	}

	l := w.layout(seen, p.Host)
	if err := h.Stop(ctx, l, p.Daemon); err != nil {
		return err
	}

	// The session may have gone through the monitor that just ended.
	if w.via == p.Host {
		w.closeSession()
	}

	return h.Remove(ctx, l, p.Daemon)
}

// here returns a host that is known and answered; nil where there is none.
func (w *worker) here(seen *Seen, name string) Host {
	v := view{w: &w.Wanted, s: seen}

	h, known := v.host(name)
	if _, answered := v.reached(name); !known || !answered {
		return nil
	}

	return h.Host
}

func (w *worker) dropMon(ctx context.Context, c *api.Cluster, q api.Quorum, p Placed) error {
	if len(q.Mons) == 1 {
		return errors.New("it is the only monitor there is")
	}

	// Of two in quorum one alone is a quorum of the map of one; with one of two away there is none to ask.
	if slices.Contains(q.Names, p.ID) && len(q.Mons) > 2 {
		ok, err := c.MonOkToRemove(ctx, p.ID)
		if err != nil {
			return err
		}

		if !ok.OK {
			return fmt.Errorf("removing it would cost the quorum: %s. Bring the monitors that are down back first", ok.Words)
		}
	}

	return c.MonRemove(ctx, p.ID)
}
