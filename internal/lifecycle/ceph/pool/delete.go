// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Delete deletes a pool, with what was made for it alone. One that holds objects stays unless
// withData says otherwise. A pool that is gone already is no error.
func Delete(ctx context.Context, c *api.Cluster, which Which, withData bool) (warnings []string, err error) {
	seen, err := Look(ctx, c, which)
	if errors.Is(err, ErrNoPool) {
		return nil, nil
	}

	if err != nil {
		return nil, err
	}

	if !withData {
		if err := empty(ctx, c, seen.Name); err != nil {
			return nil, err
		}

		if err := StillEmpty(ctx, c, seen.Name); err != nil {
			return nil, err
		}
	}

	warnings = leftovers(ctx, c)

	err = permitted(ctx, c, allowDelete, func(ctx context.Context) error { return c.PoolDelete(ctx, seen.Name) })
	if err != nil {
		return warnings, fmt.Errorf("delete pool %s: %w", seen.Name, err)
	}

	for _, warning := range []string{dropRule(ctx, c, seen.Rule), dropProfile(ctx, c, seen.ErasureProfile)} {
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}

	return warnings, nil
}

// LagTime is how long the use of a pool that was just written to may be told wrong: the OSDs
// report every five seconds (mgr_stats_period), and the manager hands that on every two
// (mgr_tick_period).
const LagTime = 10 * time.Second

// StillEmpty waits until what was written last is known, and then makes sure that the pools hold
// nothing: ErrHoldsData says what they hold.
func StillEmpty(ctx context.Context, c *api.Cluster, names ...string) error {
	if err := wait.Sleep(ctx, LagTime); err != nil {
		return fmt.Errorf("wait for news of what the pools hold: %w", err)
	}

	for _, name := range names {
		if err := empty(ctx, c, name); err != nil {
			return err
		}
	}

	return nil
}

// empty makes sure that a pool holds nothing. The statistics come from the manager: without
// one they are of the past.
func empty(ctx context.Context, c *api.Cluster, name string) error {
	m, err := c.Mgr(ctx)
	if err != nil {
		return fmt.Errorf("look at what pool %s holds: %w", name, err)
	}

	use, err := c.PoolStats(ctx)
	if err != nil {
		return fmt.Errorf("look at what pool %s holds: %w", name, err)
	}

	u, there := use[name]

	switch {
	case !m.Available:
		return fmt.Errorf("%w: nobody knows what pool %s holds without one", api.ErrNoManager, name)
	case !there:
		return fmt.Errorf("%w: the cluster does not tell what pool %s holds", api.ErrAnswer, name)
	case u.Objects > 0 || u.Stored > 0:
		return fmt.Errorf("%w: %d objects with %d bytes are in %s", ErrHoldsData, u.Objects, u.Stored, name)
	default:
		return nil
	}
}
