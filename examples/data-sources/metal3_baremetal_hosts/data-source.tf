# All hosts of a rack.
data "metal3_baremetal_hosts" "rack" {
  labels = {
    rack = "r0"
  }
}

# Hosts that can be deployed on now, and are large enough. This asks for the inventory of
# each host that is available.
data "metal3_baremetal_hosts" "large" {
  available = true

  hardware = {
    min_cpu           = 32
    min_ram_mebibytes = 131072
    min_disk_gib      = 400
  }
}

# All hosts, to find those that are in trouble.
data "metal3_baremetal_hosts" "all" {}

output "rack" {
  value = data.metal3_baremetal_hosts.rack.hosts[*].name
}

output "large" {
  value = data.metal3_baremetal_hosts.large.hosts[*].id
}

output "in_trouble" {
  value = {
    for h in data.metal3_baremetal_hosts.all.hosts : h.node_name => h.error_message
    if h.operational_status == "error"
  }
}
