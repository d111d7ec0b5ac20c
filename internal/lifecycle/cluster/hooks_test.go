// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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
				run.Hook = func(ctx context.Context, _ cluster.Machine, h cluster.Hook) error {
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

// TestHooks_afterADeployment: commands are run once for each deployment, as soon as the machine answers,
// whether or not anybody looks at its Node. One that fails is run again by the next apply, which its drift
// asks for.
func TestHooks_afterADeployment(t *testing.T) {
	t.Parallel()

	var ( // what the hook does at its nth run on a machine
		quick = func(int) error { return nil }
		boots = func(n int) error {
			if n < 4 {
				return remote.ErrUnreachable
			}

			return nil
		}
		never = func(int) error { return remote.ErrUnreachable }
		fails = func(n int) error {
			if n == 1 {
				return errors.New("it ended with status 1")
			}

			return nil
		}
	)

	for name, c := range map[string]struct {
		how  func(n int) error
		runs int // on each worker in the first apply
		err  bool
	}{"at once": {quick, 1, false}, "once it answers": {boots, 4, false}, "never": {never, 0, true}, "the second time": {fails, 1, true}} {
		for _, level := range []cluster.Level{cluster.LevelProvisioned, cluster.LevelRegistered} {
			t.Run(name+", "+string(level), func(t *testing.T) {
				t.Parallel()

				inWard(t, 1, 3, func(w *ward) {
					var mu sync.Mutex

					runs := map[string]int{}
					want := crew(1)
					want.Wait.Level = level
					want.Pools[1].PostProvision = []cluster.Hook{{Command: "welcome"}}

					apply := func(how func(n int) error) cluster.Result {
						clear(runs)

						run := w.verb(want)
						run.Hook = func(_ context.Context, m cluster.Machine, _ cluster.Hook) error {
							mu.Lock()
							defer mu.Unlock()

							runs[m.Name]++

							return how(runs[m.Name])
						}

						res := run.Update(w.t.Context(), w.record)
						w.record.Machines = res.Record.Machines

						return res
					}

					if res := apply(never); res.Err != nil || len(runs) > 0 {
						w.t.Fatalf("machines that were there before: %v, %v", res.Err, runs)
					}

					want.Pools[1].UserData.Constant, want.Pools[1].Rollout = "other", cluster.Rollout{Strategy: cluster.Rebuild, MaxUnavailable: cluster.Share{Number: 2}}

					res := apply(c.how)
					if (res.Err != nil) != c.err || c.err && !strings.Contains(res.Err.Error(), `hook "welcome"`) {
						w.t.Fatal(res.Err)
					}

					if c.runs > 0 && (runs[sick] != c.runs || runs["edge-w-1"] != c.runs) {
						w.t.Errorf("runs: %v", runs)
					}

					seen := w.verb(want).Refresh(w.t.Context(), w.record)
					if (len(seen.Record.Drift) > 0) != c.err {
						w.t.Errorf("drift: %v", seen.Record.Drift)
					}

					if res := apply(quick); res.Err != nil || c.err != (runs[sick] == 1) || c.err != (runs["edge-w-1"] == 1) {
						w.t.Errorf("the next apply: %v, %v", res.Err, runs)
					}
				})
			})
		}
	}
}
