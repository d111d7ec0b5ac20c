// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"regexp"
	"strings"
)

// busIDPattern takes nvidia-smi's form (00000000:1F:00.0) and the kernel's (0000:1f:00.0).
var busIDPattern = regexp.MustCompile(`^([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})\.([0-7])$`)

// NormalBusID is a PCI address as sysfs spells it: a domain of four digits, lower case. It
// returns false for what is no PCI address.
func NormalBusID(s string) (string, bool) {
	m := busIDPattern.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return "", false
	}

	domain := m[1]
	for len(domain) > 4 && domain[0] == '0' {
		domain = domain[1:]
	}

	return strings.ToLower(domain + ":" + m[2] + ":" + m[3] + "." + m[4]), true
}

// DriverBusID is a PCI address as nvidia-smi takes it.
func DriverBusID(normal string) string { return strings.ToUpper(normal) }
