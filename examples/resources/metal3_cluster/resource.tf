data "metal3_data_template" "node" {
  meta_data = {
    ip_addresses_from_pool = [{ key = "node_ip", name = "prov" }]
  }
  network_data = {
    links = {
      ethernets = [{ id = "eth0", type = "phy", name = "eth0", mac_address = { from_host_interface = "boot" } }]
    }
    networks = {
      ipv4 = [{
        id     = "prov", link = "eth0", from_pool = "prov",
        routes = [{ network = "0.0.0.0", prefix = 0, gateway = { from_pool = "prov" } }]
      }]
    }
    services = { dns_from_pool = "prov" }
  }
}

# Three machines of the control plane, two workers with GPUs; kubeadm makes a cluster of them.
resource "metal3_cluster" "edge" {
  name                   = "edge"
  control_plane_endpoint = { host = "192.0.2.249" }

  # Terraform makes the hosts first, and ends them last.
  host_pool = { host_ids = metal3_baremetal_host.rack[*].id }

  ip_pools = {
    prov = {
      ranges      = [{ start = "192.0.2.100", end = "192.0.2.150" }]
      prefix      = 24
      gateway     = "192.0.2.1"
      dns_servers = ["192.0.2.53"]
    }
  }

  bootstrap = {
    kubeadm = {
      version    = "v1.37.2"
      pod_subnet = "10.244.0.0/16"
      kube_vip   = { image = "registry.example.com/kube-vip:v1.0.0", interface = "eth0" }
    }
  }

  control_plane = {
    replicas      = 3
    image         = local.image
    data_template = data.metal3_data_template.node.json
    rollout       = { strategy = "rebuild" }
  }

  workers = {
    gpu = {
      replicas        = 2
      image           = local.image
      data_template   = data.metal3_data_template.node.json
      ip_index_offset = 10
      host_selector   = { match_labels = { gpu = "a100" } }
      node_labels     = { "example.com/pool" = "gpu" }
      rollout         = { max_unavailable = "50%" }
    }
  }

  # A cluster of which something failed stays in the state; this makes the run fail all the same,
  # and keeps what depends on the cluster from going on.
  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = "cluster degraded: ${jsonencode([for name, m in self.machines : name if !m.healthy])}"
    }
  }
}

# Known at plan.
output "addresses" {
  value = { for name, m in metal3_cluster.edge.machines : name => m.addresses["prov"].address }
}
