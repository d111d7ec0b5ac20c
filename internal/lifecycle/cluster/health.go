// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

// illness is why a machine that runs is not well, empty where it is, or where nobody knows. A host
// that a person has put in maintenance is not well either, and nobody touches it.
func (w *worker) illness(m *member, at time.Time) string {
	n := m.seen.Node

	switch {
	case m.sight() != SeenActive:
		return ""
	case n.Fault != "":
		return "Ironic says: " + n.Fault
	case n.Maintenance:
		return "its host is in maintenance: " + n.MaintenanceReason
	case n.PowerState == ironic.PowerOff && n.TargetPowerState == "":
		return "it is powered off"
	}

	s, asked := w.states[m.Name]
	limit := w.Wanted.Remediation

	if !asked {
		return ""
	}

	if s.Node == "" && s.Problem == "" {
		provisioned, _ := time.Parse(time.RFC3339, m.note.Provisioned)

		if late, why := nodes.Overdue(s, provisioned, at, limit.StartupTimeout); late && limit.StartupTimeout > 0 {
			return why
		}

		return ""
	}

	if well, why := nodes.Healthy(s, at, limit.UnhealthyTimeout); !well {
		return why
	}

	return ""
}

// ill reports whether a machine goes first where one has to go.
func (m *member) ill() bool {
	return m.err != nil || m.seen.Node.Fault != "" || m.record.NodeReady != nil && !*m.record.NodeReady
}

func timeNow() time.Time { return time.Now() }
