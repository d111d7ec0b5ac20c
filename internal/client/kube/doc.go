// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package kube talks to the API server of a workload cluster: the calls on Nodes, Pods,
// evictions, volume attachments, devices and bootstrap tokens that a cluster's life needs.
//
// Of client-go it uses what knows kubeconfigs, credentials and TLS. The requests are the
// package's own: client-go repeats a refused eviction for minutes without a word, and its caller
// learns only that the time is over. Here nothing is waited for. Errors that may be gone at the
// next look are marked with wait.Transient, all others are final.
package kube
