# Nodes become Ready with a network plug-in.

terraform {
  required_providers {
    helm = { source = "hashicorp/helm", version = ">= 3.0" }
  }
}

provider "helm" {
  kubernetes = {
    host                   = ephemeral.metal3_cluster_kubeconfig.admin.host
    cluster_ca_certificate = ephemeral.metal3_cluster_kubeconfig.admin.cluster_ca_certificate
    client_certificate     = ephemeral.metal3_cluster_kubeconfig.admin.client_certificate
    client_key             = ephemeral.metal3_cluster_kubeconfig.admin.client_key
  }
}

resource "helm_release" "cilium" {
  name       = "cilium"
  namespace  = "kube-system"
  repository = "https://helm.cilium.io"
  chart      = "cilium"

  values = [yamlencode({
    ipam = { operator = { clusterPoolIPv4PodCIDRList = ["10.244.0.0/16"] } }
  })]
}
