# A Talos cluster: the Talos provider writes the machines' configurations, which are their user
# data, and begins the cluster; metal3_cluster deploys the hosts; metal3_cluster_nodes waits for
# the nodes. The image is Talos' one for the platform openstack, which reads the config drive.

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

locals {
  endpoint = "192.0.2.249"

  image = {
    url           = "https://images.example.com/talos-openstack-amd64.raw"
    checksum      = "https://images.example.com/SHA256SUMS"
    checksum_type = "auto"
    disk_format   = "raw"
  }

  # The address that all machines of the control plane share.
  vip = yamlencode({ machine = { network = { interfaces = [{ deviceSelector = { physical = true }, vip = { ip = local.endpoint } }] } } })
}

resource "metal3_cluster" "edge" {
  name                   = "edge"
  control_plane_endpoint = { host = local.endpoint }
  host_pool              = { host_ids = [for h in metal3_baremetal_host.pool : h.id] }
  ip_pools               = local.ip_pools
  wait                   = { level = "provisioned" } # the API answers only when Talos was told to begin, below

  control_plane = {
    replicas      = 3
    image         = local.image
    data_template = data.metal3_data_template.node.json
    user_data     = data.talos_machine_configuration.this["controlplane"].machine_configuration
    spread        = true
  }

  workers = {
    w = {
      replicas        = 2
      image           = local.image
      data_template   = data.metal3_data_template.node.json
      user_data       = data.talos_machine_configuration.this["worker"].machine_configuration
      ip_index_offset = 10
    }
  }

  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = "The cluster is degraded."
    }
  }
}

# Nodes get their provider ids and labels; the run waits until all of them are there.
resource "metal3_cluster_nodes" "edge" {
  cluster_id = metal3_cluster.edge.id
  kubeconfig = talos_cluster_kubeconfig.this.kubeconfig_raw
  wait_ready = true # Talos brings a network plug-in
}
