locals {
  prov = { ranges = [{ start = "192.0.2.100", end = "192.0.2.150" }], prefix = 24, gateway = "192.0.2.1" }
}

data "metal3_data_template" "node" {
  network_data = {
    links = { ethernets = [{ id = "eth0", name = "eth0", mac_address = { from_host_interface = "boot" } }] }
    networks = {
      ipv4 = [{ id = "prov", link = "eth0", from_pool = "prov", routes = [{ network = "0.0.0.0", gateway = { from_pool = "prov" } }] }]
    }
  }
}

# Network data of a host that belongs to no cluster.
output "network_data" {
  value = provider::metal3::render_network_data(data.metal3_data_template.node.json, {
    host      = "node-3"
    boot_mac  = "02:00:5e:10:00:03"
    addresses = { prov = provider::metal3::ip_at(local.prov, 3) }
  })
}
