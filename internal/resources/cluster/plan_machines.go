// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/clustervalue"
)

// planner makes one plan.
type planner struct {
	plan, config *model
	state        model
	create       bool
	far          services

	wanted   cluster.Wanted
	roles    map[string]role // by pool
	have     map[string]cluster.Machine
	lineup   cluster.Lineup
	remade   map[string]bool     // machines that stay and are made anew
	maybe    map[string][]string // machines that stay and may be made anew, and what is not known yet that says so
	before   *planner            // the same plan with what is not known as it was; see outlook
	told     bool                // whether addresses can be told: the pools are known
	pools    map[string]addresses.Compiled
	rollouts []rollout
	touched  bool
}

// do plans.
func (p *planner) do(ctx context.Context, diags *diag.Diagnostics) {
	if !p.create {
		p.plan.Ironic = p.state.Ironic
		p.plan.immutable(p.state, diags)
	}

	var ignored diag.Diagnostics

	roles, all := p.plan.roles(ctx, &ignored)
	p.roles = map[string]role{}

	for _, r := range roles {
		p.roles[r.pool] = r
		all = all && value.Known(r.Replicas)
	}

	all = all && value.Known(p.plan.Name) && value.Known(p.plan.Namespace) && !p.plan.NameFormat.IsUnknown() && !p.plan.DeleteMachines.IsUnknown()

	if diags.HasError() {
		return
	}

	if !all {
		p.plan.open(p.state, p.create)
		p.plan.Machines = types.MapUnknown(machineType)

		return
	}

	p.prepare(ctx, diags)
	p.touched = p.create || p.plan.touches(ctx, p.state) || len(p.lineup.Add)+len(p.lineup.Leave)+len(p.remade)+len(p.maybe) > 0

	if !p.touched {
		p.plan.moving = p.state.moving

		return
	}

	p.plan.open(p.state, p.create)
	p.planMachines(ctx, diags)
	p.price(ctx, diags)
}

// prepare decides who stays, comes and goes, as the apply will.
func (p *planner) prepare(ctx context.Context, diags *diag.Diagnostics) {
	p.wanted = p.plan.wanted(ctx, p.config, p.far.HostDefaults(), diags)
	p.have = p.state.machines(ctx, diags)
	p.remade, p.maybe = map[string]bool{}, map[string][]string{}

	for name, m := range p.have {
		m.UpToDate = true

		if r, ok := p.roles[m.Pool]; ok && m.HostID != "" && m.TemplateHash != "" {
			changed, open := p.outlook(ctx, r, m)

			m.UpToDate = !changed
			if !changed && len(open) > 0 {
				p.maybe[name] = open
			}
		}

		p.have[name] = m
	}

	p.lineup = p.wanted.Lineup(p.have)

	for _, s := range p.lineup.Keep {
		if m := p.have[s.Name]; !m.UpToDate && p.strategy(s.Pool) != cluster.OnDelete {
			p.remade[s.Name] = true
		}
	}

	maps.DeleteFunc(p.maybe, func(name string, _ []string) bool {
		return p.strategy(p.have[name].Pool) == cluster.OnDelete || !slices.ContainsFunc(p.lineup.Keep, func(s cluster.Slot) bool { return s.Name == name })
	})

	p.rollouts = p.rollingOut()

	var wrong []error

	p.pools, wrong = p.wanted.CompilePools()
	_, p.told = p.plan.ipPools(ctx, diags)
	p.told = p.told && len(wrong) == 0
}

func (p *planner) strategy(pool string) cluster.Strategy {
	for _, one := range p.wanted.Pools {
		if one.Name == pool {
			return one.Rollout.Strategy
		}
	}

	return ""
}

// planMachines plans machines.
func (p *planner) planMachines(ctx context.Context, diags *diag.Diagnostics) {
	old := value.Objects[machineModel](ctx, p.state.Machines, diags)
	all := map[string]machineModel{}
	known := map[string]map[string]addresses.Address{}

	for _, s := range p.lineup.Slots() {
		if was, there := old[s.Name]; there && !p.anew(s.Name) && p.have[s.Name].Healthy {
			found := p.kept(s)
			all[s.Name], known[s.Name] = was.moves(found), p.later(s, found, diags)

			continue
		}

		m, found := p.addresses(s, diags)
		all[s.Name], known[s.Name] = newMachine(s, m), found
	}

	for _, r := range p.rollouts {
		if r.beside == nil {
			continue
		}

		if found, err := p.foreseen(*r.beside); err == nil { // whether it comes at all depends on a free host
			known[r.beside.Name] = found
		}
	}

	for _, err := range cluster.CheckOwners(p.running(), known) {
		diags.AddAttributeError(pathIPPools, "Machines of "+p.plan.inLabel()+" would share an address", value.Sentence(err))
	}

	if p.plan.Machines = machinesOf(ctx, all, diags); p.renames() {
		p.plan.Machines = types.MapUnknown(machineType)
	}
}

