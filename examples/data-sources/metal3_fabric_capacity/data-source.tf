data "metal3_fabric_machines" "all" {}

# What one machine could get.
data "metal3_fabric_capacity" "first" {
  machine_id = data.metal3_fabric_machines.all.machines[0].id
  models     = ["A100", "L40S"]
}

# What all fabrics have: one machine of each is asked for, because machines of one fabric
# share what is free.
data "metal3_fabric_capacity" "all" {
  type   = "gpu"
  models = ["A100"]
}

output "free" {
  value = { for c in data.metal3_fabric_capacity.first.capacities : c.model => c.known ? c.free : null }
}

output "a100" {
  value = sum([for c in data.metal3_fabric_capacity.all.capacities : c.free if c.known])
}
