# terraform apply -invoke=action.metal3_remediate.w0
action "metal3_remediate" "w0" {
  config {
    cluster_id = metal3_cluster.edge.id
    machine    = "edge-w-0"

    workload_api = { kubeconfig_path = "/home/ops/.kube/edge" }
  }
}

# A machine whose host is broken moves to another one: this notes it, the next apply of the cluster does it.
action "metal3_remediate" "move" {
  config {
    cluster_id = metal3_cluster.edge.id
    machine    = "edge-w-1"
    strategy   = "replace"
  }
}
