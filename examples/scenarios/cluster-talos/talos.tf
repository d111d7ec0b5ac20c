terraform {
  required_providers {
    talos = { source = "siderolabs/talos", version = ">= 0.7" }
  }
}

resource "talos_machine_secrets" "this" {}

data "talos_machine_configuration" "this" {
  for_each         = toset(["controlplane", "worker"])
  cluster_name     = "edge"
  cluster_endpoint = "https://${local.endpoint}:6443"
  machine_type     = each.key
  machine_secrets  = talos_machine_secrets.this.machine_secrets
  config_patches   = each.key == "controlplane" ? [local.vip] : []
}

# Begins the cluster on one machine of the control plane, once all are deployed.
resource "talos_machine_bootstrap" "this" {
  node                 = metal3_cluster.edge.machines["edge-cp-0"].addresses["prov"].address
  client_configuration = talos_machine_secrets.this.client_configuration
}

resource "talos_cluster_kubeconfig" "this" {
  node                 = talos_machine_bootstrap.this.node
  client_configuration = talos_machine_secrets.this.client_configuration
}
