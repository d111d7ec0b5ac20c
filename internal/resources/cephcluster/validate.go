// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// ValidateConfig implements [resource.ResourceWithValidateConfig].
func (r *clusterResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	defer value.Guard(ctx, "validation", "Ceph cluster", &resp.Diagnostics)

	var config model

	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	if !resp.Diagnostics.HasError() {
		config.validate(ctx, &resp.Diagnostics)
	}
}

// validate holds the rules between attributes. It passes over what is not known yet; the
// verbs ask again before they do anything. It works on configurations, where what is left out
// is null, and on plans, which are in full.
func (m model) validate(ctx context.Context, diags *diag.Diagnostics) {
	m.validateHosts(ctx, diags)
	m.validateExternal(ctx, diags)

	if value.Known(m.External) {
		return // the rest has no effect
	}

	m.validateMons(ctx, diags)
	m.validateMgrs(ctx, diags)
	m.validateNetwork(ctx, diags)
	m.validateStorage(ctx, diags)
	m.validatePools(ctx, diags)
}

// candidates are the hosts that may have daemons of a kind: those that are listed, else those
// with the role. ok is false where that is not known yet.
func (m model) candidates(ctx context.Context, role string, listed types.List, at path.Path, diags *diag.Diagnostics) (hosts []string, ok bool) {
	all, names := m.hosts(ctx, diags)
	if !value.Known(m.Hosts) || value.HasUnknown(listed) {
		return nil, false
	}

	if named := value.GoStrings(listed); len(named) > 0 {
		return named, m.areHosts(ctx, listed, at, diags)
	}

	for _, name := range names {
		h, ok := all[name]
		if !ok || value.HasUnknown(h.Roles) {
			return nil, false
		}
	}

	return withRole(all, names)(role), true
}

// areHosts refuses names that hosts does not have.
func (m model) areHosts(_ context.Context, listed types.List, at path.Path, diags *diag.Diagnostics) bool {
	if !value.Known(listed) || !value.Known(m.Hosts) {
		return false
	}

	ok := true

	for i, v := range listed.Elements() {
		name, _ := v.(types.String)
		if !value.Known(name) {
			ok = false

			continue
		}

		if _, there := m.Hosts.Elements()[name.ValueString()]; !there {
			ok = false

			diags.AddAttributeError(at.AtListIndex(i), "Host "+name.ValueString()+" is not one of hosts", "It is named here, and the attribute hosts does not have it.")
		}
	}

	return ok
}

func (m model) validateMons(ctx context.Context, diags *diag.Diagnostics) {
	if m.Mon.IsUnknown() {
		return
	}

	s, _ := value.Object[monModel](ctx, m.Mon, diags)

	count := int64(3)
	if value.Known(s.Count) {
		count = s.Count.ValueInt64()
	}

	if s.Count.IsUnknown() {
		return
	}

	if count%2 == 0 {
		diags.AddAttributeWarning(pathMon.AtName("count"), fmt.Sprintf("%s has an even number of monitors", m.label()),
			fmt.Sprintf("%d monitors survive the loss of no more of them than %d do, and there is one more that can be lost. An odd number is better.", count, count-1))
	}

	hosts, ok := m.candidates(ctx, ceph.RoleMon, s.Hosts, pathMon.AtName("hosts"), diags)
	if !ok || s.AllowMultiple.IsUnknown() {
		return
	}

	switch {
	case len(hosts) == 0:
		diags.AddAttributeError(pathHosts, "No host for monitors", "No host has the role mon, and without a monitor there is no cluster.")
	case int64(len(hosts)) < count && !s.AllowMultiple.ValueBool():
		diags.AddAttributeError(pathMon.AtName("count"), "Not enough hosts for the monitors", fmt.Sprintf(
			"%d monitors are wanted, each on a host of its own, and %d of hosts may have one. Give more hosts the role mon, lower mon.count, or, to try things out, set mon.allow_multiple_per_host.", count, len(hosts)))
	}

	m.validateMonAddresses(ctx, hosts, diags)
}

// validateMonAddresses wants an IP address of each host that may have a monitor: that is what
// stands in the map of monitors.
func (m model) validateMonAddresses(ctx context.Context, hosts []string, diags *diag.Diagnostics) {
	all, _ := m.hosts(ctx, diags)

	for _, name := range hosts {
		h, ok := all[name]
		if !ok {
			continue
		}

		if a := h.address(); !a.IsUnknown() && !isAddress(a.ValueString()) {
			diags.AddAttributeError(pathHosts.AtMapKey(name).AtName("address"), "Host "+name+" needs an IP address", fmt.Sprintf(
				"It may have a monitor, and the addresses of monitors are IP addresses; %q is none. Give hosts[%q].address the host's address in the public network.", a.ValueString(), name))
		}
	}
}

func (m model) validateMgrs(ctx context.Context, diags *diag.Diagnostics) {
	s, ok := value.Object[mgrModel](ctx, m.Mgr, diags)
	if !ok && m.Mgr.IsUnknown() {
		return
	}

	hosts, ok := m.candidates(ctx, ceph.RoleMgr, s.Hosts, pathMgr.AtName("hosts"), diags)
	if ok && len(hosts) == 0 {
		diags.AddAttributeError(pathHosts, "No host for managers", "No host has the role mgr, and without a manager nothing but monitors works.")
	}
}

func (m model) validateNetwork(ctx context.Context, diags *diag.Diagnostics) {
	s, ok := value.Object[networkModel](ctx, m.Network, diags)
	if !ok {
		return
	}

	ports, ok := value.Object[portsModel](ctx, s.Ports, diags)
	if ok && value.Known(ports.Msgr1) && value.Known(ports.Msgr2) && ports.Msgr1.Equal(ports.Msgr2) {
		diags.AddAttributeError(pathNetwork.AtName("ports"), "Two protocols on one port", "ports.msgr1 and ports.msgr2 must differ.")
	}

	m.validateRanges(ctx, s, diags)
}

// validatePools wants enough hosts for the copies of a pool.
func (m model) validatePools(ctx context.Context, diags *diag.Diagnostics) {
	s, ok := value.Object[poolModel](ctx, m.PoolDefaults, diags)
	if !ok {
		return
	}

	if value.Known(s.Size) && value.Known(s.MinSize) && s.MinSize.ValueInt64() > s.Size.ValueInt64() {
		diags.AddAttributeError(path.Root("pool_defaults").AtName("min_size"), "Pools could never be written", "pool_defaults.min_size is more than pool_defaults.size.")
	}
}

func (m model) validateExternal(ctx context.Context, diags *diag.Diagnostics) {
	e, ok := value.Object[externalModel](ctx, m.External, diags)
	if !ok {
		return
	}

	given := 0

	for _, v := range []types.String{e.Key, e.KeyWO, e.KeyringFile} {
		if !v.IsNull() {
			given++
		}
	}

	if given != 1 {
		diags.AddAttributeError(pathExternal.AtName("key"), "External cluster needs one key", "Give one of key, key_wo (with key_wo_version) and keyring_file.")
	}

	if value.Known(m.FSID) && value.Known(e.FSID) && !m.FSID.Equal(e.FSID) {
		diags.AddAttributeError(pathExternal.AtName("fsid"), "Two fsids", "fsid and external.fsid differ: leave fsid out.")
	}

	if value.Known(m.Hosts) && len(m.Hosts.Elements()) != 1 {
		diags.AddAttributeError(pathHosts, "External cluster is reached through one host", fmt.Sprintf("hosts has %d; it is the one host with Ceph's client programs.", len(m.Hosts.Elements())))
	}
}
