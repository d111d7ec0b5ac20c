// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// This file is about overrides of machines that are there: where one is, and its addresses, change when
// it is made again, and no change of them is a reason to do so.

// later are the addresses that a machine which stays has or is to have when it is made again.
func (p *planner) later(s cluster.Slot, kept map[string]addresses.Address, diags *diag.Diagnostics) map[string]addresses.Address {
	if !p.told {
		return kept
	}

	chosen, err := p.wanted.Chosen(p.pools, s)
	if err != nil {
		diags.AddAttributeError(pathIPPools, "No address for machine "+s.Name+" of "+p.plan.inLabel(), value.Sentence(err))

		return kept
	}

	out := maps.Clone(kept)
	maps.Copy(out, chosen)

	return out
}

// running are the addresses of the machines that have something on their disks.
func (p *planner) running() map[string]map[string]addresses.Address {
	out := map[string]map[string]addresses.Address{}

	for name, m := range p.have {
		if m.HostID != "" && m.TemplateHash != "" && m.State != cluster.StateClaimed {
			out[name] = m.Addresses
		}
	}

	return out
}

// priceOfOverrides tells which overrides wait for a machine to be made again.
func (p *planner) priceOfOverrides(ctx context.Context, diags *diag.Diagnostics) {
	var wait []string

	for _, s := range p.lineup.Keep {
		if m := p.have[s.Name]; m.HostID != "" {
			wait = append(wait, p.waitingAddresses(s, m)...)
			wait = append(wait, p.waitingPlace(ctx, s, m)...)
		}
	}

	if len(wait) > 0 {
		diags.AddWarning(p.plan.label()+": overrides wait for machines to be made again", strings.Join(wait, "; ")+
			". Nothing is made again for that. The action metal3_remediate does it at once: with strategy \"rebuild\" for addresses, with \"replace\" for another host.")
	}
}

// waitingAddresses says which addresses were chosen for a machine that keeps others.
func (p *planner) waitingAddresses(s cluster.Slot, m cluster.Machine) []string {
	if p.remade[s.Name] || !p.told {
		return nil
	}

	var ignored diag.Diagnostics

	kept := p.kept(s)
	later := p.later(s, kept, &ignored)

	var out []string

	for _, pool := range sorted(later) {
		if have := kept[pool].Address; have != later[pool].Address {
			if have == "" {
				have = "no address"
			}

			out = append(out, fmt.Sprintf("%s keeps %s of pool %s, and not %s, until it is made again", m.Name, have, pool, later[pool].Address))
		}
	}

	return out
}

// waitingPlace says which machine is to be elsewhere, and stays where it is.
func (p *planner) waitingPlace(ctx context.Context, s cluster.Slot, m cluster.Machine) []string {
	if p.remade[s.Name] && p.strategy(s.Pool) == cluster.Replace && p.roles[s.Pool].NodeReuse.ValueString() != reuseRequired {
		return nil
	}

	var why []string

	if id := p.wanted.Overrides[s.Name].HostID; id != "" && id != m.HostID {
		why = append(why, "host_id "+id)
	}

	now, was := p.override(p.plan, s), p.override(&p.state, s)

	for _, name := range []string{"host_selector", "failure_domain"} {
		if a, ok := now[name]; ok && !a.IsNull() && !a.IsUnknown() && !a.Equal(orNothing(ctx, was[name], a)) {
			why = append(why, name)
		}
	}

	if len(why) == 0 {
		return nil
	}

	return []string{fmt.Sprintf("%s stays on host %s until it is replaced (%s)", m.Name, m.HostName, strings.Join(why, ", "))}
}

// override is what a model says of one machine.
func (p *planner) override(m *model, s cluster.Slot) map[string]attr.Value {
	role, _ := m.Workers.Elements()[s.Pool].(types.Object)
	if s.Role == cluster.ControlPlane {
		role = m.ControlPlane
	}

	all, _ := role.Attributes()["machine_overrides"].(types.Map)
	one, _ := all.Elements()[s.Name].(types.Object)

	return one.Attributes()
}
