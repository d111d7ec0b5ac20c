// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster brings a cluster of bare-metal machines from a pool of hosts to ready nodes, as
// Cluster API Provider Metal3 does, with `terraform apply` as its controller.
//
// Reading order: wanted.go and record.go (what is wanted, what is known), plan.go (which machines
// there are to be: pure), look.go (what the far side shows), machine.go (the table of one machine),
// steps.go (one step), then converge.go and the verbs. Below it: addresses, datatemplate, choose,
// claim, bootstrap and nodes, one idea each.
//
// The provisioning of one machine is package host's, on a host that the machine has claimed.
package cluster
