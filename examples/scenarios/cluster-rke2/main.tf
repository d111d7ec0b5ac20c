# An RKE2 cluster of three servers and two agents, by templates of user data that are rendered for
# each machine. The image has RKE2 and its units (rke2-server.service, rke2-agent.service), disabled. The
# endpoint is an external load balancer, which leads ports 6443 and 9345 to the servers.

terraform {
  required_version = ">= 1.11"
  required_providers {
    metal3 = { source = "terraform-metal3/metal3" }
  }
}

# Where Ironic is comes from the environment: IRONIC_ENDPOINT, or OS_CLOUD.
provider "metal3" {
  ssh = { private_key_file = "~/.ssh/id_ed25519", known_hosts_file = "~/.ssh/known_hosts" }
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

variable "endpoint" {
  type        = string
  default     = "rke2.example.com"
  description = "Name or address of the load balancer."
}

variable "token" {
  type        = string
  sensitive   = true
  description = "By which machines of the cluster know each other. It stays the same for the life of the cluster."
}

variable "ssh_key" {
  type        = string
  description = "Public key that may log in to the machines."
}

locals {
  image = {
    url           = "https://images.example.com/debian-12-rke2.raw"
    checksum      = "https://images.example.com/SHA256SUMS"
    checksum_type = "auto"
    disk_format   = "raw"
  }

  # What servers and agents have in common. Terraform fills in what is between ${ and }, the
  # provider what is between << and >>, for each machine.
  config = <<-EOT
    token: ${jsonencode(var.token)}
    node-name: << .Machine.Name >>
    node-ip: << .Addresses.prov.Address >>
    node-label: ["metal3.io/uuid=<< .Machine.ClaimID >>"]
    kubelet-arg: [<< print "provider-id=" .Machine.ProviderID | quote >>]
  EOT

  server = <<-EOT
    ${local.config}
    << if not .Machine.First >>server: https://<< .Cluster.Endpoint.Host >>:9345<< end >>
    tls-san: [<< quote .Cluster.Endpoint.Host >>]
    disable-cloud-controller: true
  EOT

  agent = <<-EOT
    ${local.config}
    server: https://<< .Cluster.Endpoint.Host >>:9345
  EOT

  user_data = { for unit, config in { "rke2-server" = local.server, "rke2-agent" = local.agent } : unit => "#cloud-config\n${yamlencode({
    ssh_authorized_keys = [var.ssh_key]
    write_files         = [{ path = "/etc/rancher/rke2/config.yaml", permissions = "0600", content = config }]
    runcmd              = ["systemctl enable --now ${unit}"]
  })}" }
}

resource "metal3_cluster" "edge" {
  name                   = "edge"
  control_plane_endpoint = { host = var.endpoint }
  host_pool              = { host_ids = [for h in metal3_baremetal_host.pool : h.id] }
  ip_pools               = local.ip_pools

  control_plane = {
    replicas           = 3
    image              = local.image
    data_template      = data.metal3_data_template.node.json
    user_data_template = local.user_data["rke2-server"]
    spread             = true
  }

  workers = {
    w = {
      replicas           = 2
      image              = local.image
      data_template      = data.metal3_data_template.node.json
      user_data_template = local.user_data["rke2-agent"]
      ip_index_offset    = 10
    }
  }

  # Read on the first server when it is needed; the server in it becomes the endpoint.
  workload_api = {
    ssh = { host = "192.0.2.100", user = "debian", sudo = true, path = "/etc/rancher/rke2/rke2.yaml" }
  }

  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = "The cluster is degraded."
    }
  }
}

ephemeral "metal3_cluster_kubeconfig" "admin" {
  ssh          = { host = metal3_cluster.edge.machines["edge-cp-0"].addresses["prov"].address, user = "debian", sudo = true, path = "/etc/rancher/rke2/rke2.yaml" }
  endpoint     = metal3_cluster.edge.control_plane_endpoint
  cluster_name = "edge"
  wait_for     = metal3_cluster.edge.state # addresses are known before the machines are there
}
