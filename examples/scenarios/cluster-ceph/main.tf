# A cluster and a Ceph on the same hosts: three workers have a monitor each, and OSDs on two disks
# that a rebuild of the machine leaves alone. The image has Ceph's packages.

terraform {
  required_version = ">= 1.11"
  required_providers {
    metal3 = { source = "terraform-metal3/metal3" }
  }
}

# Where Ironic is comes from the environment: IRONIC_ENDPOINT, or OS_CLOUD.
provider "metal3" {
  ssh = { user = "ops", private_key_file = "~/.ssh/id_ed25519", known_hosts_file = "~/.ssh/known_hosts" }
}

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

variable "ssh_key" {
  type        = string
  description = "Public key that may log in to the machines; its private half is that of the provider's ssh block."
}

locals {
  image = {
    url           = "https://images.example.com/debian-12-kubernetes-1.37.2-ceph.raw"
    checksum      = "https://images.example.com/SHA256SUMS"
    checksum_type = "auto"
    disk_format   = "raw"
  }

  storage = [for i in range(3) : "edge-storage-${i}"]
  disks   = ["/dev/disk/by-path/pci-0000:3b:00.0-nvme-1", "/dev/disk/by-path/pci-0000:3c:00.0-nvme-1"]
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
  }

  workers = {
    storage = {
      replicas          = length(local.storage)
      image             = local.image
      data_template     = data.metal3_data_template.node.json
      ip_index_offset   = 10
      spread            = true
      root_device_hints = { device_name = "/dev/disk/by-path/pci-0000:00:17.0-ata-1" }
      rollout           = { strategy = "rebuild" } # writes the root disk and no other
      node_reuse        = "required"               # a machine without its disks is none
    }
  }

  bootstrap = {
    kubeadm = {
      version      = "1.37.2"
      pod_subnet   = "10.244.0.0/16"
      address_pool = "prov"
      kube_vip     = { image = "ghcr.io/kube-vip/kube-vip:v1.2.3" }
      users        = [{ name = "ops", ssh_authorized_keys = [var.ssh_key], sudo = "ALL=(ALL) NOPASSWD:ALL" }]
    }
  }

  deletion_protection = true

  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = "The cluster is degraded."
    }
  }
}

resource "metal3_ceph_cluster" "edge" {
  name = "edge"

  hosts = { for name in local.storage : name => { address = metal3_cluster.edge.machines[name].addresses["prov"].address } }

  mon     = { count = 3 }
  mgr     = { count = 2 }
  network = { public = ["192.0.2.0/24"] }

  storage = {
    devices = flatten([for name in local.storage : [for disk in local.disks : { host = name, path = disk }]])
  }

  deletion_protection = true
}

resource "metal3_ceph_pool" "kubernetes" {
  cluster_id  = metal3_ceph_cluster.edge.id
  name        = "kubernetes"
  application = "rbd"
}
