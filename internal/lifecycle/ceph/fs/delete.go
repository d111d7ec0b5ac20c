// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// lagTime is how long the use of a pool that was just written to may be told wrong.
const lagTime = 6 * time.Second

// Delete deletes a file system with its pools and its MDS. One whose pools for data hold
// objects stays unless withData says otherwise. The file system is the last thing that goes
// before its pools: until its MDS are gone from all hosts, it is there to be deleted again.
func Delete(ctx context.Context, r *ceph.Reach, name string, hosts []ceph.Host, withData bool) (warnings []string, err error) {
	seen, err := Look(ctx, r.Cluster, name)

	switch {
	case errors.Is(err, ErrNoFS):
		return nil, drop(ctx, r, name, hosts)
	case err != nil:
		return nil, err
	}

	if !withData {
		if err := seen.empty(); err != nil {
			return nil, err
		}
	}

	if err := r.FSFail(ctx, name); err != nil {
		return nil, fmt.Errorf("stop file system %s: %w", name, err)
	}

	if !withData {
		if err := seen.stillEmpty(ctx, r); err != nil {
			return nil, err
		}
	}

	if err := drop(ctx, r, name, hosts); err != nil {
		return nil, fmt.Errorf("file system %s is stopped, and not all of its MDS are gone: %w", name, err)
	}

	if err := r.FSRemove(ctx, name); err != nil {
		return nil, fmt.Errorf("remove file system %s: %w", name, err)
	}

	for _, p := range append([]pool.Seen{seen.Meta}, seen.Data...) {
		// What they hold was looked at above; the pool for metadata is never empty.
		more, err := pool.Delete(ctx, r.Cluster, pool.Which{ID: p.ID, Name: p.Name}, true)
		warnings = append(warnings, more...)

		if err != nil {
			return warnings, fmt.Errorf("file system %s is gone, and pool %s is left: %w", name, p.Name, err)
		}
	}

	return warnings, nil
}

func (s Seen) empty() error {
	for _, p := range s.Data {
		if p.Objects > 0 {
			return fmt.Errorf("%w: %d objects, which take %d bytes, are in %s", pool.ErrHoldsData, p.Objects, p.UsedBytes, p.Name)
		}
	}

	return nil
}

// stillEmpty looks once more, now that nobody can write. Where there is data after all, the file
// system is put into service again.
func (s Seen) stillEmpty(ctx context.Context, r *ceph.Reach) error {
	err := wait.Sleep(ctx, lagTime)
	if err == nil {
		var now Seen

		if now, err = Look(ctx, r.Cluster, s.Name); err == nil {
			err = now.empty()
		}
	}

	if err == nil {
		return nil
	}

	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTime)
	defer cancel()

	if again := r.FSSet(back, s.Name, "joinable", "true"); again != nil {
		err = errors.Join(err, fmt.Errorf("file system %s was stopped and is not in service again: %w", s.Name, again))
	}

	return err
}
