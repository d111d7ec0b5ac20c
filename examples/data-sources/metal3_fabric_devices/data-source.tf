data "metal3_fabric_machines" "all" {}

# What is attached to one machine.
data "metal3_fabric_devices" "first" {
  machine_id = data.metal3_fabric_machines.all.machines[0].id
}

# All GPUs of all machines, to find those that are in trouble.
data "metal3_fabric_devices" "gpus" {
  type = "gpu"
}

output "attached" {
  value = [for d in data.metal3_fabric_devices.first.devices : "${d.type} ${d.model} ${coalesce(d.device_id, d.fabric_device_id)}"]
}

output "in_trouble" {
  value = {
    for d in data.metal3_fabric_devices.gpus.devices : d.fabric_device_id => "${d.machine_id}: ${d.health_raw}"
    if contains(["warning", "critical"], d.health)
  }
}
