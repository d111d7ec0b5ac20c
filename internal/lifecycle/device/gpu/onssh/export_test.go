// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onssh

// What the tests see of the inside.
var (
	ParseVisible = parseVisible
	ParseApps    = parseApps
	ParsePresent = parsePresent
	ParsePCI     = parsePCI
	ParseForeign = parseForeign
	ParseHolders = parseHolders
	ParseDrain   = parseDrain
	ParseModules = parseModules
	ParseFacts   = parseFacts
)

// The scripts, to be run for real.
const (
	ScriptDriver       = scriptDriver
	ScriptPresent      = scriptPresent
	ScriptPCI          = scriptPCI
	ScriptHolders      = scriptHolders
	ScriptRemove       = scriptRemove
	ScriptRemoving     = scriptRemoving
	ScriptRuns         = scriptRuns
	ScriptDeviceFile   = scriptDeviceFile
	ScriptPersistenced = scriptPersistenced
)
