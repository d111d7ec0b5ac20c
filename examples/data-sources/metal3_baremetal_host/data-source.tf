# A host that somebody else looks after, by any MAC address of it, in any spelling.
variable "mac_address" {
  type    = string
  default = null
}

data "metal3_baremetal_host" "neighbour" {
  count       = var.mac_address == null ? 0 : 1
  mac_address = var.mac_address
}

# A host by its name, in the namespace of the provider.
resource "metal3_baremetal_host" "node" {
  name = "node-0"

  bmc = {
    address             = "redfish-virtualmedia+http://node-0.lab/redfish/v1/Systems/1"
    username            = "admin"
    password_wo         = "password"
    password_wo_version = 1
  }
}

data "metal3_baremetal_host" "node" {
  name = metal3_baremetal_host.node.name

  depends_on = [metal3_baremetal_host.node]
}

output "serial_number" {
  value = data.metal3_baremetal_host.node.hardware.system_vendor.serial_number
}

output "disks" {
  value = [for d in data.metal3_baremetal_host.node.hardware.storage : d.name]
}
