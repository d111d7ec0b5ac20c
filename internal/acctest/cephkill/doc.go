// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephkill holds nothing but tests: they run the built provider under the Terraform
// command, have it make Ceph clusters of real daemons, and end the one, the other or both in the
// middle of it; and they make a cluster on hosts behind real SSH servers.
package cephkill
