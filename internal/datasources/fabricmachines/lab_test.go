// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabricmachines_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

type block = providertest.Map

// TestMachines_ofTheLab reads the machines through each face of the lab's fabric.
func TestMachines_ofTheLab(t *testing.T) {
	t.Parallel()

	for _, kind := range []string{"fti_fm", "fti_cm"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()

			s := providertest.NewServer(t)
			if text := providertest.Errors(s.Configure(t, block{"lab": block{"dir": t.TempDir(), "fabric_type": kind}})); text != "" {
				t.Fatal(text)
			}

			got, diags := s.Read(t, "metal3_fabric_machines", nil)
			t.Log(got, providertest.Errors(diags))
			got, diags = s.Read(t, "metal3_fabric_capacity", block{"models": []any{"A100", "L40S"}})
			t.Log(got, providertest.Errors(diags))
			got, diags = s.Read(t, "metal3_fabric_capacity", block{"models": []any{"nope"}})
			t.Log(got, providertest.Errors(diags))
			got, diags = s.Read(t, "metal3_fabric_devices", nil)
			t.Log(got, providertest.Errors(diags))
		})
	}
}
