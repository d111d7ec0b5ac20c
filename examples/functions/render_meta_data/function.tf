data "metal3_data_template" "node" {
  meta_data = {
    indexes                = [{ key = "rank", prefix = "w-", offset = 1 }]
    ip_addresses_from_pool = [{ key = "node_ip", name = "prov" }]
  }
}

# What a machine with index 3 finds as meta_data.json:
# {"node_ip":"192.0.2.103","providerid":"default/node-3/edge-w-3","rank":"w-4"}
output "meta_data" {
  value = provider::metal3::render_meta_data(data.metal3_data_template.node.json, {
    host      = "node-3"
    machine   = "edge-w-3"
    index     = 3
    addresses = { prov = { address = "192.0.2.103", prefix = 24 } }
  })
}
