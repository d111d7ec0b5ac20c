// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"fmt"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// LagTime is how long the use of a pool that was just written to may be told wrong: the OSDs
// report every five seconds (mgr_stats_period), and the manager hands that on every two
// (mgr_tick_period). A pool that looks empty is looked at again after it.
const LagTime = 10 * time.Second

// PoolUse is what pools hold, by name. The statistics come from the manager: without one they
// are of the past, and that is api.ErrNoManager.
func PoolUse(ctx context.Context, c *api.Cluster) (map[string]api.PoolUse, error) {
	m, err := c.Mgr(ctx)
	if err != nil {
		return nil, err
	}

	if !m.Available {
		return nil, fmt.Errorf("%w: nobody knows what pools hold without one", api.ErrNoManager)
	}

	return c.PoolStats(ctx)
}

// HoldsData reports whether a pool is not empty.
func HoldsData(u api.PoolUse) bool { return u.Objects > 0 || u.Stored > 0 }
