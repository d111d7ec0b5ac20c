# A machine from the address of its BMC to a running host with two GPUs, which its own
# nvidia-smi shows, in the lab that the provider brings along.
#
#   terraform apply                      two GPUs
#   terraform apply -var gpus=4          two more; the first two stay
#   terraform apply -var gpus=1          three are drained on the host and detached
#   terraform destroy

terraform {
  required_providers {
    metal3 = { source = "terraform-metal3/metal3" }
  }
}

provider "metal3" {
  lab = { dir = "${path.root}/.metal3-lab" }
}

variable "gpus" {
  type        = number
  default     = 2
  description = "How many GPUs the machine has; 0 is legal."
}

variable "model" {
  type        = string
  default     = "A100"
  description = "Model of the GPUs, as the fabric spells it. Another model replaces them."
}

resource "metal3_baremetal_host" "train" {
  name = "node-0"

  bmc = {
    address             = "redfish-virtualmedia+http://node-0.lab/redfish/v1/Systems/1"
    username            = "admin"
    password_wo         = "password"
    password_wo_version = 1
  }

  image = {
    url           = "http://images.lab/debian-12.qcow2"
    checksum      = "http://images.lab/SHA256SUMS"
    checksum_type = "auto"
  }
}

# What the fabric could still give to the machine.
data "metal3_fabric_capacity" "gpus" {
  machine_id = metal3_baremetal_host.train.fabric_machine_id
  type       = "gpu"
  models     = [var.model]
}

resource "metal3_composable_gpu" "train" {
  model = var.model
  size  = var.gpus

  hosts = [{
    machine_id = metal3_baremetal_host.train.fabric_machine_id
    name       = metal3_baremetal_host.train.name
    node       = { host = "node-0.lab", user = "root" } # the lab knows its nodes' keys
  }]
}

output "gpus" {
  description = "Each GPU, where the host has it, and how it is."
  value       = [for d in metal3_composable_gpu.train.devices : "${d.device_id} at ${coalesce(d.pci_bus_id, "an unknown address")}: ${d.state}, ${d.health}"]
}

output "state" {
  description = "Running, or Degraded."
  value       = metal3_composable_gpu.train.state
}
