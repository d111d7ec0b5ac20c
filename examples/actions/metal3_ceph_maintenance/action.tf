# Before a host is switched off: terraform apply -invoke=action.metal3_ceph_maintenance.enter
action "metal3_ceph_maintenance" "enter" {
  config {
    cluster_id = metal3_ceph_cluster.prod.id
    host       = "ceph-3"
    mode       = "enter"
  }
}

# And once it is back: this waits until all data is where it belongs.
action "metal3_ceph_maintenance" "exit" {
  config {
    cluster_id = metal3_ceph_cluster.prod.id
    host       = "ceph-3"
    mode       = "exit"
    timeout    = "1h"
  }
}
