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
			p.leaving(leave)+onHosts(leave, sorted(leave))+".")
	}

	var perhaps []string

	for _, one := range p.wanted.Pools {
		again, maybe := p.inPool(sorted(p.remade), one.Name), p.inPool(sorted(p.maybe), one.Name)
		p.priceOfRollout(one, again, diags)

		if one.Rollout.Strategy == cluster.Replace {
			down, perhaps = append(down, again...), append(perhaps, maybe...)
		}
	}

	slices.Sort(down)

	if err := p.wanted.CheckDeprovision(down); err != nil {
		diags.AddAttributeError(path.Root("max_deprovision_per_apply"), p.plan.label()+": too many machines at once", value.Sentence(err))
	}

	for _, one := range p.wanted.Pools {
		p.priceOfMaybe(one, slices.Concat(down, perhaps), diags)
	}

	p.priceOfAddresses(diags)
	p.priceOfOverrides(ctx, diags)
	p.repairs(diags)
	p.priceOfHosts(ctx, diags)
}

// repairs tells what is not as configured and the apply sees to, and which machines it mends how.
func (p *planner) repairs(diags *diag.Diagnostics) {
	// what leaves needs nothing any more
	drift := slices.DeleteFunc(value.GoStrings(p.state.Drift), func(text string) bool {
		words := strings.Fields(strings.ReplaceAll(text, ":", ""))

		return slices.ContainsFunc(p.lineup.Leave, func(m cluster.Machine) bool { return slices.Contains(words, m.Name) })
	})
	if len(drift) > 0 {
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

// inPool are those machines that are in a pool.
func (p *planner) inPool(names []string, pool string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return p.have[name].Pool != pool })
}

// priceOfRollout tells whose disks are written again.
func (p *planner) priceOfRollout(one cluster.Pool, again []string, diags *diag.Diagnostics) {
	if len(again) == 0 {
		return
	}

	if one.Role == cluster.ControlPlane {
		if err := p.wanted.CheckQuorum(again); err != nil {
			diags.AddAttributeError(p.roles[one.Name].at.AtName("rollout"), "Control plane of "+p.plan.inLabel()+" would not survive its rollout", value.Sentence(err))

			return
		}

		if err := p.wanted.CheckAskable(again, p.plan.reaches()); err != nil {
			diags.AddAttributeError(p.roles[one.Name].at.AtName("rollout"), "Nobody can tell whether the control plane of "+p.plan.inLabel()+" survives its rollout", value.Sentence(err))

			return
		}
	}

	diags.AddWarning(fmt.Sprintf("Disks of %s of %s will be overwritten", names(again), p.plan.inLabel()),
		fmt.Sprintf("What they are made from changed, so %s", p.course(one, again)))
}

// priceOfMaybe tells whose disks are written again if a value that is not known yet turns out to be
// another one. Down are all machines that the apply would take down then.
func (p *planner) priceOfMaybe(one cluster.Pool, down []string, diags *diag.Diagnostics) {
	maybe := p.inPool(sorted(p.maybe), one.Name)
	if len(maybe) == 0 {
		return
	}

	var open []string
	for _, name := range maybe {
		open = append(open, p.maybe[name]...)
	}

	slices.Sort(open)
	open = slices.Compact(open)

	are := "is"
	if len(open) > 1 {
		are = "are"
	}

	detail := "Only if they turn out to be made from something else, " + p.course(one, maybe)

	refused := p.unaddressed(one)

	if one.Rollout.Strategy == cluster.Replace {
		refused = append(refused, p.wanted.CheckDeprovision(down))
	}

	if one.Role == cluster.ControlPlane {
		refused = append(refused, p.wanted.CheckQuorum(maybe), p.wanted.CheckAskable(maybe, p.plan.reaches()))
	}

	for _, err := range refused {
		if err != nil {
			detail += " The apply is refused in that case: " + err.Error() + "."
		}
	}

	diags.AddWarning(fmt.Sprintf("Disks of %s of %s may be overwritten, as %s %s not known yet", names(maybe), p.plan.inLabel(), strings.Join(open, ", "), are), detail)
}

// unaddressed says which machines that may be made anew would have no addresses then.
func (p *planner) unaddressed(one cluster.Pool) []error {
	var out []error

	for _, s := range p.lineup.Keep {
		if s.Pool != one.Name || len(p.maybe[s.Name]) == 0 || !p.have[s.Name].Healthy {
			continue
		}

		if _, err := p.foreseen(s); err != nil {
			out = append(out, err)
		}
	}

	return out
}

// drains reports whether the apply can look at Nodes, and does.
func (p *planner) drains() bool {
	level := p.wanted.Wait.Level

	return p.plan.reaches() && (level == cluster.LevelRegistered || level == cluster.LevelNodes)
}

// leaving says how machines go.
func (p *planner) leaving(leave map[string]cluster.Machine) string {
	never := func(name string) bool {
		return slices.ContainsFunc(p.wanted.Pools, func(one cluster.Pool) bool {
			return one.Name == leave[name].Pool && one.Rollout.Drain == cluster.DrainNever
		})
	}
	if !p.drains() || !slices.ContainsFunc(sorted(leave), func(name string) bool { return !never(name) }) {
		return "Nothing is drained. Their hosts are undeployed and cleaned: "
	}

	return "These machines are drained where their pool does not say otherwise, their hosts undeployed and cleaned: "
}

// course says how machines of a pool are made anew.
func (p *planner) course(one cluster.Pool, again []string) string {
	how := "they are undeployed, cleaned and deployed again, perhaps on other hosts"

	switch {
	case one.Rollout.Strategy == cluster.Rebuild:
		how = "their root disks are written again on the same hosts"
	case one.Reuse == cluster.ReuseRequired:
		how = "they are undeployed, cleaned and deployed again on the same hosts"
	}

	if one.Rollout.Drain == cluster.DrainNever || !p.drains() {
		how += ", and nothing is drained"
	} else {
		how = "after a drain " + how
	}

	surge, unavailable := one.Bounds()

	text := fmt.Sprintf("%s: %s. At most %d at a time (rollout.max_surge %d, max_unavailable %d).", how, onHosts(p.have, again), max(surge, unavailable), surge, unavailable)

	if one.Interrupts() {
		text += " With fewer than three machines and no surge the control plane is interrupted, and an etcd that is on them is lost."
	}

	return text
}

// priceOfAddresses tells that addresses stay which the configuration would no longer give.
func (p *planner) priceOfAddresses(diags *diag.Diagnostics) {
	var kept []string

	for _, s := range p.lineup.Keep {
		if p.anew(s.Name) || !p.told {
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
