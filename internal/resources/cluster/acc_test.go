// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// TestAccCluster_ignoredUserData makes a cluster with Terraform whose workers' user data changes with
// every run: ignore_changes leaves the machines alone, and without it they are rolled out.
func TestAccCluster_ignoredUserData(t *testing.T) {
	t.Parallel()

	t.Run("11.7 ignore_changes on user data", func(t *testing.T) {
		t.Parallel()

		const at = "metal3_cluster.edge"

		l := acctest.NewAcc(t)
		block := func(data, lifecycle string) string {
			return acctest.ProviderBlock + fmt.Sprintf(`
locals {
  image = { url = "http://images.lab/debian-12.qcow2", checksum = "http://images.lab/SHA256SUMS", checksum_type = "auto" }
}

resource "metal3_baremetal_host" "pool" {
  count = 2
  name  = "node-${count.index}"
  bmc = {
    address             = "redfish-virtualmedia+http://node-${count.index}.lab/redfish/v1/Systems/1"
    username            = "admin"
    password_wo         = "password"
    password_wo_version = 1
  }
}

resource "metal3_cluster" "edge" {
  name                   = "edge"
  control_plane_endpoint = { host = "192.0.2.249" }
  host_pool              = { host_ids = metal3_baremetal_host.pool[*].id }
  control_plane          = { replicas = 1, image = local.image }
  workers                = { w = { replicas = 1, image = local.image, user_data = "%s" } }
%s}
`, data, lifecycle)
		}
		ignored := "  lifecycle {\n    ignore_changes = [workers[\"w\"].user_data]\n  }\n"
		expect := func(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
			return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(at, action)}}
		}
		ready := []statecheck.StateCheck{statecheck.ExpectKnownValue(at, tfjsonpath.New("ready"), knownvalue.Bool(true))}

		l.Acc(t,
			resource.TestStep{Config: block("one", ignored), ConfigStateChecks: ready},
			resource.TestStep{Config: block("two", ignored), ConfigPlanChecks: expect(plancheck.ResourceActionNoop)},
			resource.TestStep{Config: block("two", ""), ConfigPlanChecks: expect(plancheck.ResourceActionUpdate), ConfigStateChecks: ready},
		)
	})
}

// TestAccCluster_gpusOnItsMachines gives GPUs to the hosts of a cluster's machines, which are looked up
// by the machines' host_id: in one apply with the cluster, and again when it grows.
func TestAccCluster_gpusOnItsMachines(t *testing.T) {
	t.Parallel()

	const cluster, gpus = "metal3_cluster.edge", "metal3_composable_gpu.train"

	l := acctest.NewAcc(t)
	block := func(workers, size int) string {
		return fmt.Sprintf(`
provider "metal3" {
  ironic = { endpoint = "http://ironic.lab:6385", auth = "noauth" }
  fabric = { type = "fti_fm" }
}

locals {
  image  = { url = "http://images.lab/debian-12.qcow2", checksum = "http://images.lab/SHA256SUMS", checksum_type = "auto" }
  fabric = { for h in metal3_baremetal_host.pool : h.id => h.fabric_machine_id }
}

resource "metal3_baremetal_host" "pool" {
  count = 3
  name  = "node-${count.index}"
  bmc = {
    address             = "redfish-virtualmedia+http://node-${count.index}.lab/redfish/v1/Systems/1"
    username            = "admin"
    password_wo         = "password"
    password_wo_version = 1
  }
}

resource "metal3_cluster" "edge" {
  name                   = "edge"
  control_plane_endpoint = { host = "192.0.2.249" }
  host_pool              = { host_ids = metal3_baremetal_host.pool[*].id }
  control_plane          = { replicas = 1, image = local.image }
  workers                = { gpu = { replicas = %d, image = local.image } }
}

resource "metal3_composable_gpu" "train" {
  model             = "A100"
  size              = %d
  allocation_policy = "differentnode"
  hosts = [for name, m in metal3_cluster.edge.machines : {
    machine_id = local.fabric[m.host_id]
    name       = m.host_name
    node       = { type = "ssh", host = "${m.host_name}.lab", user = "root" }
  } if m.pool == "gpu"]
}
`, workers, size)
	}

	empty := resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	made := func(n int) []statecheck.StateCheck {
		return []statecheck.StateCheck{
			statecheck.ExpectKnownValue(cluster, tfjsonpath.New("ready"), knownvalue.Bool(true)),
			statecheck.ExpectKnownValue(gpus, tfjsonpath.New("devices"), knownvalue.ListSizeExact(n)),
			statecheck.ExpectKnownValue(gpus, tfjsonpath.New("placement"), knownvalue.MapSizeExact(n)),
		}
	}

	l.Acc(t,
		resource.TestStep{Config: block(1, 1), ConfigStateChecks: made(1), ConfigPlanChecks: empty},
		resource.TestStep{Config: block(2, 2), ConfigStateChecks: made(2), ConfigPlanChecks: empty},
	)
}
