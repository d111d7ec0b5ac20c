// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// This file tells where the hosts of this moment do not suffice for what is planned. Hosts may still come
// in the same apply, so none of it is an error here: the apply decides again.

// uncounted ends what is said of hosts that are not there.
const uncounted = "Hosts that this apply makes are not counted."

// priceOfHosts looks at the hosts where machines come or move.
func (p *planner) priceOfHosts(ctx context.Context, diags *diag.Diagnostics) {
	var missing []cluster.Slot

	for _, s := range p.lineup.Slots() {
		if p.have[s.Name].HostID == "" {
			missing = append(missing, s)
		}
	}

	// A rollout in place has no need of hosts.
	moving := slices.DeleteFunc(slices.Clone(p.rollouts), func(r rollout) bool { return !r.Leaves() && r.beside == nil })

	if len(missing)+len(moving) == 0 ||
		value.HasUnknown(p.plan.HostPool) || value.HasUnknown(p.plan.ControlPlane) || value.HasUnknown(p.plan.Workers) {
		return
	}

	far, err := p.far.Hosts(ctx)
	if err != nil {
		return // an apply says why
	}

	hosts, err := far.All(ctx)
	if err != nil {
		return
	}

	taken := p.taken()

	assigned, refused := p.wanted.Assign(missing, hosts, taken)
	if len(refused) > 0 {
		diags.AddWarning(fmt.Sprintf("%s needs %s, and has hosts for %d of them", p.plan.label(), count(len(missing), "more machine"), len(missing)-len(refused)),
			choose.Explain(refused)+"\n\n"+uncounted)

		if !p.wanted.Partial {
			return // nothing else is done then
		}
	}

	cluster.Seat(taken, missing, assigned, hosts)
	p.priceOfMoves(moving, hosts, taken, diags)
	p.priceOfSpares(moving, hosts, taken, diags)
}

// rollout is a pool whose machines this apply makes anew.
type rollout struct {
	cluster.Pool

	machines []cluster.Leaver // those that run: one whose deployment failed is just deployed again
	beside   *cluster.Slot    // the first machine that is made beyond the replicas; nil: none is
}

// rollingOut finds out which pools are rolled out, once it is known who stays and is made anew.
func (p *planner) rollingOut() []rollout {
	if p.wanted.Wait.Level == cluster.LevelClaimed {
		return nil // nothing is deployed
	}

	var out []rollout

	for _, one := range p.wanted.Pools {
		r := rollout{Pool: one}

		for _, s := range p.lineup.Keep {
			if m := p.have[s.Name]; s.Pool == one.Name && p.remade[s.Name] && m.Runs() {
				r.machines = append(r.machines, cluster.Leaver{Slot: s, HostID: m.HostID})
			}
		}

		if len(r.machines) == 0 {
			continue
		}

		if surge, _ := one.Bounds(); surge > 0 {
			s := p.beside(one)
			r.beside = &s
		}

		out = append(out, r)
	}

	return out
}

// beside is the first machine that a rollout makes beyond the replicas.
func (p *planner) beside(one cluster.Pool) cluster.Slot {
	used := map[int]bool{}
	for _, m := range p.have {
		used[m.Index] = used[m.Index] || m.Pool == one.Name
	}

	for _, s := range p.lineup.Add {
		used[s.Index] = used[s.Index] || s.Pool == one.Name
	}

	return p.wanted.Beside(one, used)
}

// taken are the hosts that the cluster has.
func (p *planner) taken() map[string]choose.Placed {
	out := map[string]choose.Placed{}

	for name, m := range p.have {
		if m.HostID != "" {
			out[name] = choose.Placed{HostID: m.HostID, Domain: m.Domain, Pool: m.Pool, ControlPlane: m.Role == cluster.ControlPlane, Outdated: !m.UpToDate}
		}
	}

	return out
}

// priceOfMoves tells that machines would leave their hosts and find none again.
func (p *planner) priceOfMoves(moving []rollout, hosts []host.Seen, taken map[string]choose.Placed, diags *diag.Diagnostics) {
	var going []cluster.Leaver // all at once, as the apply looks before it touches any

	for _, r := range moving {
		if r.Leaves() {
			going = append(going, r.machines...)
		}
	}

	if err := p.wanted.CheckSuccessors(going, hosts, taken); err != nil {
		diags.AddWarning(p.plan.label()+" has no hosts for the machines that it makes anew", value.Sentence(err)+"\n\n"+uncounted)
	}
}

// priceOfSpares tells that no host is free for a machine beside the others, and what follows.
func (p *planner) priceOfSpares(moving []rollout, hosts []host.Seen, taken map[string]choose.Placed, diags *diag.Diagnostics) {
	for _, one := range moving {
		if one.beside == nil {
			continue
		}

		cause := p.wanted.CheckSpare(*one.beside, hosts, taken)
		if cause == nil {
			continue
		}

		if err := p.unspared(one, cause, hosts, taken); err != nil {
			diags.AddWarning(fmt.Sprintf("The rollout of pool %s of %s would stop", one.Name, p.plan.inLabel()), value.Sentence(err)+"\n\n"+uncounted)

			continue
		}

		_, unavailable := one.Bounds()
		diags.AddWarning(fmt.Sprintf("Pool %s of %s is rolled out without machines beside it", one.Name, p.plan.inLabel()),
			fmt.Sprintf("At most %d at a time of its machines go before they are made again (rollout.max_unavailable): %v\n\n%s", unavailable, cause, uncounted))
	}
}

// unspared says why a rollout would not go on without a machine beside the others.
func (p *planner) unspared(one rollout, cause error, hosts []host.Seen, taken map[string]choose.Placed) error {
	if err := p.wanted.CheckUnspared(one.Pool, cause); err != nil || !one.Vacates() {
		return err
	}

	_, atOnce := one.Bounds()
	for batch := range slices.Chunk(one.machines, atOnce) {
		if err := p.wanted.CheckSuccessors(batch, hosts, taken); err != nil {
			return err
		}
	}

	return nil
}
