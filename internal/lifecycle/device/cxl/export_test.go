// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cxl

// What the tests see of the inside.
var (
	ParseList    = parseList
	ParseRegions = parseRegions
)

// The scripts, to be run for real.
const (
	ScriptList    = scriptList
	ScriptRegions = scriptRegions
	ScriptHolders = scriptHolders
)
