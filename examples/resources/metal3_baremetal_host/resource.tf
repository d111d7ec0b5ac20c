variable "bmc_password" {
  type      = string
  sensitive = true
  ephemeral = true
}

# From the address of the BMC to a running machine.
resource "metal3_baremetal_host" "web" {
  name = "rack1-u07"

  bmc = {
    address             = "redfish-virtualmedia+https://10.0.7.7/redfish/v1/Systems/1"
    username            = "admin"
    password_wo         = var.bmc_password
    password_wo_version = 1
  }

  labels = { rack = "r1", role = "web" }

  image = {
    url           = "https://images.example.com/debian-12.qcow2"
    checksum      = "https://images.example.com/SHA256SUMS"
    checksum_type = "auto"
  }

  root_device_hints = { rotational = false, min_size_gigabytes = 200 }

  user_data = <<-EOT
    #cloud-config
    hostname: rack1-u07
  EOT

  network_data = jsonencode({
    links    = [{ id = "eth0", type = "phy", ethernet_mac_address = "52:54:00:12:34:56" }]
    networks = [{ id = "prov", type = "ipv4_dhcp", link = "eth0" }]
    services = []
  })

  # A new image is a decision, not an accident: it needs reprovision = "allow" first.
  reprovision = "deny"
}

# Registered and inspected only: a cluster, or a person, deploys on it later.
resource "metal3_baremetal_host" "spare" {
  name = "rack1-u08"

  bmc = {
    address             = "ipmi://10.0.7.8"
    username            = "admin"
    password_wo         = var.bmc_password
    password_wo_version = 1
  }

  boot_mac_address = "52:54:00:12:34:57"
  online           = false
}

# A machine that runs already, whoever installed it: never inspected, deployed or cleaned.
resource "metal3_baremetal_host" "legacy" {
  name = "rack1-u09"

  bmc = {
    address             = "idrac-redfish+https://10.0.7.9/redfish/v1/Systems/System.Embedded.1"
    username            = "root"
    password_wo         = var.bmc_password
    password_wo_version = 1
  }

  externally_provisioned = true
  deletion_policy        = "detach"
}
