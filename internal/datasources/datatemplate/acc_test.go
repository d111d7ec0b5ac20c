// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

func TestMain(m *testing.M) { acctest.Main(m) }

// template is the one of a cluster of the lab, and what two functions make of it. The MAC address is not known while planning.
const template = `
resource "terraform_data" "mac" { input = "02:00:5E:10:00:01" }

data "metal3_data_template" "node" {
  meta_data = { ip_addresses_from_pool = [{ key = "node_ip", name = "prov" }] }
  network_data = {
    links    = { ethernets = [{ id = "eth0", type = "phy", name = "eth0", mac_address = { from_host_interface = "boot" } }] }
    networks = { ipv4 = [{ id = "prov", link = "eth0", from_pool = "prov" }] }
  }
}

data "metal3_data_template" "late" {
  network_data = { links = { ethernets = [{ id = "eth0", mac_address = { string = terraform_data.mac.output } }] } }
}

locals {
  prov = { ranges = [{ start = "192.0.2.100", end = "192.0.2.150" }], prefix = 24, gateway = "192.0.2.1" }
  vars = {
    host      = "node-0"
    machine   = "edge-cp-0"
    boot_mac  = terraform_data.mac.output
    addresses = { prov = provider::metal3::ip_at(local.prov, 0) }
  }
}

output "json" { value = data.metal3_data_template.node.json }
output "pools" { value = data.metal3_data_template.node.pools }
output "late" { value = data.metal3_data_template.late.json }
output "meta_data" { value = provider::metal3::render_meta_data(data.metal3_data_template.node.json, local.vars) }
output "network_data" { value = provider::metal3::render_network_data(data.metal3_data_template.node.json, local.vars) }
output "provider_id" { value = provider::metal3::provider_id("default", local.vars.host, local.vars.machine) }
`

func TestAccDataTemplate(t *testing.T) {
	t.Parallel()
	acctest.OnlyAcc(t)

	output := func(name, value string) statecheck.StateCheck {
		return statecheck.ExpectKnownOutputValue(name, knownvalue.StringExact(value))
	}

	acctest.Acc(t, acctest.Plain(), resource.TestStep{
		Config:      `data "metal3_data_template" "bad" { network_data = { networks = { ipv4 = [{ id = "n", link = "eth0", from_pool = "p" }] } } }`,
		PlanOnly:    true,
		ExpectError: regexp.MustCompile(`link "eth0" is none of the links`),
	}, resource.TestStep{
		Config: template,
		ConfigStateChecks: []statecheck.StateCheck{
			output("json", `{"meta_data":{"ip_addresses_from_pool":[{"key":"node_ip","name":"prov"}]},"network_data":{"links":{"ethernets":[{"id":"eth0","type":"phy","name":"eth0","mtu":1500,`+
				`"mac_address":{"from_host_interface":"boot"}}]},"networks":{"ipv4":[{"id":"prov","link":"eth0","from_pool":"prov"}]}}}`),
			statecheck.ExpectKnownOutputValue("pools", knownvalue.ListExact([]knownvalue.Check{knownvalue.StringExact("prov")})),
			output("late", `{"network_data":{"links":{"ethernets":[{"id":"eth0","type":"phy","mtu":1500,"mac_address":{"string":"02:00:5E:10:00:01"}}]}}}`),
			output("meta_data", `{"node_ip":"192.0.2.100","providerid":"default/node-0/edge-cp-0"}`),
			output("network_data", `{"links":[{"ethernet_mac_address":"02:00:5e:10:00:01","id":"eth0","mtu":1500,"name":"eth0","type":"phy"}],"networks":[{"id":"prov",`+
				`"ip_address":"192.0.2.100","link":"eth0","netmask":"255.255.255.0","network_id":"prov","routes":[],"type":"ipv4"}],"services":[]}`),
			output("provider_id", "metal3://default/node-0/edge-cp-0"),
		},
	})
}

// TestAccDataTemplate_examples runs the examples of the data source and of its functions.
func TestAccDataTemplate_examples(t *testing.T) {
	t.Parallel()
	acctest.OnlyAcc(t)

	for _, file := range []string{
		"data-sources/metal3_data_template/data-source.tf", "functions/ip_at/function.tf", "functions/provider_id/function.tf",
		"functions/render_meta_data/function.tf", "functions/render_network_data/function.tf",
	} {
		content, err := os.ReadFile("../../../examples/" + file)
		if err != nil {
			t.Fatal(err)
		}

		acctest.Acc(t, acctest.Plain(), resource.TestStep{Config: string(content)})
	}
}
