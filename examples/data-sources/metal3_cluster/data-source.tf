# A cluster that another configuration made.
data "metal3_cluster" "edge" {
  name = "edge"
}

output "hosts" {
  value = { for name, machine in data.metal3_cluster.edge.machines : name => machine.host_name }
}

# The checks of a dashboard: what is not well, and why.
output "not_well" {
  value = { for name, machine in data.metal3_cluster.edge.machines : name => machine.last_error if !machine.healthy }
}
