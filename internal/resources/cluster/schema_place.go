// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// The words of a pool of addresses.
const (
	allocateIndex      = "index"
	allocateSequential = "sequential"
	allocateRandom     = "random"

	byMachine = "machine"
	byHost    = "host"
)

// poolAttributes are those of a pool of addresses.
func poolAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"ranges": schema.ListNestedAttribute{
			Optional: true, Validators: []validator.List{listvalidator.SizeAtLeast(1)}, MarkdownDescription: "Where addresses are taken from, in this order. Ranges must not overlap. Required.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"start":   at.Text("First address. Default: the first one of `subnet`."),
				"end":     at.Text("Last address. Default: the last one of `subnet`."),
				"subnet":  at.Text("Network in CIDR notation. Its network address and, of IPv4, its broadcast address are left out."),
				"prefix":  at.NumberOrNone(0, 128, "Length of the prefix. Default: as the pool's, or the subnet's."),
				"gateway": at.Text("Gateway. Default: the pool's."),
				"dns":     at.Texts("DNS servers. Default: the pool's."),
			}},
		},
		"prefix":      at.NumberOrNone(0, 128, "Length of the prefix of all addresses."),
		"gateway":     at.Text("Gateway. It is never given to a machine."),
		"dns_servers": at.Texts("DNS servers."),
		"allocation": at.Choice(allocateIndex, "`index` (default): the address follows from the index of the machine, is known at plan, and needs no agreement. "+
			"`sequential`: the first one that no machine of any cluster of this Ironic has. `random`: any of those.", allocateIndex, allocateSequential, allocateRandom),
		"step":            at.Number(1, 1, 1<<30, "With `index`, how far the addresses of two machines are apart. Default `1`."),
		"pre_allocations": at.TextMap("Addresses that are kept for machines, or hosts, by name."),
		"by": at.Choice(byMachine, "Whose names `pre_allocations` has, and with whom an address stays: `machine` (default) or `host`.",
			byMachine, byHost),
		"exclude": at.Texts("Addresses and subnets that are never given."),
	}
}

// policyAttributes say how long things may take, and how many go on at once.
func policyAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"wait": at.Section("What an apply waits for.", map[string]schema.Attribute{
			"level": at.ChoiceOrNone("How far a machine must be: `claimed`, `provisioned`, `reachable` (the endpoint takes connections), `api` (the API behind it is ready), `registered` (its node is there) or `nodes` (its node is ready, "+
				"which takes a network plug-in). Default: `registered` where `bootstrap` or `workload_api` is set, else `provisioned`.", levels...),
			"api_timeout":  at.Duration("30m", "How long the endpoint may take to answer after the first machine was deployed. Default `30m`."),
			"node_timeout": at.Duration("30m", "How long a node may take to come after its machine was deployed. Default `30m`."),
			"settle":       at.DurationOrNone("How long a node must have been ready without a break before its machine counts as done, and the next one is touched. With level `nodes`; `node_timeout` is as much longer. Default: not at all."),
		}),
		"parallelism": at.Section("How many machines at once.", map[string]schema.Attribute{
			"provision":   at.Number(10, 1, 1000, "Deployments. Default `10`."),
			"deprovision": at.Number(10, 1, 1000, "Releases. Default `10`."),
			"reboot":      at.Number(2, 1, 1000, "Reboots. Default `2`."),
		}),
		"remediation": at.Section("What happens to machines that are not well. It is off by default.", remediationAttributes()),
		"timeouts": at.Section("Deadlines.", map[string]schema.Attribute{
			"create":      at.Duration("2h", "Of a create. Default `2h`."),
			"update":      at.Duration("4h", "Of an update. Default `4h`."),
			"delete":      at.Duration("2h", "Of a delete. Default `2h`."),
			"read":        at.Duration("5m", "Of a refresh. Default `5m`."),
			"provision":   at.Duration("60m", "Of one deployment. Default `60m`."),
			"deprovision": at.Duration("60m", "Of one release. Default `60m`."),
			"drain":       at.Duration("10m", "Of draining one node. Default `10m`."),
		}),
	}
}

// levels are how far a machine can be waited for, the nearest first.
var levels = []string{"claimed", "provisioned", "reachable", "api", "registered", "nodes"}

func remediationAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"enabled":              at.Flag(false, "Mend machines whose nodes are ill. Default `false`."),
		"unhealthy_timeout":    at.Duration("5m", "How long a node must not have been ready. Default `5m`."),
		"node_startup_timeout": at.Duration("10m", "How long after its deployment a machine may have no node. Default `10m`."),
		"retry_limit":          at.Number(1, 0, 100, "How often it is tried again. Default `1`."),
		"timeout":              at.Duration("10m", "How long a node may take to be ready again. Default `10m`."),
		"max_unhealthy":        at.TextOr("40%", "The most machines of a pool, as a number or a percentage, that may be ill: with more nothing is done, because then the cause is elsewhere. Default `40%`.", amount()),
		"strategy":             at.Choice("reboot", "`reboot` (default): power-cycle. `rebuild`: write the root disk again. `replace`: take another host.", "reboot", "rebuild", "replace"),
		"on_failure": at.Choice("replace", "What happens when it did not help: `replace` (default; the host is marked unhealthy and stays off, and the machine gets another one), `fail` (an error) or `none`.",
			"replace", "fail", "none"),
		"fence": at.Choice("auto", "Whether pods of a node that is off are freed before it comes back: `auto` (default; by the out-of-service taint from Kubernetes 1.28 on, else by deleting the Node) or `never`.",
			"auto", "never"),
	}
}

// workloadAttribute says how the workload cluster's API is reached.
func workloadAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "How the API of the cluster is reached, when it is needed.",
		Attributes: map[string]schema.Attribute{
			"kubeconfig":      at.Secret("Kubeconfig. It is in the state; `kubeconfig_path` keeps it out."),
			"kubeconfig_path": at.Text("File with a kubeconfig on the machine that runs Terraform."),
			"context":         at.Text("Context of the kubeconfig. Default: its current one."),
			"from_bootstrap":  at.Flag(false, "Use the kubeconfig that `bootstrap` makes. Default `false`; where `bootstrap` is set and nothing else is said here, it is used anyway."),
			"ssh": schema.SingleNestedAttribute{
				Optional: true, Attributes: sshAttributes(), MarkdownDescription: "Read the kubeconfig from a machine of the control plane.",
			},
			"ca":       at.Text("CA certificate (PEM) of the API, instead of the kubeconfig's.", stringvalidator.ConflictsWith(sibling("insecure"))),
			"insecure": schema.BoolAttribute{Optional: true, MarkdownDescription: "Do not verify the API's certificate. A plan warns of it."},
		},
	}
}
