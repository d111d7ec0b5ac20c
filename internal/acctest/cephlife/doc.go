// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephlife holds whole lives of Ceph clusters, on real daemons.
package cephlife
