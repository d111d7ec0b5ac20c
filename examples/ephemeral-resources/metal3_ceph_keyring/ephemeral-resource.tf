# The key of a user, for a provider that puts it where it is needed. It gets into no state.
ephemeral "metal3_ceph_keyring" "vms" {
  client_id = metal3_ceph_client.vms.id
}

resource "kubernetes_secret_v1" "ceph" {
  metadata { name = "ceph-vms" }

  data_wo          = { userID = "vms", userKey = ephemeral.metal3_ceph_keyring.vms.key }
  data_wo_revision = metal3_ceph_client.vms.key_version
}
