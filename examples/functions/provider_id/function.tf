output "provider_id" {
  value = provider::metal3::provider_id("default", "node-0", "edge-cp-0") # "metal3://default/node-0/edge-cp-0"
}
