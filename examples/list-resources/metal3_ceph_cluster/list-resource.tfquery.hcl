# The clusters that a host has a part of, in two folders.
list "metal3_ceph_cluster" "of_h1" {
  provider = metal3

  config {
    host      = { host = "10.0.0.11", user = "root" }
    data_dirs = ["/var/lib/ceph", "/srv/ceph-laptop"]
  }
}
