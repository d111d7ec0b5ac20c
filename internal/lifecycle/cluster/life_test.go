// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
)

func TestLife_fromNothingToReadyAndBack(t *testing.T) {
	t.Parallel()

	bubble(t, 5, func(r *rig) {
		w := wanted()

		res := r.run(w).Create(r.t.Context())
		if res.Err != nil || !res.Record.Ready || len(res.Record.Machines) != 3 {
			r.t.Fatalf("%+v", res)
		}

		if m := res.Record.Machines["edge-w-1"]; m.State != cluster.StateActive || m.Addresses["prov"].Address != "192.0.2.111" || !m.UpToDate || m.HostName == "" {
			r.t.Errorf("%+v", m)
		}

		r.service.ResetCounts()

		again := r.run(w).Update(r.t.Context(), res.Record)
		if again.Err != nil || !again.Record.Ready || r.changes() > 0 {
			r.t.Errorf("a second apply: %+v; it sent %v", again, r.service.Counts())
		}

		seen := r.run(w).Refresh(r.t.Context(), res.Record)
		if seen.Err != nil || !seen.Record.Ready || len(seen.Record.Drift) > 0 {
			r.t.Errorf("refresh: %+v", seen)
		}

		w.Pools[1].Replicas = 4
		if res = r.run(w).Update(r.t.Context(), res.Record); res.Err != nil || !res.Record.Ready || len(res.Record.Machines) != 5 {
			r.t.Fatalf("grown: %+v", res)
		}

		w.Pools[1].Replicas = 1
		if res = r.run(w).Update(r.t.Context(), res.Record); res.Err != nil || !res.Record.Ready || len(res.Record.Machines) != 2 {
			r.t.Fatalf("shrunk: %+v", res)
		}

		img := *w.Pools[0].Image
		img.URL = "http://images.lab/debian-12.raw"
		w.Pools[0].Image, w.Pools[1].Image = &img, &img

		if res = r.run(w).Update(r.t.Context(), res.Record); res.Err != nil || !res.Record.Ready || res.Record.Machines["edge-cp-0"].ImageURL != img.URL {
			r.t.Fatalf("another image: %+v", res)
		}

		if res = r.run(w).Delete(r.t.Context(), res.Record); res.Err != nil || !res.Gone {
			r.t.Fatalf("deleted: %+v", res)
		}
	})
}
