// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// Outcome is what a remediation came to.
type Outcome string

// The outcomes of a remediation.
const (
	OutcomeHealthy   Outcome = "healthy"   // its Node is Ready
	OutcomeRestarted Outcome = "restarted" // it is on again; nobody looks at its Node
	OutcomeRemade    Outcome = "remade"    // it was deployed anew
	OutcomeNoted     Outcome = "noted"     // the next apply of its cluster does it
	OutcomeGivenUp   Outcome = "given_up"  // it did not help, and that is nothing to fail for
)

// Remedy is a remediation of one machine.
type Remedy struct {
	Machine  string
	Outcome  Outcome // empty where it failed
	Attempts int     // with those of runs that were cut short
	Count    int     // of all remediations of this machine
	Resumed  string  // the phase in which an earlier run left it; empty: it began in this run
	Phase    string  // in which it is left; empty: it has ended
	Node     string
}

// Remediate heals one machine by a person's word, whatever its health. What its cluster makes
// machines from is not known here: a machine that is to be made anew gets a note, and the next apply
// of its cluster does it.
func (r *Run) Remediate(ctx context.Context, name string, how Remediation) Result {
	w := r.worker(Record{})
	w.pools, _ = w.Wanted.CompilePools()

	w.Far.Forget()

	m, err := w.patient(ctx, name)
	if err == nil {
		w.askNodes(ctx)

		err = w.allowed(m, how)
	}

	if err == nil {
		m.redirect(how.Strategy)

		err = w.remediate(ctx, m, how)
	}

	res := w.result(ctx, err)
	if m != nil {
		res.Remedy = m.remedy
	}

	return res
}

// patient finds the machine that a person names.
func (w *worker) patient(ctx context.Context, name string) (*member, error) {
	if err := w.look(ctx); err != nil {
		return nil, err
	}

	if err := w.foreignOwner(); err != nil {
		return nil, err
	}

	cluster := w.Wanted.Namespace + "/" + w.Wanted.Name
	if len(w.members) == 0 {
		return nil, fmt.Errorf("there is no cluster %s at %s", cluster, w.Far.Endpoint())
	}

	m := w.members[name]

	switch {
	case m == nil:
		return nil, fmt.Errorf("cluster %s has no machine %q; it has: %s", cluster, name, joined(sortedKeys(w.members)))
	case m.sight() != SeenActive:
		return nil, fmt.Errorf("machine %s%s does not run, it is %s: its cluster's apply sees to it", name, m.on(), m.sight())
	}

	for _, one := range w.members {
		w.recall(one) // Nodes are found by addresses, too
	}

	return m, nil
}

// allowed says why a machine may not be touched although a person asks for it.
func (w *worker) allowed(m *member, how Remediation) error {
	n := m.seen.Node

	if n.Maintenance {
		why := cmp.Or(n.MaintenanceReason, cmp.Or(n.Fault, "no reason is given"))

		return fmt.Errorf("machine %s%s: its host is in maintenance (%s), so somebody works on it, or Ironic has lost it: nothing was touched. Take the host out of maintenance first", m.Name, m.on(), why)
	}

	if m.Role != ControlPlane {
		return nil
	}

	if how.Strategy == RemedyRebuild || how.Strategy == RemedyReplace {
		return w.mayLose(m)
	}

	if s, asked := w.states[m.Name]; asked && s.Ready != "True" {
		return nil // it serves nobody
	}

	for _, o := range w.others(m) {
		switch s, asked := w.states[o.Name]; {
		case o.underRepair():
			return fmt.Errorf("machine %s: %w: %s is under remediation (%s), and machines of the control plane are healed one at a time: finish that first", m.Name, nodes.ErrNotAllowed, o.Name, o.note.Remediation.Phase)
		case asked && s.Ready != "True":
			return fmt.Errorf("machine %s: %w: it is well and %s of the control plane is not: heal that one first", m.Name, nodes.ErrNotAllowed, o.Name)
		}
	}

	return nil
}

// mayLose says why a machine may not lose what is on its disks.
func (w *worker) mayLose(m *member) error {
	if m.Role != ControlPlane {
		return nil
	}

	p := nodes.ControlPlanePool{Replicas: len(w.controlPlane())}

	for _, o := range w.controlPlane() {
		switch {
		case o == m:
		case o.sight() != SeenActive:
			p.Provisioning = append(p.Provisioning, o.Name)
		case o.underRepair():
			p.Remediating = append(p.Remediating, o.Name)
		}
	}

	return p.Allowed(m.Name)
}

// redirect follows a person who wants something else than what an earlier run began: that is not gone
// on with, and not counted again.
func (m *member) redirect(strategy string) {
	if !m.underRepair() {
		return
	}

	was := m.note.Remediation.Phase
	if was != phaseRebuild && was != phaseReplace {
		was = phaseOff
	}

	if first := firstPhase(strategy); first != was {
		m.note.Remediation = &host.Remediation{Phase: first, Count: m.note.Remediation.Count, Started: now(), Node: m.note.Remediation.Node}
	}
}

// leaveNote leaves a wish to the next apply of the machine's cluster.
func (w *worker) leaveNote(m *member) error {
	m.remedy.Outcome = OutcomeNoted

	verb := "replaced"
	if m.note.Remediation.Phase == phaseRebuild {
		verb = "rebuilt"
	}

	w.warn("Machine "+m.Name+" is to be "+verb, fmt.Sprintf("What it is made from is in the configuration of its cluster: it is %s by the next apply of metal3_cluster %s/%s. Its note says so until then.",
		verb, w.Wanted.Namespace, w.Wanted.Name))

	return nil
}