// renames reports whether machines may be made beyond the replicas: nobody knows who is there in the end.
func (p *planner) renames() bool {
	return slices.ContainsFunc(p.wanted.Pools, func(one cluster.Pool) bool {
		surge, _ := one.Bounds()

		return surge > 0 && len(p.inPool(slices.Concat(sorted(p.remade), sorted(p.maybe)), one.Name)) > 0
	})
}

// foreseen are the addresses of a machine that follow from the configuration. They are none where that is
// not known.
func (p *planner) foreseen(s cluster.Slot) (map[string]addresses.Address, error) {
	r := p.roles[s.Pool]
	if !p.told || r.DataTemplate.IsUnknown() || value.HasUnknown(r.DomainDataTemplates) || value.HasUnknown(r.Overrides) || r.IPIndexOffset.IsUnknown() {
		return nil, nil
	}

	have := map[string]string{}
	for pool, a := range p.have[s.Name].Addresses {
		have[pool] = a.Address
	}

	return p.wanted.Foreseen(p.pools, s, have)
}

// addresses are those of a machine, as far as they are known, and those that count for what others have.
func (p *planner) addresses(s cluster.Slot, diags *diag.Diagnostics) (types.Map, map[string]addresses.Address) {
	known, err := p.foreseen(s)

	if p.have[s.Name].Healthy && len(p.maybe[s.Name]) > 0 { // what is not known counts as unchanged; see unaddressed
		return p.perhaps(s, known), p.later(s, p.kept(s), diags)
	}

	if err != nil {
		diags.AddAttributeError(pathIPPools, "No address for machine "+s.Name+" of "+p.plan.inLabel(), value.Sentence(err))
	}

	if known == nil {
		return types.MapUnknown(addressType), nil
	}

	// Whether a machine that runs is made again may show at apply alone.
	if p.have[s.Name].HostID != "" && !p.remade[s.Name] {
		return p.perhaps(s, known), known
	}

	return clustervalue.AddressesOf(known, p.unforeseen(s, known)), known
}

// perhaps are the addresses of a machine that may be made again, or stay as it is.
func (p *planner) perhaps(s cluster.Slot, known map[string]addresses.Address) types.Map {
	same := func(a, b addresses.Address) bool { return a.Address == b.Address }

	if known == nil || len(p.unforeseen(s, known)) > 0 || !maps.EqualFunc(known, p.kept(s), same) {
		return types.MapUnknown(addressType)
	}

	return clustervalue.AddressesOf(known, nil)
}

// unforeseen are the pools of which a machine has an address that is not known yet.
func (p *planner) unforeseen(s cluster.Slot, known map[string]addresses.Address) []string {
	var out []string

	for _, pool := range p.wanted.PoolsOf(s) {
		if _, ok := known[pool]; !ok {
			out = append(out, pool)
		}
	}

	return out
}

// kept are the addresses of a machine that stays: those that it has, whatever its pools have now.
func (p *planner) kept(s cluster.Slot) map[string]addresses.Address {
	out, have := map[string]addresses.Address{}, map[string]string{}

	for pool, a := range p.have[s.Name].Addresses {
		out[pool], have[pool] = a, a.Address
	}

	// An import knows the addresses alone; their pools know the rest.
	now, err := p.wanted.Foreseen(p.pools, s, have)
	if err != nil || !p.told {
		return out
	}

	for pool, a := range now {
		if have[pool] == a.Address && out[pool].Prefix == 0 {
			out[pool] = a
		}
	}

	return out
}

// newMachine is a machine of which only a name, a place and addresses are known.
func newMachine(s cluster.Slot, addresses types.Map) machineModel {
	text := types.StringUnknown()

	return machineModel{clustervalue.Machine{
		Name: types.StringValue(s.Name), Role: types.StringValue(string(s.Role)), Pool: types.StringValue(s.Pool), Index: types.Int64Value(int64(s.Index)),
		ClaimID: types.StringValue(s.ClaimID), Addresses: addresses,
		ClaimKind: text, HostID: text, HostName: text, FailureDomain: text, ProviderID: text, NodeName: text, ImageURL: text, TemplateHash: text,
		UpToDate: types.BoolUnknown(), State: text, PowerState: text, NodeReady: types.BoolUnknown(), Healthy: types.BoolUnknown(), LastError: text,
		ProvisionedAt: text, Remediations: types.Int64Unknown(),
	}}
}

// moves is a machine that stays as it is, with its addresses, but for what any apply may find
// changed.
func (s machineModel) moves(kept map[string]addresses.Address) machineModel {
	text := types.StringUnknown()

	s.Addresses = clustervalue.AddressesOf(kept, nil)
	s.UpToDate, s.State, s.PowerState, s.LastError, s.NodeName = types.BoolUnknown(), text, text, text, text
	s.NodeReady, s.Healthy, s.Remediations = types.BoolUnknown(), types.BoolUnknown(), types.Int64Unknown()

	return s
}
