# NAMESPACE/NAME. Machines, hosts and addresses come from Ironic; the first apply afterwards changes
# none of them, where the configuration is the one that they were made from.
terraform import metal3_cluster.edge metal3/edge
