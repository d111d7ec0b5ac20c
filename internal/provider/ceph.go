// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
	"context"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/cephcluster"
)

// WithCephHost gives rooms hosts of a Ceph cluster instead of connections to them.
func WithCephHost(host func(cfg remote.Config) ceph.Host) Option {
	return func(o *options) { o.cephHost = host }
}

// WithCephRun gives the Ceph cluster other verbs than those of its life cycle.
func WithCephRun(run func(ceph.Run) cephcluster.Verbs) Option {
	return func(o *options) { o.cephRun = run }
}

// CephHost returns what is done on a host of a Ceph cluster, over the connection that all
// rooms share. It connects at the first need.
func (s *services) CephHost(_ context.Context, cfg remote.Config) (ceph.Host, error) {
	if s.options.cephHost != nil {
		return s.options.cephHost(cfg), nil
	}

	host, err := s.pool().Host(cfg)
	if err != nil {
		return nil, fmt.Errorf("connection to %s: %w", cmp.Or(cfg.Host, "this machine"), err)
	}

	return onhost.New(host), nil
}

// CephRun returns the verbs of one Ceph cluster.
func (s *services) CephRun(run ceph.Run) cephcluster.Verbs {
	if s.options.cephRun != nil {
		return s.options.cephRun(run)
	}

	return &run
}

// pool are the connections to machines that all rooms share.
func (s *services) pool() *remote.Pool {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.nodes == nil {
		s.nodes = remote.NewPool()
	}

	return s.nodes
}

// OwnerID marks what the configuration owns.
func (s *services) OwnerID() string { return s.settings.defaults.OwnerID }
