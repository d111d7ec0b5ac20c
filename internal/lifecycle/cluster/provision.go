// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// provision deploys a machine on the host that it has claimed: package host's machine, as a tenant.
func (w *worker) provision(ctx context.Context, m *member, over bool) (host.Seen, error) {
	want := w.tenant(m)
	want.Reprovision = host.Reprovision{Method: "rebuild", Consent: over}

	if want.Tenancy.PowerWas == "" {
		want.Tenancy.PowerWas = m.seen.Node.PowerState
	}

	if want.CleaningMode != "" && m.note.CleaningMode == "" {
		want.Tenancy.CleaningWas = m.cleaned()
	}

	run := w.hostRun(want, host.Provisioned)
	seen, err := run.To(ctx, m.seen)
	w.words(m, run)

	return seen, err
}

// vacate undeploys a machine and waits until its host is cleaned.
func (w *worker) vacate(ctx context.Context, m *member) (host.Seen, error) {
	want := w.tenant(m)
	want.OnlineIgnored = true
	want.Reprovision.Consent = true // the plan named the machine

	run := w.hostRun(want, host.Available)
	seen, err := run.To(ctx, m.seen)
	w.words(m, run)

	return seen, err
}

func (w *worker) hostRun(want host.Wanted, goal host.Goal) *host.Run {
	return &host.Run{
		Backend: w.Far, Wanted: want, Goal: goal, Budget: w.Budget,
		Log: func(ctx context.Context, msg string, fields map[string]any) {
			if step, ok := fields["step"].(string); ok && msg == "step" {
				w.log(ctx, "machine "+want.Name+": "+step)
			} else if place, ok := fields["place"]; ok {
				w.log(ctx, "machine "+want.Name+" waits at the capacity gate, place "+fmt.Sprint(place))
			}
		},
	}
}

// words keeps what package host had to say.
func (w *worker) words(m *member, run *host.Run) {
	for _, text := range run.Warnings {
		w.warn("Machine "+m.Name+m.on(), text)
	}
}

// tenant is what a machine wants of its host.
func (w *worker) tenant(m *member) host.Wanted {
	p := m.pool
	note := m.note
	note.CleaningMode = p.CleaningMode

	want := host.Wanted{
		ID: m.seen.Node.UUID, Namespace: w.Wanted.Namespace, Name: m.Name, OwnerID: w.Wanted.OwnerID,
		InstanceUUID: m.ClaimID, Tenancy: &note,
		Image: p.Image, CustomDeploy: p.CustomDeploy, RootHints: p.RootHints, BootMode: p.BootMode, CleaningMode: p.CleaningMode,
		Online: true, ProvisionAttempts: 1, ProvisioningLimit: w.Wanted.ProvisioningLimit,
		PhaseTimeouts: map[host.Phase]time.Duration{},
	}

	if m.data != nil {
		note.Deploying, note.HooksDue = m.data.hash, len(p.PostProvision) > 0
		want.Config = m.data.config
	}

	if d := w.Wanted.Timeouts.Provision; d > 0 {
		want.PhaseTimeouts[host.PhaseProvisioning] = d
	}

	if d := w.Wanted.Timeouts.Deprovision; d > 0 {
		want.PhaseTimeouts[host.PhaseDeprovisioning] = d
	}

	return want
}
