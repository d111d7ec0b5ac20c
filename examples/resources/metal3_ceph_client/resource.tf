# Who may use the images of one pool.
resource "metal3_ceph_client" "vms" {
  cluster_id = metal3_ceph_cluster.prod.id
  entity     = "client.vms"

  caps = {
    mon = "profile rbd"
    mgr = "profile rbd pool=vms"
    osd = "profile rbd pool=${metal3_ceph_pool.vms.name}"
  }

  # Another number makes another key; the old one ends at once.
  key_version = 1
}

# The key goes to where it is needed, and into no state.
ephemeral "metal3_ceph_keyring" "vms" {
  client_id = metal3_ceph_client.vms.id
}
