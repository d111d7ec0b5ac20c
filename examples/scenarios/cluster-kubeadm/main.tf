# A Kubernetes cluster by kubeadm on six hosts: three machines of a control plane whose endpoint
# kube-vip holds, two workers, and a host to spare. The image has containerd, kubelet and kubeadm.
#
#   terraform apply                         addresses and names of machines are in the plan
#   terraform apply -var workers=3          one more joins
#   terraform apply -var image=…            machine by machine, the control plane first
#   terraform destroy
#
# network.tf installs a network plug-in with a kubeconfig that gets into no state.

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
    "u04" = { bmc = "redfish-virtualmedia+https://10.0.7.14/redfish/v1/Systems/1", rack = "r1" }
    "u05" = { bmc = "redfish-virtualmedia+https://10.0.7.15/redfish/v1/Systems/1", rack = "r2" }
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

variable "kubernetes_version" {
  type    = string
  default = "1.37.2"
}

variable "workers" {
  type        = number
  default     = 2
  description = "How many workers."
}

variable "image" {
  type        = string
  default     = "https://images.example.com/debian-12-kubernetes-1.37.2.raw"
  description = "Another image rolls the cluster out."
}

variable "ssh_key" {
  type        = string
  description = "Public key that may log in to the machines."
}

locals {
  image = { url = var.image, checksum = "https://images.example.com/SHA256SUMS", checksum_type = "auto", disk_format = "raw" }
}

resource "metal3_cluster" "edge" {
  name                   = "edge"
  control_plane_endpoint = { host = "192.0.2.249" }
  host_pool              = { host_ids = [for h in metal3_baremetal_host.pool : h.id] }
  ip_pools               = local.ip_pools

  control_plane = {
    replicas      = 3
    image         = local.image
    data_template = data.metal3_data_template.node.json
    spread        = true
  }

  workers = {
    w = {
      replicas        = var.workers
      image           = local.image
      data_template   = data.metal3_data_template.node.json
      ip_index_offset = 10 # 192.0.2.110 and on
      node_labels     = { "example.com/pool" = "w" }
      rollout         = { max_surge = "1", max_unavailable = "0" }
    }
  }

  bootstrap = {
    kubeadm = {
      version        = var.kubernetes_version
      pod_subnet     = "10.244.0.0/16"
      service_subnet = "10.96.0.0/12"
      address_pool   = "prov"
      kube_vip       = { image = "ghcr.io/kube-vip/kube-vip:v1.2.3" }
      users          = [{ name = "ops", ssh_authorized_keys = [var.ssh_key], sudo = "ALL=(ALL) NOPASSWD:ALL" }]
      pre_commands   = ["swapoff -a"]
      extra = {
        kubelet_configuration = yamlencode({ serverTLSBootstrap = false, maxPods = 200 })
      }
    }
  }

  deletion_protection = true

  lifecycle {
    # A cluster of which a machine failed is kept and tells so; this makes the run fail.
    postcondition {
      condition     = self.ready
      error_message = "The cluster is degraded: ${jsonencode({ for name, m in self.machines : name => m.last_error if m.last_error != null })}"
    }
  }
}

# What the cluster has made, taken apart for other providers while Terraform runs.
ephemeral "metal3_cluster_kubeconfig" "admin" {
  kubeconfig = metal3_cluster.edge.kubeconfig
}

output "addresses" {
  description = "Address of each machine."
  value       = { for name, m in metal3_cluster.edge.machines : name => m.addresses["prov"].address }
}

output "kubeconfig" {
  description = "Kubeconfig of an administrator: terraform output -raw kubeconfig > admin.conf"
  value       = metal3_cluster.edge.kubeconfig
  sensitive   = true
}
