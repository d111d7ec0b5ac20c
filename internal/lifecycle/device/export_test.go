// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

// What tests see of the machine and of placement, which are pure.
var (
	ProcessBegan = processBegan
	Next         = next
	Place        = place
	Victims      = victims
	KeepOf       = keep
	Table        = table
	SettleAt     = settleTimeLost
)
