import {
  to = metal3_ceph_cluster.prod
  identity = {
    id = "10.0.0.11,10.0.0.12,10.0.0.13/var/lib/ceph"
  }
}
