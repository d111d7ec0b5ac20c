# A cluster with a pool of machines for GPUs, which the fabric gives to their hosts. Pods use them
# through dynamic resource allocation (the driver of NVIDIA's is installed like the network plug-in
# of cluster-kubeadm). The cluster's API says which pods use a GPU before one is taken away.
#
#   terraform apply -var gpus=4             two more; those that are used stay

terraform {
  required_version = ">= 1.11"
  required_providers {
    metal3 = { source = "terraform-metal3/metal3" }
  }
}

# Where Ironic is comes from the environment: IRONIC_ENDPOINT, or OS_CLOUD.
provider "metal3" {}

variable "hosts" {
  description = "Name of each host, where its BMC is, and in which rack it stands."
  type        = map(object({ bmc = string, rack = string }))
  default = {
    "u00" = { bmc = "redfish-virtualmedia+https://10.0.7.10/redfish/v1/Systems/1", rack = "r0" }
    "u01" = { bmc = "redfish-virtualmedia+https://10.0.7.11/redfish/v1/Systems/1", rack = "r1" }
    "u02" = { bmc = "redfish-virtualmedia+https://10.0.7.12/redfish/v1/Systems/1", rack = "r2" }
    "u03" = { bmc = "redfish-virtualmedia+https://10.0.7.13/redfish/v1/Systems/1", rack = "r0" }
  }
}

variable "bmc_password" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "metal3_baremetal_host" "pool" {
  for_each = var.hosts
  name     = each.key

  bmc = {
    address             = each.value.bmc
    username            = "admin"
    password_wo         = var.bmc_password
    password_wo_version = 1
  }

  labels         = { rack = each.value.rack }
  failure_domain = each.value.rack
}

# What each machine finds on its config drive: its own names and addresses.
data "metal3_data_template" "node" {
  meta_data = { ip_addresses_from_pool = [{ key = "node_ip", name = "prov" }] }

  network_data = {
    links = { ethernets = [{ id = "nic0", type = "phy", name = "nic0", mac_address = { from_host_interface = "boot" } }] }
    networks = { ipv4 = [{
      id        = "prov"
      link      = "nic0"
      from_pool = "prov"
      routes    = [{ network = "0.0.0.0", prefix = 0, gateway = { from_pool = "prov" } }]
    }] }
    services = { dns_from_pool = "prov" }
  }
}

locals {
  ip_pools = {
    prov = {
      ranges      = [{ start = "192.0.2.100", end = "192.0.2.199" }]
      prefix      = 24
      gateway     = "192.0.2.1"
      dns_servers = ["192.0.2.53"]
    }
  }
}

variable "gpus" {
  type        = number
  default     = 2
  description = "How many GPUs the pool has in all."
}

locals {
  image = {
    url           = "https://images.example.com/debian-12-kubernetes-1.37.2-nvidia.raw"
    checksum      = "https://images.example.com/SHA256SUMS"
    checksum_type = "auto"
    disk_format   = "raw"
  }

  # By host: the id that the fabric knows it by.
  fabric = { for h in metal3_baremetal_host.pool : h.id => h.fabric_machine_id }
}

resource "metal3_cluster" "train" {
  name                   = "train"
  control_plane_endpoint = { host = "192.0.2.249" }
  host_pool              = { host_ids = [for h in metal3_baremetal_host.pool : h.id] }
  ip_pools               = local.ip_pools

  control_plane = {
    replicas      = 1
    image         = local.image
    data_template = data.metal3_data_template.node.json
  }

  workers = {
    gpu = {
      replicas        = 2
      image           = local.image
      data_template   = data.metal3_data_template.node.json
      ip_index_offset = 10
      node_labels     = { "example.com/gpu" = "a100" }
      node_taints     = [{ key = "nvidia.com/gpu", effect = "NoSchedule" }]
      node_reuse      = "required" # its GPUs are attached to a host, not to a machine
    }
  }

  bootstrap = {
    kubeadm = {
      version      = "1.37.2"
      pod_subnet   = "10.244.0.0/16"
      address_pool = "prov"
      kube_vip     = { image = "ghcr.io/kube-vip/kube-vip:v1.2.3" }
    }
  }

  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = "The cluster is degraded."
    }
  }
}

resource "metal3_composable_gpu" "train" {
  model             = "A100"
  size              = var.gpus
  allocation_policy = "differentnode"

  hosts = [for name, m in metal3_cluster.train.machines : {
    machine_id = local.fabric[m.host_id]
    name       = name
    node_name  = m.node_name
  } if m.pool == "gpu"]

  workload = {
    kubeconfig    = metal3_cluster.train.kubeconfig
    resource_type = "dra"
  }
}

output "gpus" {
  description = "Each GPU, and on which machine it is."
  value       = [for d in metal3_composable_gpu.train.devices : "${d.device_id} on ${d.host_name}: ${d.state}, ${d.health}"]
}
