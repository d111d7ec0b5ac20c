// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

// TestHooks_nobodyAskedTheMachine has hooks before a machine leaves fail in ways that say nothing of the
// machine: it lives, and stays.
func TestHooks_nobodyAskedTheMachine(t *testing.T) {
	t.Parallel()

	for name, err := range map[string]error{
		"no address is known":   fmt.Errorf("%w: no address", remote.ErrConfig),
		"its name is not known": fmt.Errorf("%w: %w", remote.ErrUnreachable, &net.DNSError{Err: "no such host", IsNotFound: true}),
		"no way to its network": fmt.Errorf("%w: %w", remote.ErrUnreachable, syscall.ENETUNREACH),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			bubble(t, 3, func(r *rig) {
				want := wanted()
				want.Pools[1].PreDeprovision = []cluster.Hook{{Command: "bye"}}
				was := r.run(want).Create(r.t.Context()).Record

				want.Pools[1].Replicas = 1
				run := r.run(want)
				run.Hook = func(context.Context, cluster.Machine, cluster.Hook) error { return err }

				res := run.Update(r.t.Context(), was)
				if m, there := res.Record.Machines["edge-w-1"]; !there || m.HostID == "" || res.Err == nil || !strings.Contains(res.Err.Error(), err.Error()) {
					r.t.Errorf("%+v, %v", m, res.Err)
				}
			})
		})
	}
}

// TestHooks_howLongTheFirstMayTake: a machine that boots is waited for so long, and no mistake of the
// configuration is; the command itself has the time of the verb.
func TestHooks_howLongTheFirstMayTake(t *testing.T) {
	t.Parallel()

	const (
		limit = 5 * time.Minute
		long  = 40 * time.Minute
	)

	for name, c := range map[string]struct {
		how         func(context.Context) error
		least, most time.Duration // from the first run on
		want        string        // of the error; empty: there is none
	}{
		"no address is known": {func(context.Context) error { return fmt.Errorf("%w: no address", remote.ErrConfig) }, 0, time.Second, "no address"},
		"it never answers":    {func(context.Context) error { return remote.ErrUnreachable }, limit, limit + time.Minute, "not reached"},
		"it takes its time":   {func(ctx context.Context) error { return lasts(ctx, long) }, long, long + time.Minute, ""},
		"it fails after long": {func(ctx context.Context) error { return errors.Join(lasts(ctx, long), errors.New("status 1")) }, long, long + time.Minute, "status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			bubble(t, 3, func(r *rig) {
				want := wanted()
				want.Wait.NodeTimeout = limit
				want.Pools[0].PostProvision = []cluster.Hook{{Command: "welcome"}}

				var began, ended time.Time

				run := r.run(want)
				run.Hook = func(ctx context.Context, _ cluster.Machine, _ cluster.Hook) error {
					if began.IsZero() {
						began = time.Now()
					}

					defer func() { ended = time.Now() }()

					return c.how(ctx)
				}

				res := run.Create(r.t.Context())
				if (res.Err != nil) != (c.want != "") || res.Err != nil && !strings.Contains(res.Err.Error(), c.want) {
					r.t.Error(res.Err)
				}

				if took := ended.Sub(began); took < c.least*9/10 || took > c.most {
					r.t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// lasts is a command that takes so long.
func lasts(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TestRefresh_whatAnApplyThatOnlyClaimsLeaves: what no apply sees to is no drift.
func TestRefresh_whatAnApplyThatOnlyClaimsLeaves(t *testing.T) {
	t.Parallel()

	bubble(t, 3, func(r *rig) {
		want := wanted()
		want.Pools[1].PostProvision = []cluster.Hook{{Command: "welcome"}}

		run := r.run(want)
		run.Hook = func(context.Context, cluster.Machine, cluster.Hook) error { return errors.New("status 1") }

		was := run.Create(r.t.Context()).Record
		if err := r.another().Power(r.t.Context(), was.Machines["edge-cp-0"].HostID, ironic.PowerOff); err != nil {
			r.t.Fatal(err)
		}

		time.Sleep(time.Minute)

		for level, drifts := range map[cluster.Level]int{cluster.LevelProvisioned: 3, cluster.LevelClaimed: 0} {
			want.Wait.Level = level

			run := r.run(want)
			run.Hook = func(context.Context, cluster.Machine, cluster.Hook) error { return errors.New("nobody runs it") }

			if level == cluster.LevelClaimed {
				if res := run.Update(r.t.Context(), was); res.Err != nil {
					r.t.Error(res.Err)
				}
			}

			if got := r.run(want).Refresh(r.t.Context(), was).Record.Drift; len(got) != drifts {
				r.t.Errorf("with wait.level = %q: %v", level, got)
			}
		}
	})
}
