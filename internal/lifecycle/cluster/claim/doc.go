// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package claim takes hosts for the machines of clusters, and gives them back.
//
// A claim is what keeps two machines off one host, also those of other states, other
// processes and other tools: the node's instance_uuid, which Ironic changes only where there
// is none. Where it can, an allocation makes the claim, so that it is seen with its owner in
// a list; instance_uuid is then the allocation's UUID. The id of a claim follows from the
// machine's name (host.MachineClaim), so that a repeated run finds what an earlier one took.
package claim
