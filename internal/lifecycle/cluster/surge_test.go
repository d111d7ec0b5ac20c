// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

// TestRollout_surge makes machines beside others: where no host is free for them, others go first, as far
// as some may be missing.
func TestRollout_surge(t *testing.T) {
	t.Parallel()

	names := []string{"edge-cp-0", "edge-w-0", "edge-w-1"}

	for name, c := range map[string]struct {
		hosts   int
		pool    int
		rollout cluster.Rollout
		want    []string // machines in the end
		warning string
		err     string
	}{
		"a host is free":                {hosts: 4, pool: 1, rollout: cluster.Rollout{MaxSurge: cluster.Share{Number: 1}}, want: []string{"edge-cp-0", "edge-w-0", "edge-w-2"}},
		"none is, and one may be gone":  {hosts: 3, pool: 1, rollout: cluster.Rollout{MaxSurge: cluster.Share{Number: 1}, MaxUnavailable: cluster.Share{Number: 1}}, want: names, warning: "1 at a time"},
		"none is, and all may be gone":  {hosts: 3, pool: 1, rollout: cluster.Rollout{MaxSurge: cluster.Share{Number: 1}, MaxUnavailable: cluster.Share{Number: 100, Percent: true}}, want: names, warning: "2 at a time"},
		"none is, and none may be gone": {hosts: 3, pool: 1, rollout: cluster.Rollout{MaxSurge: cluster.Share{Number: 1}}, err: "max_unavailable"},
		"the only control plane": {
			hosts: 3, pool: 0, rollout: cluster.Rollout{MaxSurge: cluster.Share{Number: 1}, MaxUnavailable: cluster.Share{Number: 1}}, err: "does not survive",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWard(t, 1, c.hosts, func(r *ward) {
				w, before := crew(1), r.record

				img := *w.Pools[c.pool].Image
				img.URL = "http://images.lab/debian-12.raw"
				w.Pools[c.pool].Image, w.Pools[c.pool].Rollout = &img, c.rollout
				w.Pools[c.pool].Rollout.Strategy = cluster.Replace

				res := r.verb(w).Update(r.t.Context(), before)
				if (c.err == "") != (res.Err == nil) || c.err != "" && !strings.Contains(res.Err.Error(), c.err) {
					r.t.Fatalf("%v", res.Err)
				}

				if c.err != "" {
					for _, name := range names {
						if now, was := res.Record.Machines[name], before.Machines[name]; now.HostID != was.HostID || now.Provisioned != was.Provisioned {
							r.t.Errorf("%s: %+v", name, now)
						}
					}

					return
				}

				var got []string
				for name := range res.Record.Machines {
					got = append(got, name)
				}

				if slices.Sort(got); !slices.Equal(got, c.want) || !res.Record.Ready {
					r.t.Errorf("machines %v, ready %t", got, res.Record.Ready)
				}

				if (c.warning != "") != (len(res.Warnings) == 1) || c.warning != "" && !warned(res, c.warning) {
					r.t.Errorf("warnings: %+v", res.Warnings)
				}
			})
		})
	}
}
