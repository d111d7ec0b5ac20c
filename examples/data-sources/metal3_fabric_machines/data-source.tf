# All machines of the fabric, by name.
data "metal3_fabric_machines" "all" {}

# The machine with a network port of this address, as the host's inspection found it.
data "metal3_fabric_machines" "by_mac" {
  mac = "52:54:00:5a:00:00"
}

output "ids" {
  value = { for m in data.metal3_fabric_machines.all.machines : m.name => m.id }
}

output "gpus" {
  value = { for m in data.metal3_fabric_machines.all.machines : m.id => lookup(m.device_counts, "gpu", 0) }
}

output "machine_id" {
  value = one(data.metal3_fabric_machines.by_mac.machines[*].id)
}
