// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package workload is what a cluster's own API knows of the GPUs of one of its nodes, and is
// told of them: who uses one, that nobody new is to get it, that one came or went.
//
// Clusters give GPUs to pods in two ways ([Mode]). With dynamic resource allocation each GPU has a
// name, and so has everybody who uses it. A device plug-in only counts: which pod has which
// GPU the API does not say, so there every pod of the node counts, unless somebody who sees
// the GPU itself decides ([Options].Precise).
package workload
