// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

// ParseLook reads what the look's script printed.
var ParseLook = parseLook

// Scripts are those about daemons, for tests of their syntax.
var Scripts = map[string]string{
	"look": scriptLook, "clock": scriptClock, "write": scriptWrite, "mkmon": scriptMakeMon, "make": scriptMakeDaemon,
	"start": scriptStart, "stop": scriptStop, "remove": scriptRemove, "erase": scriptErase, "install": scriptInstall,
	"discard": scriptDiscard,
}
