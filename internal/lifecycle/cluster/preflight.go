// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// This file is the check before each step that takes a machine of the control plane down: the others
// have to do its work meanwhile. How far an apply waits for machines has no part in it.

// CheckAskable refuses to make machines of a control plane anew that has others, of which nobody can
// tell how they are. One machine alone has none.
func (w *Wanted) CheckAskable(remade []string, reachable bool) error {
	p, ok := w.pool(ControlPlanePool)
	if !ok || len(remade) == 0 || reachable || w.AllowDisruption || w.Wait.Level == LevelClaimed {
		return nil
	}

	if surge, _ := p.Bounds(); p.Replicas == 1 && surge == 0 {
		return nil
	}

	return fmt.Errorf("the control plane is not made anew (%s): a machine of it may go only while the others are well, and nothing says how to ask them. "+
		"Set workload_api, or rollout.allow_disruption = true where the control plane may be interrupted or lost. Nothing was touched", joined(remade))
}

// healthyControlPlane waits until every other machine of the control plane does its work: kubeadm
// joins no member to an etcd that is not healthy, and no machine goes while another one is missing.
func (w *worker) healthyControlPlane(ctx context.Context, except *member) error {
	others := w.others(except)
	if len(others) == 0 || !w.reachable() {
		return nil // what cannot be asked was permitted before
	}

	bounded, cancel := context.WithTimeout(ctx, cmp.Or(w.Wanted.Wait.NodeTimeout, defaultAPITimeout))
	defer cancel()

	const pause = 15 * time.Second

	rhythm := wait.Cadence{First: time.Second, Factor: 2, Max: pause, Errors: 8}
	answered, ill := false, false

	err := wait.Until(bounded, rhythm, func(ctx context.Context) (wait.Verdict, string, error) {
		failing, unknown, err := w.failing(ctx, others, except)
		if err != nil {
			return wait.Again, "", err
		}

		answered, ill = true, len(failing) > 0

		if len(failing)+len(unknown) == 0 {
			return wait.Done, "", nil
		}

		return wait.Again, "not as it should be: " + strings.Join(append(unknown, failing...), "; "), nil
	})

	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, answered && (ill || !w.Wanted.AllowDisruption):
		return fmt.Errorf("machine %s: the control plane is not healthy enough to change it: %w", except.Name, err)
	case w.Wanted.AllowDisruption:
		w.warn("The control plane could not be asked before machine "+except.Name+" changed", err.Error()+". It changes all the same (rollout.allow_disruption).")

		return nil
	default:
		return fmt.Errorf("machine %s: the control plane cannot be asked whether it is healthy enough to change it: %w. "+
			"See that workload_api reaches it, or set rollout.allow_disruption = true where it may be interrupted or lost", except.Name, err)
	}
}

// failing says what of a control plane's machines is not as it should be, and of which nothing is known.
// Beside theirs it learns the name of the Node that goes: it may be known to nobody yet.
func (w *worker) failing(ctx context.Context, others []*member, goes *member) (failing, unknown []string, err error) {
	api, err := w.workload(ctx)
	if err != nil {
		return nil, nil, err
	}

	wants := []nodes.Want{w.want(goes)}

	for _, m := range others {
		wants = append(wants, w.want(m))
	}

	if !w.joins() { // nobody gives Nodes their providerID here, so somebody else may
		for i := range wants {
			wants[i].CloudProvider = true
		}
	}

	states, err := nodes.Status(ctx, api, wants)
	if err != nil {
		return nil, nil, err
	}

	goes.node = states[goes.Name].Node

	var names []string

	for _, m := range others {
		switch s := states[m.Name]; {
		case s.Node != "":
			names = append(names, s.Node)
		case s.Problem != "":
			failing = append(failing, s.Problem)
		default:
			unknown = append(unknown, "machine "+m.Name+" has no Node that says whose it is")
		}
	}

	more, err := nodes.ControlPlane(ctx, api, names)
	if err != nil {
		return nil, nil, err
	}

	return append(failing, more...), unknown, nil
}
