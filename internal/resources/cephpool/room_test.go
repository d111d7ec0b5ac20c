// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

const (
	fsid = "4b5c8c0a-ff60-454b-a1b4-9747aa737d19"
	way  = fsid + "@h1/var/lib/c"
)

type doc = map[string]any

// world is a cluster with one pool at most.
type world struct {
	mu     sync.Mutex
	pool   bool
	away   bool
	cancel context.CancelCauseFunc // called when a pool is made
}

type host struct {
	ceph.Host

	of *world
}

func (h host) Name() string { return "root@h1" }

func (h host) Connect(context.Context, ceph.Layout) (api.Commander, error) {
	if h.of.away {
		return nil, ceph.ErrUnreachable
	}

	return session{of: h.of}, nil
}

type session struct {
	api.Commander

	of *world
}

func (session) Close() error { return nil }

func (s session) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()

	var c doc
	if err := json.Unmarshal(cmd, &c); err != nil || ctx.Err() != nil {
		return nil, "", ctx.Err()
	}

	if s.of.away {
		return nil, "", api.ErrLost
	}

	switch prefix := c["prefix"]; prefix {
	case "fsid":
		return []byte(fsid), "", nil
	case "osd pool create":
		s.of.pool = true

		if s.of.cancel != nil {
			s.of.cancel(context.Canceled)
		}
	case "osd pool application enable":
	case "config-key get":
		return nil, "", api.ErrNotFound
	case "osd pool get":
		if !s.of.pool {
			return nil, "", api.ErrNotFound
		}

		return []byte(`{"size":3}`), "", nil
	case "osd dump":
		pools := []any{}
		if s.of.pool {
			pools = append(pools, doc{"pool": 1, "pool_name": "p", "size": 3, "min_size": 2, "pg_num": 32, "pg_autoscale_mode": "on"})
		}

		text, err := json.Marshal(doc{"epoch": 1, "osds": []any{}, "pools": pools})

		return text, "", err
	case "osd tree":
		return []byte(`{"nodes":[]}`), "", nil
	case "df":
		return []byte(`{"pools":[]}`), "", nil
	default:
		return []byte(`[]`), "", nil
	}

	return nil, "", nil
}

// TestPool_interrupted ends a creation once the pool stands: the state is as planned, and whole.
func TestPool_interrupted(t *testing.T) {
	t.Parallel()

	w := &world{}
	core := acctest.NewCore(t, "metal3_ceph_pool", nil, provider.WithCephHost(func(remote.Config) ceph.Host { return host{of: w} }))

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)

	w.cancel = cancel

	o := core.Apply(ctx, acctest.Map{"cluster_id": way, "name": "p", "size": 2, "application": "rbd"})
	if o.Errors != "" || !core.Exists() || !strings.Contains(o.Warnings, "interrupted") || core.Get("application") != "rbd" {
		t.Fatalf("in the state: %t, %v: %s %s", core.Exists(), core.Get("application"), o.Warnings, o.Errors)
	}

	// A refresh while nobody answers keeps all, and says so.
	w.away = true

	if o := core.Refresh(t.Context()); o.Errors != "" || !core.Exists() || !strings.Contains(o.Warnings, "is not refreshed") {
		t.Errorf("away: in the state: %t: %s %s", core.Exists(), o.Warnings, o.Errors)
	}
}
