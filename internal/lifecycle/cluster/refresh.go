// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

// askLimit is how long a refresh waits for the workload's API server.
const askLimit = 10 * time.Second

// Refresh looks at the cluster: one list of hosts, one of claims, and, where the cluster's own API
// answers, one of Nodes. It begins nothing.
func (r *Run) Refresh(ctx context.Context, was Record) Result {
	w := r.worker(was)
	w.pools, _ = w.Wanted.CompilePools()

	if err := w.look(ctx); err != nil {
		return Result{Record: was, Known: true, Err: err}
	}

	for _, m := range w.members {
		w.shape(m)

		if m.seen.Node.UUID != "" {
			w.recall(m)
		}
	}

	w.askNodes(ctx)

	res := w.result(ctx, nil)
	res.Record.Drift = w.drift()

	return res
}

// recall takes over from a machine's note what the state may not know.
func (w *worker) recall(m *member) {
	have := m.have()

	out, err := w.Wanted.Foreseen(w.pools, m.Slot, have)
	if err != nil {
		out = nil
	}

	for pool, address := range have {
		a := out[pool]
		if a.Address != address {
			a = m.record.Addresses[pool]
		}

		// An import knows no pools, so the address is all that is known.
		if a.Address != address {
			a = addresses.Address{Address: address}
		}

		m.setAddress(pool, a)
	}
}

// askNodes asks the workload's API how the Nodes are. One that does not answer changes nothing.
func (w *worker) askNodes(ctx context.Context) {
	if !w.joins() {
		return
	}

	bounded, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()

	var wants []nodes.Want

	for _, m := range w.members {
		if m.sight() == SeenActive {
			wants = append(wants, w.want(m))
		}
	}

	if len(wants) == 0 {
		return
	}

	api, err := w.workload(bounded)
	if err == nil {
		w.states, err = nodes.Status(bounded, api, wants)
	}

	if err != nil {
		w.warn("Nodes are not known", fmt.Sprintf("The API server of cluster %s/%s could not be asked: %v. What the state says of its Nodes stays.", w.Wanted.Namespace, w.Wanted.Name, err))

		return
	}

	for name, s := range w.states {
		w.members[name].observe(s)
	}
}

// observe takes over what a Node says.
func (m *member) observe(s nodes.State) {
	m.record.Node, m.record.NodeReady = s.Node, nil

	if s.Node != "" {
		ready := s.Ready == "True"
		m.record.NodeReady = &ready
	}

	if s.Problem != "" {
		m.record.LastError = s.Problem
	}
}

// drift says what is not as wanted and an apply sees to. An apply that only claims hosts sees to nothing
// that runs on them.
func (w *worker) drift() []string {
	var out []string

	claims := w.Wanted.Wait.Level == LevelClaimed

	add := func(format string, values ...any) { out = append(out, fmt.Sprintf(format, values...)) }

	for _, name := range sortedKeys(w.members) {
		m := w.members[name]

		switch n := m.seen.Node; {
		case m.pool.Name == "":
			continue // its pool is gone: the configuration tells
		case m.sight().vacant():
			add("%s has no host", name)
		case claims:
			// the machine is as it is
		case m.sight() != SeenActive:
			add("%s is %s", name, n.ProvisionState)
		case m.sight() == SeenActive && n.Maintenance:
			// somebody works on it: told by its state, left alone
		case m.sight() == SeenActive && n.PowerState == ironic.PowerOff && n.TargetPowerState == "":
			add("%s is powered off", name)
		}

		if m.sight() == SeenActive && m.hooksDue() && !claims {
			add("%s: post_provision has not been run to its end", name)
		}

		if m.cleansOtherwise() {
			add("the host of %s does not clean as automated_cleaning_mode says", name)
		}

		if s, ok := w.states[name]; ok {
			out = append(out, w.nodeDrift(m, s)...)
		}

		if m.underRepair() && !m.seen.Node.Maintenance && !claims {
			add("%s", m.unhealed())
		}
	}

	slices.Sort(out)

	return out
}

// nodeDrift says what of a machine's Node is not as wanted.
func (w *worker) nodeDrift(m *member, s nodes.State) []string {
	var out []string

	for _, d := range s.Differs {
		out = append(out, m.Name+": "+d)
	}

	if s.Node == "" && s.Problem == "" {
		out = append(out, m.Name+" has no Node")
	}

	if why := w.illness(m, time.Now()); why != "" && w.Wanted.Remediation.Enabled && !m.seen.Node.Maintenance {
		out = append(out, m.Name+" is unhealthy: "+why)
	}

	return out
}

// unhealed says how far a remediation has come.
func (m *member) unhealed() string {
	switch phase := m.note.Remediation.Phase; phase {
	case phaseRebuild:
		return m.Name + " is to be rebuilt, as a remediation asked for"
	case phaseReplace:
		return m.Name + " is to be replaced, as a remediation asked for"
	default:
		return m.Name + ": its remediation was cut short (" + phase + ")"
	}
}
