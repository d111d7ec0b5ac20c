// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
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
		if err := Empty(ctx, c, seen.Name); err != nil {
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

// StillEmpty waits until what was written last is known, and then makes sure that the pools hold
// nothing: ErrHoldsData says what they hold.
func StillEmpty(ctx context.Context, c *api.Cluster, names ...string) error {
	if err := wait.Sleep(ctx, ceph.LagTime); err != nil {
		return fmt.Errorf("wait for news of what the pools hold: %w", err)
	}

	return Empty(ctx, c, names...)
}

// Empty makes sure that pools hold nothing, and that this is not told of the past: it asks for an
// active manager. ErrHoldsData and api.ErrNoManager say why not.
func Empty(ctx context.Context, c *api.Cluster, names ...string) error {
	use, err := ceph.PoolUse(ctx, c)
	if err != nil {
		return fmt.Errorf("look at what pool %s holds: %w", strings.Join(names, ", "), err)
	}

	for _, name := range names {
		switch u, there := use[name]; {
		case !there:
			return fmt.Errorf("%w: the cluster does not tell what pool %s holds", api.ErrAnswer, name)
		case ceph.HoldsData(u):
			return fmt.Errorf("%w: %d objects with %d bytes are in %s", ErrHoldsData, u.Objects, u.Stored, name)
		}
	}

	return nil
}
