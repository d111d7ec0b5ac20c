// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"

	lab "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

// TestCreate_findsHostsOnTheLastPage has a thousand hosts, which Ironic lists a hundred at a time, and
// only the last three of them can be had.
func TestCreate_findsHostsOnTheLastPage(t *testing.T) {
	t.Parallel()

	t.Run("11.2 a thousand hosts in pages of a hundred", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := lab.New(store.New(""), lab.Options{Pace: time.Second, PageSize: 100, Machines: machine.Options{Count: 3}})
			s.KeepRequests()

			for i := range 997 {
				q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/nodes", strings.NewReader(fmt.Sprintf(`{"driver": "fake-hardware", "name": "metal3~other-%d"}`, i)))
				q.Header.Set("X-OpenStack-Ironic-API-Version", "1.82")

				w := httptest.NewRecorder()
				if s.ServeHTTP(w, q); w.Code != http.StatusCreated {
					t.Fatalf("host %d: %d %s", i, w.Code, w.Body)
				}
			}

			r := &rig{t: t, service: s}
			r.far = r.another()

			for i := range 3 {
				r.register(i)
			}

			s.ResetCounts()

			res := r.run(wanted()).Create(t.Context())
			if res.Err != nil || !res.Record.Ready || len(r.claims()) != 3 {
				t.Fatalf("%v: %s", res.Err, res.Stands)
			}

			further := 0

			for _, q := range s.Requests() {
				if q.Method == http.MethodGet && strings.HasPrefix(q.Path, "/v1/nodes") && strings.Contains(q.Query, "marker=") {
					further++
				}
			}

			if further < 9 {
				t.Errorf("it asked for %d further pages", further)
			}
		})
	})
}
