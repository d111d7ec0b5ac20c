// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// afterTime is for looking at what stands once a verb has ended.
const afterTime = 30 * time.Second

// heardTime is how long a standby may take until the cluster hears it.
const heardTime = 30 * time.Second

// Create makes a file system that is not there yet, and waits until it is served. It reports
// whether the file system stands, also when it returns an error.
func Create(ctx context.Context, r *ceph.Reach, w Wanted) (seen Seen, made bool, err error) {
	switch _, err := Look(ctx, r.Cluster, w.Name); {
	case err == nil:
		return Seen{}, false, fmt.Errorf("%w: %s", ErrExists, w.Name)
	case !errors.Is(err, ErrNoFS):
		return Seen{}, false, err
	}

	// All hosts are looked at before anything is made.
	servers, err := w.servers(ctx, r)
	if err != nil {
		return Seen{}, false, err
	}

	if err := w.make(ctx, r.Cluster); err != nil {
		return Seen{}, false, err
	}

	seen, err = finish(ctx, r, w, servers)

	return seen, true, err
}

// make makes the pools and the file system on them.
func (w Wanted) make(ctx context.Context, c *api.Cluster) error {
	for _, p := range append([]pool.Wanted{w.Meta}, w.Data...) {
		if err := take(ctx, c, p); err != nil {
			return err
		}
	}

	if len(w.Data) == 0 {
		return errors.New("a file system needs a pool for its data")
	}

	if err := c.FSNew(ctx, w.Name, w.Meta.Name, w.Data[0].Name); err != nil {
		return fmt.Errorf("create file system %s: %w", w.Name, err)
	}

	return nil
}

// take makes a pool, or takes the one that an earlier try made: it is empty, and for nothing yet.
func take(ctx context.Context, c *api.Cluster, w pool.Wanted) error {
	_, _, err := pool.Create(ctx, c, w)
	if !errors.Is(err, pool.ErrExists) {
		return err
	}

	seen, lookErr := pool.Look(ctx, c, pool.Which{Name: w.Name})
	if lookErr != nil {
		return lookErr
	}

	if seen.Objects > 0 || len(seen.Applications) > 0 || seen.Type != pool.Replicated {
		return fmt.Errorf("%w, and it is in use; give the pool of the file system another name", err)
	}

	_, err = pool.Update(ctx, c, pool.Which{ID: seen.ID, Name: seen.Name}, w)

	return err
}

// finish brings all but the pools in line, and waits until the file system is served.
func finish(ctx context.Context, r *ceph.Reach, w Wanted, servers []server) (seen Seen, err error) {
	var silent []string

	if err = w.serve(ctx, r, servers); err == nil {
		silent = w.listen(ctx, r, servers)
	}

	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTime)
	defer cancel()

	seen, lookErr := Look(look, r.Cluster, w.Name)
	if err == nil {
		err = lookErr
	}

	if lookErr == nil {
		for _, s := range servers {
			m := seen.MDS[s.daemon.ID]
			m.Host = s.hostname
			seen.MDS[s.daemon.ID] = m
		}
	}

	if len(silent) > 0 {
		seen.Warnings = append(seen.Warnings, fmt.Sprintf("mds.%s is started, and the cluster does not hear it within %s; look at its log", strings.Join(silent, ", mds."), heardTime))
	}

	return seen, err
}

func (w Wanted) serve(ctx context.Context, r *ceph.Reach, servers []server) error {
	for _, p := range w.Data {
		// One that it has is no error.
		if err := r.FSAddDataPool(ctx, w.Name, p.Name); err != nil {
			return fmt.Errorf("give file system %s the pool %s: %w", w.Name, p.Name, err)
		}
	}

	for _, s := range servers {
		if err := s.start(ctx, r, w.Name); err != nil {
			return err
		}
	}

	for _, one := range [][2]string{{"max_mds", strconv.Itoa(w.Active)}, {"allow_standby_replay", strconv.FormatBool(w.Standby)}, {"joinable", "true"}} {
		if err := r.FSSet(ctx, w.Name, one[0], one[1]); err != nil {
			return fmt.Errorf("set %s of file system %s to %s: %w", one[0], w.Name, one[1], err)
		}
	}

	err := wait.Until(ctx, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		status, err := r.FSStatus(ctx)
		if err != nil {
			return wait.Again, "", fmt.Errorf("look at file system %s: %w", w.Name, err)
		}

		ranks := status.FileSystems[w.Name]
		if len(ranks.Active) == w.Active && ranks.Damaged == 0 {
			return wait.Done, "", nil
		}

		return wait.Again, w.note(ranks), nil
	})
	if err != nil {
		return fmt.Errorf("wait until file system %s is served: %w", w.Name, err)
	}

	return nil
}

// listen waits for those MDS, too, that only stand by, and returns those that the cluster does not
// hear: the file system is served without them.
func (w Wanted) listen(ctx context.Context, r *ceph.Reach, servers []server) (silent []string) {
	limited, cancel := context.WithTimeout(ctx, heardTime)
	defer cancel()

	_ = wait.Until(limited, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		status, err := r.FSStatus(ctx)
		if err != nil {
			return wait.Again, "", fmt.Errorf("look at file system %s: %w", w.Name, err)
		}

		silent = nil

		for up, i := heard(status), 0; i < len(servers); i++ {
			if id := servers[i].daemon.ID; !up[id] {
				silent = append(silent, id)
			}
		}

		if len(silent) > 0 {
			return wait.Again, strings.Join(silent, ", ") + " cannot be heard", nil
		}

		return wait.Done, "", nil
	})

	return silent
}

func (w Wanted) note(r api.FSRanks) string {
	parts := []string{fmt.Sprintf("%d of %d MDS are active", len(r.Active), w.Active)}

	if r.Damaged > 0 {
		parts = append(parts, fmt.Sprintf("%d ranks are damaged", r.Damaged))
	}

	for name, state := range r.Other {
		parts = append(parts, name+" is "+state)
	}

	return strings.Join(parts, ", ")
}
