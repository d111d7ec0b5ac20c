# A host with a monitor, and the folder of the cluster there.
terraform import metal3_ceph_cluster.prod 10.0.0.11/var/lib/ceph
# The machine that runs Terraform; the fsid in front makes sure that it is the one that is meant.
terraform import metal3_ceph_cluster.laptop 6b2f0d2e-58f3-4a8c-9d4c-0d6f2f1f7c11@local/srv/ceph-laptop
