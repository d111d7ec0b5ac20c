// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/bmc"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// BenchmarkSystem is the request that conductors send most, on one listener for many machines.
func BenchmarkSystem(b *testing.B) {
	for name, path := range map[string]string{"memory": "", "file": filepath.Join(b.TempDir(), "lab.db")} {
		b.Run(name, func(b *testing.B) {
			st := store.New(path)
			if err := st.Update(func(tx store.Tx) error { return machine.Ensure(tx, machine.Options{Count: 60}) }); err != nil {
				b.Fatal(err)
			}

			h := bmc.New(st, bmc.Options{}).Shared()
			req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/redfish/v1/Systems/"+machine.ID(59), nil)
			req.SetBasicAuth("admin", "password")

			for b.Loop() {
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, req); w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
