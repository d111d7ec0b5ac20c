locals {
  bmc = provider::metal3::parse_bmc_address("redfish-virtualmedia://192.0.2.10:8443/redfish/v1/Systems/1")
}

output "driver" {
  value = local.bmc.driver # "redfish"
}

output "endpoint" {
  value = "${local.bmc.host}:${local.bmc.port}" # "192.0.2.10:8443"
}

output "system" {
  value = local.bmc.system_path # "/redfish/v1/Systems/1"
}
