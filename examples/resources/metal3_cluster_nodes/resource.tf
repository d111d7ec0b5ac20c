# The cluster deploys machines and does not wait for what runs on them.
resource "metal3_cluster" "edge" {
  name                   = "edge"
  control_plane_endpoint = { host = "192.0.2.100" }

  control_plane = {
    replicas  = 3
    image     = { url = "https://images.example.com/talos-openstack.raw", checksum = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0", checksum_type = "sha256" }
    user_data = data.talos_machine_configuration.controlplane.machine_configuration
  }

  workers = {
    gpu = {
      replicas  = 2
      image     = { url = "https://images.example.com/talos-openstack.raw", checksum = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0", checksum_type = "sha256" }
      user_data = data.talos_machine_configuration.worker.machine_configuration
    }
  }

  wait = { level = "provisioned" }
}

# Another provider makes a Kubernetes cluster of the machines, and knows its kubeconfig.
resource "talos_cluster_kubeconfig" "edge" {
  client_configuration = talos_machine_secrets.edge.client_configuration
  node                 = metal3_cluster.edge.machines["edge-cp-0"].addresses["lan"].address

  depends_on = [talos_machine_bootstrap.edge]
}

# The nodes of the workers: registered, with their provider ids, a role, a taint, and the labels
# example.com/… of their hosts.
resource "metal3_cluster_nodes" "gpu" {
  cluster_id = metal3_cluster.edge.id
  machines   = { for name, m in metal3_cluster.edge.machines : name => m if m.role == "worker" }
  kubeconfig = talos_cluster_kubeconfig.edge.kubeconfig_raw

  label_sync_prefixes = ["example.com"]
  labels              = { "node-role.kubernetes.io/gpu" = "" }
  taints              = [{ key = "nvidia.com/gpu", value = "present", effect = "NoSchedule" }]

  timeouts = { create = "20m" }
}
