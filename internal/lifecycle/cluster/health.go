// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
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

// confirmed are the machines that two looks, half a minute apart, show ill.
func (w *worker) confirmed(ctx context.Context) ([]*member, error) {
	first := w.illNow(ctx)
	if len(first) == 0 {
		return nil, nil
	}

	w.log(ctx, fmt.Sprintf("%d machines look ill; looking again in %s", len(first), twice))

	if err := wait.Sleep(ctx, twice); err != nil {
		return nil, err
	}

	for _, m := range first {
		if err := w.lookAt(ctx, m); err != nil {
			return nil, err
		}
	}

	again := w.illNow(ctx)

	return slices.DeleteFunc(first, func(m *member) bool { return !slices.Contains(again, m) }), nil
}

// illNow are the machines that are ill by their Nodes now. What Ironic alone reports (maintenance, a
// fault) is somebody's work or heals by itself, and is told, not touched.
func (w *worker) illNow(ctx context.Context) []*member {
	w.askNodes(ctx)

	var out []*member

	for _, m := range w.wantedMembers() {
		if _, asked := w.states[m.Name]; asked && m.sight() == SeenActive && !m.seen.Node.Maintenance && m.seen.Node.Fault == "" && w.illness(m, time.Now()) != "" {
			out = append(out, m)
		}
	}

	return out
}

// permitted says why a machine may not be touched although it is ill.
func (w *worker) permitted(m *member, ill []*member) error {
	if m.Role == ControlPlane {
		p := nodes.ControlPlanePool{Replicas: m.pool.Replicas}

		for _, o := range w.controlPlane() {
			switch {
			case o == m:
			case o.sight() != SeenActive:
				p.Provisioning = append(p.Provisioning, o.Name)
			case slices.Contains(ill, o):
				p.Remediating = append(p.Remediating, o.Name)
			}
		}

		return p.Allowed(m.Name)
	}

	sick := 0

	for _, o := range ill {
		if o.Pool == m.Pool {
			sick++
		}
	}

	return w.Wanted.Remediation.MaxUnhealthy.Tolerates(m.Pool, m.pool.Replicas, sick)
}
