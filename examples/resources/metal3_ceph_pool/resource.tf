# Three copies of each object on SSDs, each in another rack.
resource "metal3_ceph_pool" "vms" {
  cluster_id  = metal3_ceph_cluster.prod.id
  name        = "vms"
  application = "rbd"

  size           = 3
  min_size       = 2
  failure_domain = "rack"
  device_class   = "ssd"

  quota               = { max_bytes = 10 * 1024 * 1024 * 1024 * 1024 }
  deletion_protection = true
}

# An erasure coded pool for what is rarely read: any two of six hosts may be lost.
resource "metal3_ceph_pool" "archive" {
  cluster_id       = metal3_ceph_cluster.prod.id
  name             = "archive"
  type             = "erasure"
  erasure          = { k = 4, m = 2 }
  failure_domain   = "host"
  device_class     = "hdd"
  application      = "rgw"
  compression_mode = "aggressive"

  # Other settings of `ceph osd pool set`.
  parameters = { compression_algorithm = "zstd", target_size_ratio = "0.6" }
}

# On a cluster that other tools made: its fsid, how SSH reaches a host of its monitors, and the
# folder with ceph.conf and ceph.client.admin.keyring there.
resource "metal3_ceph_pool" "scratch" {
  cluster_id     = "4b5c8c0a-ff60-454b-a1b4-9747aa737d19@ceph-1.example.com/etc/ceph"
  name           = "scratch"
  size           = 1
  allow_size_one = true

  # Whatever is in it goes with it.
  allow_delete_with_data = true
}
