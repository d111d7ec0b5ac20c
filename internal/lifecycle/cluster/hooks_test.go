// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

// TestHooks_beforeAMachineLeaves: a user's command that fails keeps a machine that lives, and a dead one
// has nobody to run it; what nobody asked for keeps none.
func TestHooks_beforeAMachineLeaves(t *testing.T) {
	t.Parallel()

	var (
		bye      = cluster.Hook{Command: "bye"}
		farewell = cluster.Hook{Command: "farewell"}
		reset    = cluster.Hook{Command: "reset", Timeout: 2 * time.Minute, BestEffort: true}
	)

	dead := fmt.Errorf("connect: %w: no answer within 30s", remote.ErrUnreachable)

	for name, c := range map[string]struct {
		hooks []cluster.Hook
		err   error    // of the first one; nil: it does not end by itself
		off   bool     // the machine is
		runs  []string // what is begun
		stays string   // what the error says; empty: the machine goes
		warns []string // what the warning says
	}{
		"a user's command fails":                 {[]cluster.Hook{bye, farewell}, errors.New("status 1"), false, []string{"bye"}, `hook "bye": status 1`, nil},
		"a user's command, and login is refused": {[]cluster.Hook{bye, farewell}, remote.ErrAuth, false, []string{"bye"}, `hook "bye"`, nil},
		"a user's command, and nobody listens":   {[]cluster.Hook{bye}, fmt.Errorf("%w: %w", remote.ErrUnreachable, syscall.ECONNREFUSED), false, []string{"bye"}, `hook "bye"`, nil},
		"a user's commands on a dead machine":    {[]cluster.Hook{bye, farewell}, dead, false, []string{"bye"}, "", []string{`"bye", "farewell"`, "no answer within 30s"}},
		"a user's commands on a machine off":     {[]cluster.Hook{bye, farewell}, nil, true, nil, "", []string{`"bye", "farewell"`, "powered off"}},
		"the default fails":                      {[]cluster.Hook{reset}, errors.New("status 1"), false, []string{"reset"}, "", []string{`"reset"`, "status 1"}},
		"the default on a dead machine":          {[]cluster.Hook{reset}, dead, false, []string{"reset"}, "", []string{`"reset"`, "no answer"}},
		"the default hangs":                      {[]cluster.Hook{reset}, nil, false, []string{"reset"}, "", []string{`"reset"`, "deadline"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			bubble(t, 3, func(r *rig) {
				want := wanted()
				want.Pools[1].PreDeprovision = c.hooks

				was := r.run(want).Create(r.t.Context()).Record
				if c.off {
					if err := r.another().Power(r.t.Context(), was.Machines["edge-w-1"].HostID, ironic.PowerOff); err != nil {
						r.t.Fatal(err)
					}

					time.Sleep(time.Minute)
				}

				var runs []string

				want.Pools[1].Replicas = 1
				run := r.run(want)
				run.Hook = func(ctx context.Context, m cluster.Machine, h cluster.Hook) error {
					if runs = append(runs, h.Command); c.err != nil {
						return c.err
					}

					<-ctx.Done()

					return ctx.Err()
				}

				began := time.Now()

				res := run.Update(r.t.Context(), was)
				if took := time.Since(began); took > 10*time.Minute || !slices.Equal(runs, c.runs) {
					r.t.Errorf("after %s: %v", took, runs)
				}

				if _, there := res.Record.Machines["edge-w-1"]; there != (c.stays != "") || (res.Err == nil) == there {
					r.t.Fatalf("it is there: %t; %v", there, res.Err)
				}

				if c.stays != "" && !strings.Contains(res.Err.Error(), c.stays) {
					r.t.Error(res.Err)
				}

				for _, text := range c.warns {
					if !slices.ContainsFunc(res.Warnings, func(w cluster.Warning) bool {
						return strings.Contains(w.Summary, "edge-w-1") && strings.Contains(w.Detail, text)
					}) {
						r.t.Errorf("no %q in %+v", text, res.Warnings)
					}
				}

				if len(c.warns) == 0 && len(res.Warnings) > 0 {
					r.t.Errorf("%+v", res.Warnings)
				}
			})
		})
	}
}

// TestHooks_afterADeployment: a machine that nobody reaches then is not what the user wanted.
func TestHooks_afterADeployment(t *testing.T) {
	t.Parallel()

	inWard(t, 1, 3, func(w *ward) {
		want := watched(1)
		want.Pools[1].PostProvision = []cluster.Hook{{Command: "welcome"}}

		run := w.verb(want)
		run.Hook = func(context.Context, cluster.Machine, cluster.Hook) error { return remote.ErrUnreachable }

		w.says(run.Update(w.t.Context(), w.record).Err, `hook "welcome"`, sick)
	})
}
