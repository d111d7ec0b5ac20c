// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusternodes_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
)

func TestMain(m *testing.M) { acctest.Main(m) }

const this = "metal3_cluster_nodes.this"

// TestAccClusterNodes_machinesOfACluster gives it machines in the form that metal3_cluster has
// them, which say more than it asks for.
func TestAccClusterNodes_machinesOfACluster(t *testing.T) {
	t.Parallel()
	acctest.OnlyAcc(t)

	server := kubetest.New(t)
	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})
	server.AddNode(kubetest.Node{Name: "node-x", Ready: "True", InternalIP: "192.0.2.11"})

	config := fmt.Sprintf(`
locals {
  one = {
    name = "edge-w-0", role = "worker", pool = "w", index = 0, claim_kind = "allocation", node_name = null, healthy = true, remediation_count = 0
    claim_id = "c0", host_id = "id-h0", host_name = "h0", provider_id = "metal3://default/h0/edge-w-0"
    addresses = { lan = { address = "192.0.2.10", prefix = 24, gateway = "192.0.2.1", dns = ["192.0.2.1"] } }
  }
  two = merge(local.one, {
    name = "edge-w-1", provider_id = "metal3://default/h1/edge-w-1", host_name = "h1", host_id = "id-h1", claim_id = "c1"
    addresses = { lan = { address = "192.0.2.11", prefix = 24, gateway = null, dns = [] } }
  })
}

resource "metal3_cluster_nodes" "this" {
  machines   = { edge-w-0 = local.one, edge-w-1 = local.two }
  kubeconfig = <<-EOT
%s
  EOT
  wait_ready = true
  labels     = { "node-role.kubernetes.io/worker" = "" }
  taints     = [{ key = "gpu", effect = "NoSchedule" }]
}
`, server.Kubeconfig())

	first := resource.TestStep{Config: config, ConfigStateChecks: []statecheck.StateCheck{
		statecheck.ExpectKnownValue(this, tfjsonpath.New("ready"), knownvalue.Bool(true)),
		statecheck.ExpectKnownValue(this, tfjsonpath.New("nodes").AtMapKey("edge-w-1").AtMapKey("node_name"), knownvalue.StringExact("node-x")),
		statecheck.ExpectSensitiveValue(this, tfjsonpath.New("kubeconfig")),
	}}
	first.ConfigPlanChecks.PostApplyPostRefresh = []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}

	acctest.Acc(t, acctest.Plain(), first)
}
