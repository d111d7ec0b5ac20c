# One network card with an address of a pool.
data "metal3_data_template" "node" {
  meta_data = { ip_addresses_from_pool = [{ key = "node_ip", name = "prov" }] }
  network_data = {
    links = { ethernets = [{ id = "eth0", name = "eth0", mac_address = { from_host_interface = "boot" } }] }
    networks = {
      ipv4 = [{ id = "prov", link = "eth0", from_pool = "prov", routes = [{ network = "0.0.0.0", gateway = { from_pool = "prov" } }] }]
    }
    services = { dns_from_pool = "prov" }
  }
}

# A bond of two cards with a VLAN for storage. The second card's MAC address is an annotation of the host.
data "metal3_data_template" "bonded" {
  meta_data = {
    object_names         = [{ key = "local-hostname", object = "machine" }]
    indexes              = [{ key = "rank", prefix = "w-", offset = 10, step = 2 }]
    from_labels          = [{ key = "rack", object = "host", label = "topology/rack" }]
    from_host_interfaces = [{ key = "boot_mac", from_boot_mac = true }]
  }
  network_data = {
    links = {
      ethernets = [
        { id = "a", mtu = 9000, mac_address = { from_host_interface = "boot" } },
        { id = "b", mtu = 9000, mac_address = { from_annotation = { object = "host", annotation = "second-mac" } } },
      ]
      bonds = [{
        id                    = "bond"
        bond_mode             = "802.3ad"
        bond_xmit_hash_policy = "layer3+4"
        bond_links            = ["a", "b"]
        mtu                   = 9000
        parameters            = [{ name = "miimon", value = 100 }, { name = "lacp_rate", value = "fast" }]
      }]
      vlans = [{ id = "storage", vlan_id = 100, vlan_link = "bond", mtu = 9000, mac_address = { from_host_interface = "boot" } }]
    }
    networks = {
      ipv4       = [{ id = "storage", link = "storage", from_pool = "storage" }]
      ipv4_dhcp  = [{ id = "dhcp", link = "bond" }]
      ipv6_slaac = [{ id = "slaac", link = "bond" }]
    }
    services = { dns = ["192.0.2.53", "2001:db8::53"] }
  }
}

output "pools" {
  value = data.metal3_data_template.bonded.pools # ["storage"]
}
