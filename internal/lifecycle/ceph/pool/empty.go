// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// Empty makes sure that a pool holds nothing, and that this is not told of the past: it asks
// for an active manager. ErrHoldsData and api.ErrNoManager say why not.
func Empty(ctx context.Context, c *api.Cluster, name string) error { return empty(ctx, c, name) }
