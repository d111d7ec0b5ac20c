// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabricmachines_test

import (
	"fmt"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/drivers"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestMachines_ofTheLab reads through each face of the lab's fabric, with the real drivers.
func TestMachines_ofTheLab(t *testing.T) {
	t.Parallel()

	for _, kind := range drivers.Names() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()

			s := providertest.NewServer(t)

			lab := block{"dir": t.TempDir(), "fabric_type": kind, "machines": 3, "gpus": block{"H100": 5}}
			if text := providertest.Errors(s.Configure(t, block{"lab": lab})); text != "" {
				t.Fatal(text)
			}

			read := func(typeName, key string, filter block) []any {
				got, diags := s.Read(t, typeName, filter)
				if text := providertest.Errors(diags); text != "" {
					t.Fatal(text)
				}

				all, _ := got[key].([]any)

				return all
			}

			machines := read("metal3_fabric_machines", "machines", nil)
			if len(machines) != 3 {
				t.Fatalf("machines: %v", machines)
			}

			first, _ := machines[0].(block)
			if name := fmt.Sprint(first["name"]); name != "node-0" && kind != "nec_cdim" { // which knows no names
				t.Errorf("the first is %v", first)
			}

			all := read("metal3_fabric_capacity", "capacities", block{"machine_id": first["id"], "models": []any{"H100"}})
			if free, _ := all[0].(block); len(all) != 1 || free["known"] == true && free["free"] == int64(0) || free["model"] != "H100" || free["type"] != "gpu" {
				t.Errorf("capacity: %v", all)
			}

			if devices := read("metal3_fabric_devices", "devices", block{"machine_id": first["id"], "type": "gpu"}); len(devices) != 0 {
				t.Errorf("devices: %v", devices)
			}
		})
	}
}
