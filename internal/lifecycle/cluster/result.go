// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// result is what a run came to.
func (w *worker) result(ctx context.Context, err error) Result {
	res := Result{Err: err, Warnings: w.warnings, Record: Record{Machines: map[string]Machine{}, Kubeconfig: w.kubeconfig, ClusterCA: w.ca}}

	for name, m := range w.members {
		if m.gone || m.unwanted && m.sight().vacant() {
			continue
		}

		res.Known = res.Known || m.seen.Node.UUID != "" || m.known
		res.Record.Machines[name] = w.machine(m)
	}

	w.judge(&res.Record)

	if err != nil {
		res.Stands = res.Record.stands()
	}

	if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		res.Err = fmt.Errorf("%w (%w)", err, context.Cause(ctx))
	}

	w.Far.Forget()

	return res
}

// machine is what is known of one machine.
func (w *worker) machine(m *member) Machine {
	out, n := m.record, m.seen.Node

	out.Name, out.Pool, out.Role, out.Index, out.ClaimID = m.Name, m.Pool, m.Role, m.Index, m.ClaimID
	out.ClaimKind = string(m.kind)
	out.LastError = ""

	if m.sight().vacant() {
		out.HostID, out.HostName, out.Domain, out.ProviderID, out.ImageURL, out.TemplateHash, out.Power = "", "", "", "", "", "", ""
		out.Node, out.NodeReady, out.Provisioned, out.ClaimKind = "", nil, "", ""
	} else {
		out.HostID, out.HostName, out.Domain = n.UUID, choose.Name(m.seen), m.seen.Journal.FailureDomain
		out.ProviderID, out.Power = w.providerID(m), string(n.PowerState)
		out.TemplateHash, out.Provisioned = m.note.Runs(), m.note.Provisioned
		out.ImageURL = imageOf(m.seen)

		if r := m.note.Remediation; r != nil {
			out.Remediations = r.Count
		}
	}

	out.UpToDate = m.upToDate()
	out.State = m.state(w)
	out.Healthy = (out.State == StateReady || out.State == StateActive || out.State == StateClaimed && w.Wanted.Wait.Level == LevelClaimed) &&
		w.illness(m, time.Now()) == ""

	switch {
	case m.err != nil:
		out.LastError = m.err.Error()
	case n.LastError != "" && (n.ProvisionState == ironic.DeployFailed || n.ProvisionState == ironic.Error):
		out.LastError = n.LastError
	case out.State == StateError:
		out.LastError = cmp.Or(m.record.LastError, "its claim on the host is gone")
	case !out.Healthy:
		out.LastError = w.illness(m, time.Now())
	}

	return out
}

// imageOf is the image that a host runs or is to run.
func imageOf(s host.Seen) string {
	url, _ := s.Node.InstanceInfo["image_source"].(string)

	return url
}

// state is where a machine is, in one word.
func (m *member) state(w *worker) State {
	sight := m.sight()

	switch {
	case m.err != nil:
		return StateError
	case sight.vacant():
		if m.known && m.record.HostID != "" {
			return StateError
		}

		return StatePlanned
	case sight == SeenClaimed:
		return StateClaimed
	case sight == SeenFailed || sight == SeenHalf:
		return StateError
	case sight == SeenBusy:
		switch m.seen.Node.ProvisionState {
		case ironic.Deleting, ironic.Cleaning, ironic.CleanWait:
			return StateDeprovisioning
		default:
			return StateDeploying
		}
	case w.illness(m, time.Now()) != "":
		return StateUnhealthy
	case !w.joins():
		return StateActive
	case m.record.Node == "":
		return StateJoining
	case w.Wanted.Wait.Level == LevelNodes && (m.record.NodeReady == nil || !*m.record.NodeReady):
		return StateJoining
	default:
		return StateReady
	}
}

// judge says how the cluster is as a whole.
func (w *worker) judge(r *Record) {
	var bad []string

	wanted := 0

	for _, p := range w.Wanted.Pools {
		wanted += p.Replicas
	}

	for _, name := range sortedKeys(r.Machines) {
		m := r.Machines[name]
		if !m.Healthy {
			bad = append(bad, name)
		}
	}

	r.Conditions = w.conditions(r, bad)
	r.Ready = len(bad) == 0 && len(r.Machines) == wanted && !outdatedIn(w, r)

	switch {
	case r.Ready:
		r.State = ClusterReady
	case len(r.Machines) == 0:
		r.State = ClusterPending
	case anyIn(r, StateDeploying, StateClaimed, StatePlanned, StateJoining) && !anyIn(r, StateError, StateUnhealthy):
		r.State = ClusterProvisioning
	default:
		r.State = ClusterDegraded
	}
}

func outdatedIn(w *worker, r *Record) bool {
	for _, m := range r.Machines {
		p, ok := w.Wanted.pool(m.Pool)
		if !m.UpToDate && (!ok || p.Rollout.Strategy != OnDelete) {
			return true
		}
	}

	return false
}

func anyIn(r *Record, states ...State) bool {
	for _, m := range r.Machines {
		for _, s := range states {
			if m.State == s {
				return true
			}
		}
	}

	return false
}

// stands says what there is after a run that failed.
func (r Record) stands() string {
	if len(r.Machines) == 0 {
		return "Nothing is claimed."
	}

	parts := make([]string, 0, len(r.Machines))

	for _, name := range sortedKeys(r.Machines) {
		m := r.Machines[name]

		part := name + " is " + string(m.State)
		if m.HostName != "" {
			part += " on " + m.HostName
		}

		parts = append(parts, part)
	}

	const most = 20
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("and %d more", len(r.Machines)-most))
	}

	return "What stands: " + strings.Join(parts, ", ") + "."
}

// setAddress gives a machine an address without touching a map that others may read.
func (m *member) setAddress(pool string, a addresses.Address) {
	next := map[string]addresses.Address{pool: a}
	for name, other := range m.record.Addresses {
		if name != pool {
			next[name] = other
		}
	}

	m.record.Addresses = next
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")

	return line
}
