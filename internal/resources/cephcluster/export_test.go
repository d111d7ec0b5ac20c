// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

// What people write, read, for tests.
var (
	ParseSize = parseSize
	Compare   = compare
)
