// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
)

// Update brings a file system in line with what is wanted. Pools that are no longer wanted are
// taken away, unless they hold data and withData does not allow that.
func Update(ctx context.Context, r *ceph.Reach, w Wanted, withData bool) (Seen, error) {
	seen, err := Look(ctx, r.Cluster, w.Name)
	if err != nil {
		return Seen{}, err
	}

	servers, err := w.servers(ctx, r)
	if err != nil {
		return seen, err
	}

	if err := w.pools(ctx, r.Cluster, seen); err != nil {
		return seen, err
	}

	after, err := finish(ctx, r, w, servers)
	if err != nil {
		return after, err
	}

	// What goes, goes last: until then all is served as before.
	gone, err := w.dropFormer(ctx, r, servers)
	if err != nil {
		return after, err
	}

	if err := w.dropPools(ctx, r.Cluster, seen, withData); err != nil {
		return after, err
	}

	hosts, said := after.MDS, after.Warnings

	after, err = Look(ctx, r.Cluster, w.Name)
	for name, m := range after.MDS {
		if m.Host == "" {
			m.Host = hosts[name].Host
			after.MDS[name] = m
		}
	}

	after.Warnings = slices.Concat(after.Warnings, said, gone)

	return after, err
}

// former are the hosts that lose their MDS. One that is wanted under another name is none.
func (w Wanted) former(keep []server) []ceph.Host {
	return slices.DeleteFunc(slices.Clone(w.Former), func(h ceph.Host) bool {
		return slices.ContainsFunc(keep, func(s server) bool { return s.host.Name() == h.Name() })
	})
}

// pools changes the pools that are there, and makes those that are not.
func (w Wanted) pools(ctx context.Context, c *api.Cluster, seen Seen) error {
	have := map[string]pool.Seen{seen.Meta.Name: seen.Meta}
	for _, p := range seen.Data {
		have[p.Name] = p
	}

	if seen.Meta.Name != w.Meta.Name {
		return fmt.Errorf("the pool for metadata is %s and cannot become another one", seen.Meta.Name)
	}

	if len(seen.Data) > 0 && len(w.Data) > 0 && seen.Data[0].Name != w.Data[0].Name {
		return fmt.Errorf("the first pool for data is %s and cannot become another one", seen.Data[0].Name)
	}

	for _, p := range append([]pool.Wanted{w.Meta}, w.Data...) {
		was, there := have[p.Name]

		var err error

		switch {
		case there:
			// What nobody asks for here stays as it is.
			p.QuotaBytes, p.QuotaObjects, p.Compression = was.QuotaBytes, was.QuotaObjects, was.Compression
			_, err = pool.Update(ctx, c, pool.Which{ID: was.ID, Name: was.Name}, p)
		default:
			err = take(ctx, c, p)
		}

		if err != nil {
			return err
		}
	}

	return nil
}

// dropPools takes away the pools for data that were wanted and are no longer.
func (w Wanted) dropPools(ctx context.Context, c *api.Cluster, seen Seen, withData bool) error {
	for _, p := range seen.Data {
		if !slices.Contains(w.Drop, p.Name) {
			continue
		}

		if !withData {
			if err := pool.Empty(ctx, c, p.Name); err != nil {
				return fmt.Errorf("take pool %s from file system %s: %w", p.Name, w.Name, err)
			}
		}

		if err := c.FSRemoveDataPool(ctx, w.Name, p.Name); err != nil {
			return fmt.Errorf("take pool %s from file system %s: %w", p.Name, w.Name, err)
		}

		if _, err := pool.Delete(ctx, c, pool.Which{ID: p.ID, Name: p.Name}, withData); err != nil {
			// A pool of the file system is seen, and tried again.
			if back := c.FSAddDataPool(ctx, w.Name, p.Name); back != nil {
				err = errors.Join(err, fmt.Errorf("give pool %s back to file system %s: %w", p.Name, w.Name, back))
			}

			return err
		}
	}

	return nil
}
