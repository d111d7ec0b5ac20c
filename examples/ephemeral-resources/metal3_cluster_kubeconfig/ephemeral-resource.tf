# The kubeconfig that the cluster has made, taken apart for another provider.
ephemeral "metal3_cluster_kubeconfig" "admin" {
  kubeconfig = metal3_cluster.edge.kubeconfig
}

provider "kubernetes" {
  host                   = ephemeral.metal3_cluster_kubeconfig.admin.host
  cluster_ca_certificate = ephemeral.metal3_cluster_kubeconfig.admin.cluster_ca_certificate
  client_certificate     = ephemeral.metal3_cluster_kubeconfig.admin.client_certificate
  client_key             = ephemeral.metal3_cluster_kubeconfig.admin.client_key
}

# A certificate for ten minutes, signed by a CA whose key comes from a vault.
ephemeral "metal3_cluster_kubeconfig" "ci" {
  ca            = { certificate = var.ca_certificate, private_key = var.ca_private_key }
  endpoint      = metal3_cluster.edge.control_plane_endpoint
  user          = "ci"
  organizations = ["deployers"]
  ttl           = "10m"
}

# The kubeconfig of k3s, which names the machine that it lies on.
ephemeral "metal3_cluster_kubeconfig" "k3s" {
  ssh      = { host = "192.0.2.100", user = "debian", sudo = true, path = "/etc/rancher/k3s/k3s.yaml" }
  endpoint = { host = "192.0.2.249" }
  wait_for = metal3_cluster.k3s.state # addresses are known before the machines are there
}
