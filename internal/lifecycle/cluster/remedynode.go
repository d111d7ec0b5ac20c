// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// This file is a remediation on the workload cluster: fencing, and waiting for the Node.

func (w *worker) fences(how Remediation, node string) bool {
	return how.Fence != FenceNever && how.Strategy != RemedyPowerCycle && node != "" && w.reachable()
}

// fence ends what ran on a machine that is off. What cannot be fenced is switched on all the same:
// without a fence nothing of it has begun to run elsewhere.
func (w *worker) fence(ctx context.Context, m *member, node string) nodes.Backup {
	if m.Role == ControlPlane && len(w.others(m)) == 0 {
		w.log(ctx, "machine "+m.Name+" is not fenced: the cluster's API runs on it alone")

		return nodes.Backup{}
	}

	w.log(ctx, fmt.Sprintf("fencing machine %s: ending what ran on Node %s", m.Name, node))

	limit := cmp.Or(w.Wanted.Timeouts.Drain, defaultFenceLimit)

	api, err := w.workload(ctx)
	if err != nil {
		w.warn("Machine "+m.Name+" was not fenced", err.Error())

		return nodes.Backup{}
	}

	backup, err := nodes.Fence(ctx, api, node, limit)
	if err != nil && ctx.Err() == nil {
		w.warn("Machine "+m.Name+" was not fenced", err.Error()+". It is switched on all the same.")
	}

	return backup
}

// healthyAgain takes the fence away and waits until the Node of a machine is Ready.
func (w *worker) healthyAgain(ctx context.Context, m *member, how Remediation, node string, backup nodes.Backup) error {
	m.remedy.Outcome = OutcomeRestarted

	if !w.reachable() || node == "" && !w.joins() {
		return w.recovered(ctx, m)
	}

	api, err := w.workload(ctx)
	if err != nil {
		return err
	}

	limit := cmp.Or(how.Timeout, defaultRemedyTimeout)

	w.log(ctx, fmt.Sprintf("waiting up to %s for the Node of machine %s", limit, m.Name))

	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	if node != "" {
		err = nodes.Unfence(bounded, api, node, backup)
	}

	if err == nil {
		err = w.ready(bounded, api, m)
	}

	switch {
	case err == nil:
		m.remedy.Outcome = OutcomeHealthy

		return w.recovered(ctx, m)
	case ctx.Err() == nil && bounded.Err() != nil:
		return fmt.Errorf("%w: %w", errStillIll, err)
	default:
		return err
	}
}

// ready waits for a Node that is Ready. Where its pool is known the Node is made what is wanted, too.
func (w *worker) ready(ctx context.Context, api nodes.Workload, m *member) error {
	want := w.want(m)
	want.Ready = true

	// Its Node says for most of a minute that it is Ready while its machine is off: only one that has
	// booted again counts.
	if m.pool.Name == "" || m.boot != "" {
		if err := w.observed(ctx, api, m, want); err != nil || m.pool.Name == "" {
			return err
		}
	}

	j, err := nodes.Join(ctx, api, want, w.exists, 0)
	if err != nil {
		return err
	}

	m.record.Node, m.record.NodeReady, m.joined = j.Node, &j.Ready, true

	return nil
}

// observed is [worker.ready] for who does not know what the Node is to be like, and only looks.
func (w *worker) observed(ctx context.Context, api nodes.Workload, m *member, want nodes.Want) error {
	hub := nodes.NewHub(api)

	return wait.Until(ctx, watching, func(ctx context.Context) (wait.Verdict, string, error) {
		all, err := nodes.Status(ctx, hub, []nodes.Want{want})
		if err != nil {
			return wait.Again, "", err
		}

		s := all[m.Name]
		m.observe(s)

		switch {
		case m.boot != "" && s.BootID == m.boot:
			return wait.Again, "Node " + s.Node + " has not booted again", nil
		case s.Ready == "True":
			return wait.Done, "", nil
		case s.Node == "":
			return wait.Again, cmp.Or(s.Problem, "it has no Node"), nil
		default:
			return wait.Again, fmt.Sprintf("Node %s: Ready is %q", s.Node, s.Ready), nil
		}
	})
}

// bootOf says which boot a machine's Node is of; empty where that cannot be told.
func (w *worker) bootOf(ctx context.Context, m *member) string {
	if !w.joins() {
		return ""
	}

	bounded, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()

	api, err := w.workload(bounded)
	if err != nil {
		return ""
	}

	all, _ := nodes.Status(bounded, api, []nodes.Want{w.want(m)}) // then nothing is known

	return all[m.Name].BootID
}

// watching is the rhythm in which Nodes are looked at; the API server may be away for a while.
var watching = wait.Cadence{First: 5 * time.Second, Errors: math.MaxInt}
