// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"fmt"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// placeHost brings a host to its place in the CRUSH map.
func placeHost(ctx context.Context, c *api.Cluster, s Setting, osds []api.OSD) error {
	for _, m := range moves(s, osds) {
		if m.kind != "" {
			if err := c.CrushAddBucket(ctx, m.name, m.kind); err != nil {
				return fmt.Errorf("%s %s: %w", m.kind, m.name, err)
			}
		}

		if len(m.below) == 0 {
			continue // the root
		}

		if err := c.CrushMove(ctx, m.name, m.below); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}

	return nil
}
