// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package nodes is what a cluster's machines need of their workload cluster: each finds its
// Node, gets its providerID, labels, taints and annotations, is drained before it goes and
// fenced before it is switched on again.
//
// The workload cluster is never the owner of a machine: Ironic is. What cannot be asked here
// is unknown, and nothing here decides that a machine is gone.
package nodes
