# By the node's UUID, "namespace/name", "namespace~name", a plain node name, the MAC address
# of a port ("mac:…") or the claim ("instance:…").
terraform import metal3_baremetal_host.web 8f6f0c52-3c55-4a4b-9d0f-2f6c2d1f7a10
terraform import metal3_baremetal_host.web metal3/rack1-u07
terraform import metal3_baremetal_host.web mac:52:54:00:12:34:56
