// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// want is what a machine wants of its Node.
func (w *worker) want(m *member) nodes.Want {
	o := nodes.Want{
		Machine: m.Name, Host: choose.Name(m.seen), HostID: m.seen.Node.UUID, ProviderID: w.providerID(m), ClaimID: m.ClaimID,
		Labels: maps.Clone(m.pool.NodeLabels), Annotations: m.pool.NodeAnnotations, Taints: m.pool.NodeTaints,
		SyncPrefixes: w.Wanted.LabelPrefixes, HostLabels: choose.Labels(m.seen),
		CloudProvider: w.Wanted.CloudProvider, InService: !m.unwanted && !m.outdated(), Ready: w.Wanted.Wait.Level.reaches(LevelNodes),
		Settle: w.Wanted.Wait.Settle,
	}

	if o.Labels == nil {
		o.Labels = map[string]string{}
	}

	maps.Copy(o.Labels, w.Wanted.Overrides[m.Name].Labels)

	for _, pool := range sortedKeys(m.record.Addresses) {
		o.Addresses = append(o.Addresses, m.record.Addresses[pool].Address)
	}

	slices.Sort(o.Addresses)

	return o
}

// join waits for the Node of a machine and makes it what is wanted, and runs what is to be run after a
// deployment.
func (p *pilot) join(ctx context.Context) error {
	want := p.want(p.m)
	first := want

	if p.m.hooksDue() { // which may be what makes Nodes ready: they install the network plug-in
		first.Ready = false
	}

	if p.joins() {
		if err := p.joinNode(ctx, first); err != nil {
			return err
		}
	}

	if err := p.firstHooks(ctx, p.m); err != nil {
		return err
	}

	if p.joins() && want.Ready && !first.Ready {
		if err := p.joinNode(ctx, want); err != nil {
			return err
		}
	}

	p.m.joined = true

	return nil
}

func (p *pilot) joinNode(ctx context.Context, want nodes.Want) error {
	api, err := p.workload(ctx)
	if err != nil {
		return err
	}

	p.log(ctx, "waiting for the Node of machine "+p.m.Name)

	limit := cmp.Or(p.Wanted.Wait.NodeTimeout, defaultAPITimeout) + p.Wanted.Wait.Settle

	j, err := nodes.Join(ctx, api, want, p.exists, limit)
	p.m.record.Node = j.Node

	if j.Node != "" {
		ready := j.Ready
		p.m.record.NodeReady = &ready
	}

	if err != nil {
		return err
	}

	p.retract(ctx, p.m)

	return nil
}

// drain empties the Node of a machine that leaves, or whose disk is overwritten.
func (p *pilot) drain(ctx context.Context) error {
	how := p.m.pool.Rollout.Drain
	if how == DrainNever || !p.joins() {
		return p.lastHooks(ctx, p.m, p.m.pool.PreDeprovision)
	}

	err := p.drainNode(ctx)

	// Pods that may not go are a reason to stop; an API that is not there is none, unless the user says so.
	var blocked *wait.TimeoutError
	if err != nil && (how == DrainRequired || ctx.Err() != nil || errors.As(err, &blocked)) {
		return fmt.Errorf("draining it: %w", err)
	}

	if err != nil {
		p.warn("Machine "+p.m.Name+" was not drained", err.Error()+". It goes all the same; rollout.drain = \"required\" would have stopped here.")
	}

	return p.lastHooks(ctx, p.m, p.m.pool.PreDeprovision)
}

// drainNode empties the Node of a machine. One that has none needs it not.
func (p *pilot) drainNode(ctx context.Context) error {
	api, err := p.workload(ctx)
	if err != nil {
		return err
	}

	node := cmp.Or(p.m.record.Node, p.m.node)
	if node == "" { // no earlier look told: a machine that leaves is not waited for
		states, err := nodes.Status(ctx, api, []nodes.Want{p.want(p.m)})
		if err != nil {
			return err
		}

		s := states[p.m.Name]
		if s.Node == "" && s.Problem != "" {
			return fmt.Errorf("its Node is not found: %s", s.Problem)
		}

		node = s.Node
		p.m.node = node
	}

	if node == "" {
		return nil
	}

	p.log(ctx, "draining machine "+p.m.Name)

	return nodes.Drain(ctx, api, node, nodes.Options{Timeout: cmp.Or(p.m.pool.Rollout.DrainTimeout, p.Wanted.Timeouts.Drain)})
}

// The values of rollout.drain.
const (
	DrainBestEffort = "best_effort"
	DrainRequired   = "required"
	DrainNever      = "never"
)

// leave takes a machine of the control plane out of the etcd that runs on it, while a quorum of the
// others remains.
func (p *pilot) leave(ctx context.Context) error {
	if p.m.Role != ControlPlane || p.Wanted.Bootstrap == nil || p.Wanted.ExternalEtcd {
		return nil
	}

	if len(p.others(p.m)) == 0 {
		return nil // there is nobody to leave: what it holds goes with it
	}

	if p.Etcd == nil {
		return p.lose(errors.New("nothing says how to reach etcd"))
	}

	var last error

	// Any other member will do; the one that leaves is asked last.
	for _, m := range append(p.others(p.m), p.m) {
		etcd, err := p.Etcd(ctx, m.record)
		if err != nil {
			last = err

			continue
		}

		err = nodes.RemoveMember(ctx, etcd, cmp.Or(p.m.record.Node, p.m.node, p.m.Name), nil)
		if err == nil || errors.Is(err, nodes.ErrQuorum) {
			return err // against a quorum nothing is forced
		}

		last = err
	}

	return p.lose(last)
}

// lose goes on without taking a member out, where the user allows it.
func (p *pilot) lose(cause error) error {
	if p.Wanted.AllowEtcdLoss {
		p.warn("Machine "+p.m.Name+" is still a member of etcd", fmt.Sprintf("It goes all the same (allow_etcd_member_loss): %v. Remove the member by hand.", cause))

		return nil
	}

	return fmt.Errorf("it cannot leave etcd (%w): make port 2379 of the control plane's machines reachable from here, take the member out by hand, or set allow_etcd_member_loss", cause)
}

// others are the machines of the control plane beside one that run.
func (w *worker) others(m *member) []*member {
	return slices.DeleteFunc(w.controlPlane(), func(o *member) bool { return o == m || o.sight() != SeenActive })
}

// forgetNode deletes the Node of a machine that has left.
func (p *pilot) forgetNode(ctx context.Context) error {
	p.m.joined = false

	node := cmp.Or(p.m.record.Node, p.m.node)
	if p.ending || !p.joins() && p.m.node == "" || node == "" {
		return nil
	}

	api, err := p.workload(ctx)
	if err == nil {
		err = api.DeleteNode(ctx, node)
	}

	if err != nil {
		p.warn("The Node of machine "+p.m.Name+" is left", err.Error()+". Delete it by hand, or the next machine of that name does.")

		return nil //nolint:nilerr // the machine itself has left
	}

	p.m.record.Node, p.m.record.NodeReady, p.m.node = "", nil, ""

	return nil
}
