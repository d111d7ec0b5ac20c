// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package ceph is the life of a Ceph cluster on plain hosts, in Rook's order, and without
// Kubernetes: preflight, identity, monitors, configuration, managers, OSDs, ready.
//
// Reading order: wanted.go (what is asked for), host.go (what is done on one host) and facts.go
// (what is seen there), look.go (what is seen of all), machine.go (what follows), steps.go
// (how it is done), run.go (the verbs). Package onhost does it on real hosts.
package ceph
