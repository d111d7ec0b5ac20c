locals {
  prov = {
    ranges      = [{ start = "192.0.2.100", end = "192.0.2.150" }]
    prefix      = 24
    gateway     = "192.0.2.1"
    dns_servers = ["192.0.2.53"]
  }
}

# What the machine with index 10 gets of this pool.
output "worker_0" {
  value = provider::metal3::ip_at(local.prov, 10).address # "192.0.2.110"
}
