// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package ceph_test

// slower is how much slower everything is with the race detector.
const slower = 20
