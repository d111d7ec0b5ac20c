// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephvalue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

const anID = "11111111-2222-3333-4444-555555555555@h1/var/lib/ceph"

func unreached(reasons ...error) error { return &ceph.UnreachedError{Reasons: reasons} }

func TestAway(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no error":                              {nil, false},
		"no host is reached":                    {unreached(ceph.ErrUnreachable, fmt.Errorf("h2: %w", ceph.ErrUnreachable)), true},
		"one is not reached, one has no quorum": {unreached(ceph.ErrUnreachable, api.ErrNoQuorum), true},
		"one has another cluster":               {unreached(ceph.ErrUnreachable, ceph.ErrOtherCluster), false},
		"one says something else":               {unreached(ceph.ErrUnreachable, errors.New("no such folder")), false},
		"no host is known":                      {unreached(), false},
		"no quorum":                             {fmt.Errorf("look: %w", api.ErrNoQuorum), true},
		"the session broke":                     {api.ErrLost, true},
		"out of time":                           {context.DeadlineExceeded, true},
		"stopped by the user":                   {context.Canceled, false},
		"the key is not taken":                  {api.ErrPermission, false},
		"the key is not taken late":             {errors.Join(context.DeadlineExceeded, api.ErrPermission), false},
		"an answer that cannot be read":         {api.ErrAnswer, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := cephvalue.Away(c.err); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// far is a cluster that takes its time to be away.
type far struct {
	mu    sync.Mutex
	err   error
	tried int
}

func (f *far) Ceph(context.Context, string, *remote.Config) (*ceph.Reach, error) {
	time.Sleep(time.Minute)

	f.mu.Lock()
	defer f.mu.Unlock()

	f.tried++

	if f.err != nil {
		return nil, f.err
	}

	return &ceph.Reach{}, nil
}

func (f *far) SSHDefaults(context.Context) (remote.Config, error) { return remote.Config{}, nil }

func TestRefresh_ofManyThingsWaitsOnce(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := &far{err: unreached(ceph.ErrUnreachable)}
		refresh := func() (*ceph.Reach, diag.Diagnostics) {
			var diags diag.Diagnostics

			r := cephvalue.Refresh(t.Context(), f, types.StringValue(anID), cephvalue.NoConnection(), "Pool p", &diags)

			return r, diags
		}

		var all sync.WaitGroup

		start := time.Now()

		for range 30 {
			all.Go(func() {
				if r, diags := refresh(); r != nil || diags.HasError() || diags.WarningsCount() != 1 {
					t.Errorf("got %v, %v", r, diags)
				}
			})
		}

		all.Wait()

		if took := time.Since(start); f.tried != 1 || took > time.Minute {
			t.Errorf("tried %d times, in %s", f.tried, took)
		}

		f.err = nil

		// An apply always tries.
		var diags diag.Diagnostics
		if r := cephvalue.Reach(t.Context(), f, types.StringValue(anID), cephvalue.NoConnection(), &diags); r == nil {
			t.Errorf("an apply believed the refresh: %v", diags)
		}

		time.Sleep(31 * time.Second)

		if r, diags := refresh(); r == nil || len(diags) != 0 {
			t.Errorf("later: %v", diags)
		}
	})
}

func TestRefresh_ofAnotherClusterIsAnError(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var diags diag.Diagnostics

		cephvalue.Refresh(t.Context(), &far{err: unreached(ceph.ErrUnreachable, ceph.ErrOtherCluster)}, types.StringValue(anID), cephvalue.NoConnection(), "Pool p", &diags)

		if !diags.HasError() {
			t.Errorf("got %v", diags)
		}
	})
}
