# One pool for metadata and one for data, and one MDS on each host of the monitors: one serves, the others stand by.
resource "metal3_ceph_filesystem" "home" {
  cluster_id = metal3_ceph_cluster.prod.id
  name       = "home"
}

# Metadata on SSDs, a second pool for large files, and two MDS at work on hosts of their own.
resource "metal3_ceph_filesystem" "work" {
  cluster_id = metal3_ceph_cluster.prod.id
  name       = "work"

  metadata_pool = { size = 3, failure_domain = "host", device_class = "ssd" }
  data_pools    = [{ size = 3 }, { name = "work-bulk", size = 2, device_class = "hdd" }]

  mds = {
    active         = 2
    standby_replay = true

    hosts = {
      mds-1 = { address = "10.0.0.21" }
      mds-2 = { address = "10.0.0.22" }
      mds-3 = { connection = { host = "10.0.0.23", user = "admin", sudo = true } }
    }
  }

  deletion_protection = true
}
