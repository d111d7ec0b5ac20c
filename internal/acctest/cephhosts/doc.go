// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephhosts tests the hosts that tests of Ceph run on: what a power failure, a pulled
// cable and an upgrade of packages leave there has to be as on real hosts, or those tests
// prove nothing.
package cephhosts
