// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fti

import (
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// status is what a code of mach_status means.
type status struct {
	name  string
	state fabric.State
	power fabric.Power
}

// statuses are the codes of mach_status, as the vendor's own driver for nodes lists them.
var statuses = map[int]status{
	10: {"BUILDING_BEFORE_QUEUE", fabric.Busy, fabric.PowerUnknown},
	11: {"BUILDING", fabric.Busy, fabric.PowerUnknown},
	12: {"BOOTING", fabric.Busy, fabric.PowerUnknown},
	13: {"ACTIVE_PON", fabric.Ready, fabric.PowerOn},
	14: {"POWERING_OFF", fabric.Busy, fabric.PowerUnknown},
	15: {"ACTIVE_POFF", fabric.Ready, fabric.PowerOff},
	16: {"UNBUILDING", fabric.Leaving, fabric.PowerUnknown},
	17: {"UNBUILDED", fabric.Gone, fabric.PowerUnknown},
	18: {"OS_INSTALLING", fabric.Busy, fabric.PowerUnknown},
	19: {"ERASING", fabric.Busy, fabric.PowerUnknown},
	20: {"ADDING_RESOURCE", fabric.Busy, fabric.PowerUnknown},
	21: {"DELETING_RESOURCE", fabric.Busy, fabric.PowerUnknown},
	30: {"UNBUILDING_WAIT", fabric.Leaving, fabric.PowerUnknown},
	90: {"ERROR", fabric.Failed, fabric.PowerUnknown},
}

// Status puts a machine's status into words and says what it means. Codes that nobody knows
// are no reason to wait, or to refuse: the machine counts as ready. A name from the table
// counts like its code (CM writes words, and does not say which).
func Status(raw, detail fabric.Text) (text string, state fabric.State, power fabric.Power) {
	if n := fabric.NumberOf(string(raw)); n.Known {
		if s, ok := statuses[n.Int]; ok {
			return strconv.Itoa(n.Int) + " " + s.name, s.state, s.power
		}

		return strings.TrimSpace(strconv.Itoa(n.Int) + " " + detail.Trim()), fabric.Ready, fabric.PowerUnknown
	}

	word := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToUpper(raw.Trim()))

	for _, s := range statuses {
		if s.name == word {
			return raw.Trim(), s.state, s.power
		}
	}

	return strings.TrimSpace(raw.Trim() + " " + detail.Trim()), fabric.Ready, fabric.PowerUnknown
}
