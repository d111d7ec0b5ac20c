# Three machines from the address of their BMC to running, and two GPUs on the first of them,
# in the lab that the provider brings along: `make demo` applies this, and the cluster of cluster.tf.

terraform {
  required_providers {
    metal3 = { source = "terraform-metal3/metal3" }
  }
}

provider "metal3" {
  lab = { dir = "${path.root}/.metal3-lab" }
}

variable "image" {
  type        = string
  default     = "http://images.lab/debian-12.qcow2"
  description = "Another image deploys the machines again; the plan says so."
}

variable "online" {
  type        = bool
  default     = true
  description = "Whether the machines are powered on."
}

variable "gpus" {
  type        = number
  default     = 2
  description = "How many GPUs of the pool the first machine has."
}

resource "metal3_baremetal_host" "node" {
  count = 3
  name  = "node-${count.index}"

  bmc = {
    address             = "redfish-virtualmedia+http://node-${count.index}.lab/redfish/v1/Systems/1"
    username            = "admin"
    password_wo         = "password"
    password_wo_version = 1
  }

  labels = { rack = "r${count.index % 2}" }
  online = var.online

  image = {
    url           = var.image
    checksum      = "http://images.lab/SHA256SUMS"
    checksum_type = "auto"
  }

  user_data = <<-EOT
    #cloud-config
    hostname: node-${count.index}
  EOT
}

# Two GPUs of the fabric's pool for the first machine. They count as there when the machine's
# own nvidia-smi, asked over SSH, shows them.
resource "metal3_composable_gpu" "train" {
  model = "A100"
  size  = var.gpus

  hosts = [{
    machine_id = metal3_baremetal_host.node[0].fabric_machine_id
    name       = "node-0"
    node       = { type = "ssh", host = "node-0.lab", user = "root" }
  }]
}

# What the pool has left.
data "metal3_fabric_capacity" "left" {
  machine_id = metal3_composable_gpu.train.hosts[0].machine_id
  type       = "gpu"
  models     = ["A100", "L40S"]
  depends_on = [metal3_composable_gpu.train]
}

# What stands in one rack, by label.
data "metal3_baremetal_hosts" "rack0" {
  labels     = { rack = "r0" }
  depends_on = [metal3_baremetal_host.node]
}

output "machines" {
  description = "State, power, processors and MAC address of each machine."
  value = {
    for h in metal3_baremetal_host.node : h.name => format("%s, %s, %d CPUs, boots from %s",
    h.provisioning_state, h.powered_on ? "on" : "off", h.hardware.cpu.count, h.boot_mac_address)
  }
}

output "rack0" {
  description = "Names of the machines in rack r0."
  value       = [for h in data.metal3_baremetal_hosts.rack0.hosts : h.name]
}

output "gpus" {
  description = "Each GPU, and where node-0 shows it."
  value       = [for d in metal3_composable_gpu.train.devices : "${d.device_id} at ${d.pci_bus_id} of ${d.host_name}: ${d.state}, ${d.health}"]
}

output "gpus_left" {
  description = "How many GPUs of each model the pool still has."
  value       = { for c in data.metal3_fabric_capacity.left.capacities : c.model => c.free }
}
