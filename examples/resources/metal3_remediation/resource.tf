# A worker is switched off, fenced and switched on again, and waited for until its node is ready.
# Another ticket does it again.
resource "metal3_remediation" "w0" {
  cluster_id = metal3_cluster.edge.id
  machine    = "edge-w-0"
  triggers   = { ticket = "OPS-4711" }

  workload_api = { kubeconfig_path = "/home/ops/.kube/edge" }
}
