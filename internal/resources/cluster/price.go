// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// This file tells in plans what they cost. Each warning names its cluster in the summary,
// because Terraform folds equal summaries.

// priceOfDelete tells what a destroy wipes.
func (m model) priceOfDelete(ctx context.Context, diags *diag.Diagnostics) {
	all := m.machines(ctx, diags)
	if len(all) == 0 {
		return
	}

	diags.AddWarning(m.label()+" will be destroyed, with "+count(len(all), "machine"),
		"Workers first, then the control plane: "+onHosts(all, sorted(all))+". Their hosts are undeployed and cleaned; nothing is drained.")
}

// price tells what an apply costs, and refuses what may not be.
func (p *planner) price(ctx context.Context, diags *diag.Diagnostics) {
	var down []string

	leave := map[string]cluster.Machine{}

	for _, m := range p.lineup.Leave {
		if m.HostID != "" {
			leave[m.Name] = m
			down = append(down, m.Name)
		}
	}

	if len(leave) > 0 {
		diags.AddWarning(fmt.Sprintf("%s loses %s", p.plan.label(), names(sorted(leave))),
			"These machines are drained, their hosts undeployed and cleaned: "+onHosts(leave, sorted(leave))+".")
	}

	for _, one := range p.wanted.Pools {
		again := p.remadeOf(one.Name)
		if len(again) == 0 {
			continue
		}

		p.priceOfRollout(one, again, diags)

		if one.Rollout.Strategy == cluster.Replace {
			down = append(down, again...)
		}
	}

	slices.Sort(down)

	if err := p.wanted.CheckDeprovision(down); err != nil {
		diags.AddAttributeError(path.Root("max_deprovision_per_apply"), p.plan.label()+": too many machines at once", value.Sentence(err))
	}

	p.priceOfAddresses(diags)
	p.repairs(diags)
	p.capacity(ctx, diags)
}

// repairs tells what is not as configured and the apply sees to, and which machines it mends how.
func (p *planner) repairs(diags *diag.Diagnostics) {
	if drift := value.GoStrings(p.state.Drift); len(drift) > 0 {
		diags.AddWarning(p.plan.label()+" is not as configured", "The apply sees to this: "+strings.Join(drift, "; ")+".")
	}

	if !p.wanted.Remediation.Enabled {
		return
	}

	for _, name := range sorted(p.have) {
		if m := p.have[name]; m.State == cluster.StateUnhealthy {
			diags.AddWarning(fmt.Sprintf("Machine %s of %s will be remediated (%s)", name, p.plan.inLabel(), p.wanted.Remediation.Strategy),
				sentence(fmt.Sprintf("It is on host %s and unhealthy: %s", m.HostName, m.LastError))+
					" The apply looks twice before it does anything, and leaves it alone where too many machines of its pool look ill.")
		}
	}
}

func (p *planner) remadeOf(pool string) []string {
	var out []string

	for _, name := range sorted(p.remade) {
		if p.have[name].Pool == pool {
			out = append(out, name)
		}
	}

	return out
}

// priceOfRollout tells whose disks are written again.
func (p *planner) priceOfRollout(one cluster.Pool, again []string, diags *diag.Diagnostics) {
	r := p.roles[one.Name]

	how := "they are drained, undeployed, cleaned and deployed again, perhaps on other hosts"
	if one.Rollout.Strategy == cluster.Rebuild {
		how = "they are drained, and their root disks written again on the same hosts"
	}

	detail := fmt.Sprintf("What they are made from changed, so %s: %s.", how, onHosts(p.have, again))

	surge, unavailable := one.Rollout.Bounds(one.Replicas)
	if r.isControl {
		unavailable = 1
	}

	detail += fmt.Sprintf(" At most %d at a time (rollout.max_surge %d, max_unavailable %d).", max(surge, unavailable), surge, unavailable)

	if r.isControl && surge == 0 && one.Replicas < 3 {
		if p.wanted.Bootstrap != nil && !p.wanted.ExternalEtcd && !p.wanted.AllowDisruption {
			diags.AddAttributeError(r.at.AtName("rollout"), "Control plane of "+p.plan.inLabel()+" would not survive its rollout", fmt.Sprintf(
				"It has %s, which hold the cluster's etcd, and none may be made beside them (max_surge = 0): the first one that goes takes the majority with it. "+
					"Set rollout.max_surge = 1, or allow_disruption = true where the cluster may be lost.", count(one.Replicas, "machine")))

			return
		}

		detail += " With fewer than three machines and no surge the control plane is interrupted, and an etcd that is on them is lost."
	}

	diags.AddWarning(fmt.Sprintf("Disks of %s of %s will be overwritten", names(again), p.plan.inLabel()), detail)
}

// priceOfAddresses tells that addresses stay which the configuration would no longer give.
func (p *planner) priceOfAddresses(diags *diag.Diagnostics) {
	var kept []string

	for _, s := range p.lineup.Keep {
		if p.remade[s.Name] || !p.told {
			continue
		}

		for pool, a := range p.have[s.Name].Addresses {
			c, ok := p.pools[pool]
			if !ok {
				continue
			}

			if _, err := c.Find(a.Address); err != nil {
				kept = append(kept, s.Name+" ("+a.Address+")")
			}
		}
	}

	if len(kept) > 0 {
		slices.Sort(kept)
		diags.AddAttributeWarning(pathIPPools, p.plan.label()+": machines keep addresses that their pools no longer have",
			strings.Join(kept, ", ")+". They get others when they are made again.")
	}
}

// capacity warns where the hosts of this moment do not suffice. Hosts may still come in the same
// apply, so it is no error here.
func (p *planner) capacity(ctx context.Context, diags *diag.Diagnostics) {
	var missing []cluster.Slot

	for _, s := range p.lineup.Slots() {
		if p.have[s.Name].HostID == "" {
			missing = append(missing, s)
		}
	}

	if len(missing) == 0 || value.HasUnknown(p.plan.HostPool) || value.HasUnknown(p.plan.ControlPlane) || value.HasUnknown(p.plan.Workers) {
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

	taken := map[string]choose.Placed{}
	for name, m := range p.have {
		if m.HostID != "" {
			taken[name] = choose.Placed{HostID: m.HostID, Domain: m.Domain, Pool: m.Pool, ControlPlane: m.Role == cluster.ControlPlane, Outdated: !m.UpToDate}
		}
	}

	_, refused := p.wanted.Assign(missing, hosts, taken)
	if len(refused) == 0 {
		return
	}

	diags.AddWarning(fmt.Sprintf("%s needs %s, and has hosts for %d of them", p.plan.label(), count(len(missing), "more machine"), len(missing)-len(refused)),
		choose.Explain(refused)+" Hosts that this apply makes are not counted.")
}

// onHosts says which machine is on which host.
func onHosts(all map[string]cluster.Machine, which []string) string {
	const most = 50

	var out []string

	for _, name := range which {
		if host := all[name].HostName; host != "" {
			name += " on " + host
		}

		out = append(out, name)
	}

	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("and %d more", len(which)-most))
	}

	return strings.Join(out, ", ")
}

// names lists a few names, and how many more there are.
func names(all []string) string {
	const most = 5

	if len(all) <= most {
		return strings.Join(all, ", ")
	}

	return strings.Join(all[:most-1], ", ") + fmt.Sprintf(" and %d more", len(all)-most+1)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}

	return fmt.Sprintf("%d %ss", n, what)
}
