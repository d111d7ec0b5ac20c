// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fs

import (
	"context"
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
)

// Removal is a file system that is to go.
type Removal struct {
	Name     string
	Hosts    []ceph.Host // that have an MDS of it
	WithData bool        // also where its pools for data hold objects
	// Left are the pools that an earlier try left behind, once the file system was gone.
	Left []pool.Which
	// Note is told which pools are left once the file system goes: nothing of the cluster says
	// later that they were its. It may be nil.
	Note func(left []pool.Which)
}

// Delete deletes a file system with its pools and its MDS. One whose pools for data hold
// objects stays unless WithData says otherwise. The file system is the last thing that goes
// before its pools: until its MDS are gone from all hosts, it is there to be deleted again.
func Delete(ctx context.Context, r *ceph.Reach, d Removal) (warnings []string, err error) {
	if d.Note == nil {
		d.Note = func([]pool.Which) {}
	}

	seen, err := Look(ctx, r.Cluster, d.Name)

	switch {
	case errors.Is(err, ErrNoFS):
		if err := drop(ctx, r, d.Name, d.Hosts); err != nil {
			return nil, err
		}

		return d.pools(ctx, r, d.Left)
	case err != nil:
		return nil, err
	}

	if err := d.stop(ctx, r, seen); err != nil {
		return nil, err
	}

	if err := drop(ctx, r, d.Name, d.Hosts); err != nil {
		return nil, fmt.Errorf("file system %s is stopped, and not all of its MDS are gone: %w", d.Name, err)
	}

	left := seen.which()
	d.Note(left)

	if err := r.FSRemove(ctx, d.Name); err != nil {
		return nil, fmt.Errorf("remove file system %s: %w", d.Name, err)
	}

	return d.pools(ctx, r, left)
}

// stop ends all service, once nothing speaks against it.
func (d Removal) stop(ctx context.Context, r *ceph.Reach, seen Seen) error {
	if !d.WithData {
		if err := pool.Empty(ctx, r.Cluster, seen.data()...); err != nil {
			return err //nolint:wrapcheck // it names the pool
		}
	}

	if err := r.FSFail(ctx, d.Name); err != nil {
		return fmt.Errorf("stop file system %s: %w", d.Name, err)
	}

	if !d.WithData {
		return seen.stillEmpty(ctx, r)
	}

	return nil
}

// pools deletes the pools of a file system that is gone. All are tried, and those that are left
// are noted.
func (d Removal) pools(ctx context.Context, r *ceph.Reach, all []pool.Which) (warnings []string, err error) {
	var (
		left     []pool.Which
		problems []error
	)

	for _, p := range all {
		// What they hold was looked at before the file system went; the pool for metadata is never empty.
		more, err := pool.Delete(ctx, r.Cluster, p, true)
		warnings = append(warnings, more...)

		if err != nil {
			left, problems = append(left, p), append(problems, fmt.Errorf("file system %s is gone, and pool %s is left: %w", d.Name, p.Name, err))
		}
	}

	d.Note(left)

	return warnings, errors.Join(problems...)
}

// which names the pools, by numbers that are never given twice.
func (s Seen) which() []pool.Which {
	var out []pool.Which

	for _, p := range append([]pool.Seen{s.Meta}, s.Data...) {
		if p.ID != 0 {
			out = append(out, pool.Which{ID: p.ID, Name: p.Name})
		}
	}

	return out
}

// data names the pools for data.
func (s Seen) data() []string {
	names := make([]string, len(s.Data))
	for i, p := range s.Data {
		names[i] = p.Name
	}

	return names
}

// stillEmpty looks once more, now that nobody can write. Where there is data after all, the file
// system is put into service again.
func (s Seen) stillEmpty(ctx context.Context, r *ceph.Reach) error {
	err := pool.StillEmpty(ctx, r.Cluster, s.data()...)
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
