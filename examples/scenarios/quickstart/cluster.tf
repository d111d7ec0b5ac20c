# A cluster of one control plane machine and two workers, on three further hosts of the same lab.
# Names and addresses of its machines stand in the plan.

variable "workers" {
  type        = number
  default     = 2
  description = "How many workers the cluster has: the pool has hosts for two."
}

# Hosts without an image: they rest in the pool until the cluster claims them.
resource "metal3_baremetal_host" "pool" {
  count = 3
  name  = "node-${count.index + 3}"

  bmc = {
    address             = "redfish-virtualmedia+http://node-${count.index + 3}.lab/redfish/v1/Systems/1"
    username            = "admin"
    password_wo         = "password"
    password_wo_version = 1
  }
}

# What each machine finds on its config drive: its own name and address.
data "metal3_data_template" "machine" {
  meta_data = { ip_addresses_from_pool = [{ key = "node_ip", name = "rack" }] }

  network_data = {
    links    = { ethernets = [{ id = "eth0", type = "phy", name = "eth0", mac_address = { from_host_interface = "boot" } }] }
    networks = { ipv4 = [{ id = "rack", link = "eth0", from_pool = "rack" }] }
  }
}

locals {
  cluster_image = { url = var.image, checksum = "http://images.lab/SHA256SUMS", checksum_type = "auto" }
}

resource "metal3_cluster" "edge" {
  name                   = "edge"
  control_plane_endpoint = { host = "192.0.2.249" }
  host_pool              = { host_ids = metal3_baremetal_host.pool[*].id }

  ip_pools = {
    rack = { ranges = [{ start = "192.0.2.100", end = "192.0.2.150" }], prefix = 24, gateway = "192.0.2.1" }
  }

  control_plane = {
    replicas           = 1
    image              = local.cluster_image
    data_template      = data.metal3_data_template.machine.json
    user_data_template = "#cloud-config\nhostname: << .Machine.Name >>\n"
  }

  workers = {
    w = {
      replicas           = var.workers
      image              = local.cluster_image
      data_template      = data.metal3_data_template.machine.json
      user_data_template = "#cloud-config\nhostname: << .Machine.Name >>\n"
      ip_index_offset    = 10
    }
  }

  # The lab's machines run no Kubernetes: they are there once their image is.
  wait = { level = "provisioned" }
}

output "cluster" {
  description = "Each machine of the cluster, its address and the host that it runs on."
  value = {
    for name, m in metal3_cluster.edge.machines : name => format("%s, %s, on %s",
    m.state, m.addresses["rack"].address, m.host_name)
  }
}
