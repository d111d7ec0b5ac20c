// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
)

// TestOldKeys_ofAKilledCreate kills a create that made keys: the next one has others, and nothing
// that runs is left with the old ones.
func TestOldKeys_ofAKilledCreate(t *testing.T) {
	t.Parallel()

	for n := range 8 {
		t.Run(fmt.Sprintf("change %d", n), func(t *testing.T) {
			t.Parallel()
			bubble(t, 2, func(r *rig) {
				with := func() cluster.Wanted {
					keys, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Algorithm: bootstrap.ECDSAP256, Now: time.Now()})
					if err != nil {
						r.t.Fatal(err)
					}

					w := wanted()
					w.Pools = w.Pools[:1]
					w.Bootstrap = &cluster.Bootstrap{Kubeadm: bootstrap.Kubeadm{Version: "v1.37.2"}, PKI: keys}

					return w
				}

				r.killed(n, n%2 == 0, with(), func(ctx context.Context, run *cluster.Run) cluster.Result { return run.Create(ctx) })

				w := with()

				res := r.run(w).Create(r.t.Context())
				if res.Err != nil || !res.Record.Ready {
					r.t.Fatal(res.Err, res.Stands)
				}

				s, err := r.another().Look(r.t.Context(), res.Record.Machines["edge-cp-0"].HostID)
				if err != nil {
					r.t.Fatal(err)
				}

				note, _ := s.Tenancy()
				if note.Keys == "" || note.Deployed != note.Deploying {
					r.t.Errorf("%+v", note)
				}

				r.service.ResetCounts()

				if again := r.run(w).Update(r.t.Context(), res.Record); again.Err != nil || r.changes() > 0 {
					r.t.Errorf("%v; %v", again.Err, r.service.Counts())
				}
			})
		})
	}
}
