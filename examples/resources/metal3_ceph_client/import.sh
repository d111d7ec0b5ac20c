# The id of the cluster, # and the name of the user. Of the cluster's id the fsid and the @ may be left out.
terraform import metal3_ceph_client.vms '4b5c8c0a-ff60-454b-a1b4-9747aa737d19@10.0.0.11,10.0.0.12/var/lib/ceph-one#client.vms'
terraform import metal3_ceph_client.vms '10.0.0.11/var/lib/ceph-one#client.vms'
