// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabriccapacity_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/drivers"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

func TestMain(m *testing.M) { acctest.Main(m) }

// config reads the fabric in the way in which one data source leads to the next.
const config = `
provider "metal3" {
  fabric = { type = %q }
}

data "metal3_fabric_machines" "all" {}

locals {
  first = data.metal3_fabric_machines.all.machines[0].id
}

data "metal3_fabric_capacity" "a100" {
  machine_id = local.first
  type       = "gpu"
  models     = ["A100"]
}

data "metal3_fabric_devices" "first" {
  machine_id = local.first
}

output "machines" { value = length(data.metal3_fabric_machines.all.machines) }
output "free" { value = data.metal3_fabric_capacity.a100.capacities[0].known ? data.metal3_fabric_capacity.a100.capacities[0].free : -1 }
output "devices" { value = [for d in data.metal3_fabric_devices.first.devices : "${d.type} ${d.model} ${d.status}"] }
output "counts" { value = data.metal3_fabric_machines.all.machines[0].device_counts }
`

// TestAccFabric_dataSources reads with Terraform before and after somebody attaches a device.
func TestAccFabric_dataSources(t *testing.T) {
	t.Parallel()
	acctest.OnlyAcc(t)

	for _, kind := range drivers.Names() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()

			l := acctest.NewLab(t, lab.Options{})
			output := func(name string, value knownvalue.Check) statecheck.StateCheck {
				return statecheck.ExpectKnownOutputValue(name, value)
			}
			text := knownvalue.StringExact

			acctest.Acc(t, l.Factories(),
				resource.TestStep{
					Config: fmt.Sprintf(config, kind),
					ConfigStateChecks: []statecheck.StateCheck{
						output("machines", knownvalue.Int64Exact(8)), output("devices", knownvalue.ListExact(nil)), output("counts", knownvalue.MapExact(nil)),
					},
				},
				resource.TestStep{
					PreConfig: func() { attach(t, l, "node-0", "A100") },
					Config:    fmt.Sprintf(config, kind),
					ConfigStateChecks: []statecheck.StateCheck{
						output("devices", knownvalue.ListExact([]knownvalue.Check{text("gpu A100 attached")})),
						output("counts", knownvalue.MapExact(map[string]knownvalue.Check{"gpu": knownvalue.Int64Exact(1)})),
					},
				},
			)
		})
	}
}

func attach(t *testing.T, l acctest.Lab, machine, model string) {
	t.Helper()

	err := l.Fabric.Change(func(tx store.Tx, now time.Time) error {
		_, err := hardware.AttachForeign(tx, now, machine, hardware.Pick(hardware.GPU, model), 0)

		return err //nolint:wrapcheck // for the test
	})
	if err != nil {
		t.Fatal(err)
	}
}
