// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

// What tests see of the inside.
var (
	Line          = line
	SudoRefused   = sudoRefused
	ParseHostKeys = parseHostKeys
	Authorities   = authorities
)
