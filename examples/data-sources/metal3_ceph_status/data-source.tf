# How a cluster is, to stop before something is done to one that is not well.
data "metal3_ceph_status" "prod" {
  cluster_id = metal3_ceph_cluster.prod.id

  lifecycle {
    postcondition {
      condition     = self.health != "HEALTH_ERR"
      error_message = "Ceph is not well: ${join(", ", [for code, check in self.checks : "${code} (${check.message})"])}."
    }
  }
}

output "free_bytes" { value = data.metal3_ceph_status.prod.capacity.available }
