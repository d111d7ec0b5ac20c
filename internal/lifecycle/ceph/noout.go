// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// The flag that keeps the OSDs of a host from being marked out while they are restarted, and where
// the cluster is told that it is ours: what people set is not ours to take away.
const (
	noout    = "noout"
	nooutKey = "metal3/noout/"
)

// exempt sets noout for a host, and returns what takes it away again. Where somebody set it before,
// it stays.
func exempt(ctx context.Context, c *api.Cluster, host string) (free func() error, err error) {
	m, err := c.OSDMap(ctx)
	if err != nil {
		return nil, err
	}

	if slices.Contains(m.NoOutHosts, host) {
		return func() error { return nil }, nil
	}

	// Whatever happens, the host must not stay exempt.
	free = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()

		return unexempt(ctx, c, host)
	}

	// The note comes first: a flag without one would be somebody else's.
	if err := c.ConfigKeySet(ctx, nooutKey+host, []byte("set by an upgrade")); err != nil {
		return nil, err
	}

	if err := c.OSDSetGroup(ctx, noout, host); err != nil && !errors.Is(err, api.ErrInvalid) {
		return nil, errors.Join(err, free())
	}

	return free, nil
}

func unexempt(ctx context.Context, c *api.Cluster, host string) error {
	if err := c.OSDUnsetGroup(ctx, noout, host); err != nil && !errors.Is(err, api.ErrInvalid) {
		return fmt.Errorf("the flag noout stays on %s, take it away with `ceph osd unset-group noout %s`: %w", host, host, err)
	}

	return c.ConfigKeyRemove(ctx, nooutKey+host)
}

// endExemptions takes away the flags that an upgrade set and could not take away, for it was killed.
func (w *worker) endExemptions(ctx context.Context, seen *Seen) {
	if w.External != nil || seen.Cluster == nil || len(seen.Cluster.OSDMap.NoOutHosts) == 0 {
		return
	}

	c, err := w.cluster(ctx, seen)
	if err != nil {
		return // the next apply does it
	}

	for _, host := range seen.Cluster.OSDMap.NoOutHosts {
		if note, err := c.ConfigKeyGet(ctx, nooutKey+host); err != nil || len(note) == 0 {
			continue
		}

		w.log(ctx, "taking the flag noout from "+host+": an upgrade that was cut off left it")

		if err := unexempt(ctx, c, host); err != nil {
			w.warn("The flag noout stays on "+host, err.Error())
		}
	}
}
