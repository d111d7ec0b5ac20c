// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool

// What the tests look at without a cluster.
var (
	OtherPlace = otherPlace
	Parameters = parameters
)
