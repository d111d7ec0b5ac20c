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

# Which hosts would a cluster with this selector choose now, and why not the others? The
# selector filters nothing.
data "metal3_baremetal_hosts" "for_gpu_workers" {
  host_selector = {
    match_labels = { gpu = "true" }
    match_expressions = [
      { key = "rack", operator = "NotIn", values = ["r7"] },
      { key = "metal3.io/arch", operator = "In", values = ["x86_64"] },
    ]
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

output "gpu_workers" {
  value = {
    eligible = [for h in data.metal3_baremetal_hosts.for_gpu_workers.hosts : h.name if h.eligible]
    refused  = { for h in data.metal3_baremetal_hosts.for_gpu_workers.hosts : h.name => h.refusal if !h.eligible }
  }
}

output "in_trouble" {
  value = {
    for h in data.metal3_baremetal_hosts.all.hosts : h.node_name => h.error_message
    if h.operational_status == "error"
  }
}
