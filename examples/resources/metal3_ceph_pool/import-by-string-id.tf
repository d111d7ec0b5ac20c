import {
  to = metal3_ceph_pool.vms
  id = "4b5c8c0a-ff60-454b-a1b4-9747aa737d19@10.0.0.11,10.0.0.12/var/lib/ceph-one#vms"
}
