// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// addMDS finds the metadata servers on the host.
func (h *host) addMDS(ctx context.Context, c *api.Cluster, known map[string]bool) error {
	all, err := c.Metadata(ctx, ceph.RoleMDS)
	if err != nil {
		return fmt.Errorf("look for MDS: %w", err)
	}

	for id, meta := range all {
		if meta.Hostname != "" {
			known[meta.Hostname] = true
		}

		if meta.Hostname == h.name {
			h.mds = append(h.mds, id)
		}
	}

	slices.Sort(h.mds)

	return nil
}

// mdsCanGo makes sure that each file system is served without the MDS of the host: for each that
// is active, another one stands by elsewhere.
func (h host) mdsCanGo(ctx context.Context, c *api.Cluster, say Say) error {
	if len(h.mds) == 0 {
		return nil
	}

	m, err := c.FSStatus(ctx)
	if err != nil {
		return fmt.Errorf("look at the file systems: %w", err)
	}

	here := func(name string) bool { return slices.Contains(h.mds, name) }
	elsewhere := func(all []string) int { return len(slices.DeleteFunc(slices.Clone(all), here)) }
	spare := elsewhere(m.Standbys)

	for _, name := range slices.Sorted(maps.Keys(m.FileSystems)) {
		ranks := m.FileSystems[name]

		active := slices.DeleteFunc(slices.Clone(ranks.Active), func(mds string) bool { return !here(mds) })
		if len(active) == 0 {
			continue
		}

		// Those that follow serve their own file system alone; others stand by for all.
		if spare -= max(0, len(active)-elsewhere(ranks.Replay)); spare < 0 {
			return fmt.Errorf("%w: file system %s is served by mds.%s, and no MDS stands by on another host to take over", ErrNotNow, name, strings.Join(active, ", mds."))
		}

		say("File system %s is served by mds.%s: another MDS takes over when it stops, and clients wait for that moment", name, strings.Join(active, ", mds."))
	}

	return nil
}
