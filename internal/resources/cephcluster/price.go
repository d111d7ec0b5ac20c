// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// This file tells in plans what they cost. Each warning names its cluster in the summary,
// because Terraform folds equal summaries.

// priceOfDelete tells what a destroy leaves, or takes.
func (m model) priceOfDelete(ctx context.Context, diags *diag.Diagnostics) {
	if value.Known(m.External) {
		return // nothing of it is ours
	}

	c := m.cleanup(ctx, diags)

	if c.Confirmation != ceph.Confirmation {
		diags.AddWarning("Daemons of "+m.label()+" will be stopped", fmt.Sprintf(
			"All data stays on the hosts, in %s and on the devices of %s; a cluster of the same name and folder goes on with it. To remove it, apply cleanup.confirmation = %q before the destroy.",
			m.DataDir.ValueString(), count(len(m.OSDs.Elements()), "OSD"), ceph.Confirmation))

		return
	}

	detail := fmt.Sprintf("cleanup.confirmation is set: the destroy removes %s on %s", m.DataDir.ValueString(), count(len(m.Hosts.Elements()), "host"))
	if c.Wipe != "none" {
		detail += fmt.Sprintf(", and wipes the devices of %s (%s)", count(len(m.OSDs.Elements()), "OSD"), c.Wipe)
	}

	if c.AllowWithData {
		detail += ". Pools that hold data do not stop it"
	}

	diags.AddWarning("Data of "+m.label()+" will be destroyed", detail+".")
}

// priceOfCleanup tells that a destroy would take the data, when that is newly configured.
func (m model) priceOfCleanup(ctx context.Context, state model, diags *diag.Diagnostics) {
	if !value.Known(m.Cleanup) || m.Cleanup.Equal(state.Cleanup) {
		return
	}

	now := m.cleanup(ctx, diags)
	if now.Confirmation != ceph.Confirmation || value.Known(state.Cleanup) && state.cleanup(ctx, diags).Confirmation == ceph.Confirmation {
		return
	}

	diags.AddAttributeWarning(path.Root("cleanup").AtName("confirmation"), "A destroy of "+m.label()+" will destroy its data", "cleanup.confirmation is set from this apply on. It has no effect before a destroy.")
}

// price tells what an update does to the data and to who uses it. What an apply mends, upgrades
// among it, the refresh has told.
func (m model) price(ctx context.Context, state model, diags *diag.Diagnostics) {
	was := state.record(ctx, diags)

	m.priceOfMons(ctx, state, diags)
	m.priceOfDevices(ctx, state, was, diags)
	m.priceOfNetwork(ctx, state, diags)
}

// priceOfCreate tells what a new cluster will be short of.
func (m model) priceOfCreate(ctx context.Context, diags *diag.Diagnostics) {
	m.priceOfCleanup(ctx, model{}, diags)

	if value.Known(m.External) || value.HasUnknown(m.Storage) {
		return
	}

	m.priceOfFewHosts(ctx, m.storage(ctx, diags), diags)
}

// priceOfPools tells that a change comes too late.
func (m model) priceOfPools(state model, diags *diag.Diagnostics) {
	if value.Known(m.PoolDefaults) && !m.PoolDefaults.Equal(state.PoolDefaults) {
		diags.AddAttributeWarning(path.Root("pool_defaults"), "pool_defaults of "+m.label()+" no longer have an effect", "They count when a cluster is made. Pools have sizes and rules of their own; for new defaults use config.")
	}
}

func (m model) priceOfMons(ctx context.Context, state model, diags *diag.Diagnostics) {
	now, ok := value.Object[monModel](ctx, m.Mon, diags)
	before, _ := value.Object[monModel](ctx, state.Mon, diags)

	if !ok || !value.Known(now.Count) {
		return
	}

	from, to := before.Count.ValueInt64(), now.Count.ValueInt64()
	at := pathMon.AtName("count")

	switch {
	case to > from:
		diags.AddAttributeWarning(at, "Monitors of "+m.label()+" will be added", fmt.Sprintf("There will be %d instead of %d, one after the other; clients learn the new addresses by themselves.", to, from))
	case to < from && to == 1:
		diags.AddAttributeWarning(at, "Monitors of "+m.label()+" will be removed", fmt.Sprintf("One of %d will be left: the cluster then stands still whenever that one does.", from))
	case to < from:
		diags.AddAttributeWarning(at, "Monitors of "+m.label()+" will be removed", fmt.Sprintf("%d of %d will be left, and at no time fewer than a majority.", to, from))
	}

	var moved []string

	hosts, known := m.candidates(ctx, ceph.RoleMon, now.Hosts, pathMon.AtName("hosts"), &diag.Diagnostics{})
	for name, mon := range state.record(ctx, diags).Mons {
		if known && mon.Host != "" && !slices.Contains(hosts, mon.Host) {
			moved = append(moved, "mon."+name+" on "+mon.Host)
		}
	}

	if slices.Sort(moved); len(moved) > 0 {
		diags.AddAttributeWarning(pathHosts, "Monitors of "+m.label()+" leave their host", "These are replaced by others, one after the other: "+strings.Join(moved, ", ")+".")
	}
}

// key names a device of a host.
func key(host, path string) string { return host + ":" + path }

func (m model) priceOfDevices(ctx context.Context, state model, was ceph.Record, diags *diag.Diagnostics) {
	if value.HasUnknown(m.Storage) || value.HasUnknown(m.Hosts) {
		return
	}

	now, before := m.storage(ctx, diags), state.storage(ctx, diags)
	wanted, listed, used := map[string]bool{}, map[string]bool{}, map[string]bool{}

	for _, d := range now.Devices {
		wanted[key(d.Host, d.Path)] = true
	}

	for _, d := range before.Devices {
		listed[key(d.Host, d.Path)] = true
	}

	var gone, added []string

	for _, o := range was.OSDs {
		k := key(o.Host, o.Path)
		used[k] = true

		_, stays := m.Hosts.Elements()[o.Host]
		if o.Path != "" && !slices.Contains(gone, k) && (!stays || !wanted[k] && (listed[k] || now.Removal.Allow && len(now.Selectors) == 0)) {
			gone = append(gone, k)
		}
	}

	for k := range wanted {
		if !used[k] {
			added = append(added, k)
		}
	}

	slices.Sort(gone)
	slices.Sort(added)
	m.tellDevices(now, gone, added, diags)
	m.priceOfSelectors(state, diags)
	m.priceOfFewHosts(ctx, now, diags)
}

func (m model) tellDevices(now ceph.StorageSpec, gone, added []string, diags *diag.Diagnostics) {
	at := pathStorage.AtName("devices")

	if len(added) > 0 {
		diags.AddAttributeWarning(at, "OSDs of "+m.label()+" will be added", "Ceph moves data onto them, which costs speed meanwhile: "+strings.Join(added, ", ")+".")
	}

	switch {
	case len(gone) == 0:
	case now.Removal.Allow:
		diags.AddAttributeWarning(at, "OSDs of "+m.label()+" will be removed", fmt.Sprintf("They are drained first, %d at a time and for at most %s, and purged when Ceph says that no data is lost: %s.",
			now.Removal.Parallel, now.Removal.Timeout, strings.Join(gone, ", ")))
	default:
		diags.AddAttributeWarning(at, "OSDs of "+m.label()+" will not be removed", "These devices are no longer configured, and their OSDs stay, because storage.removal.allow is false: "+strings.Join(gone, ", ")+".")
	}
}

// priceOfSelectors tells that selectors changed; what they take, only the hosts know.
func (m model) priceOfSelectors(state model, diags *diag.Diagnostics) {
	a, b := m.Storage.Attributes()["selectors"], state.Storage.Attributes()["selectors"]
	if a != nil && b != nil && !a.Equal(b) {
		diags.AddAttributeWarning(pathStorage.AtName("selectors"), "Selectors of "+m.label()+" change", "Free devices that they now match become OSDs, and Ceph moves data onto them. OSDs that they no longer match go only where storage.removal.allow is true.")
	}
}

// priceOfFewHosts tells that copies cannot be spread over as many hosts as there are copies.
func (m model) priceOfFewHosts(ctx context.Context, now ceph.StorageSpec, diags *diag.Diagnostics) {
	pools, ok := value.Object[poolModel](ctx, m.PoolDefaults, diags)
	if !ok || pools.FailureDomain.ValueString() != "host" || len(now.Selectors)+len(now.Devices) == 0 || value.HasUnknown(m.Hosts) {
		return
	}

	all, names := m.hosts(ctx, diags)
	hosts := map[string]bool{}

	for _, d := range now.Devices {
		hosts[d.Host] = true
	}

	for _, s := range now.Selectors {
		from := s.Hosts
		if len(from) == 0 {
			from = withRole(all, names)(ceph.RoleOSD)
		}

		for _, host := range from {
			hosts[host] = true
		}
	}

	copies := int64(3)
	if value.Known(pools.Size) {
		copies = pools.Size.ValueInt64()
	}

	if int64(len(hosts)) < copies {
		diags.AddAttributeWarning(path.Root("pool_defaults").AtName("failure_domain"), m.label()+" has too few hosts with OSDs", fmt.Sprintf(
			"Pools keep %d copies on different hosts, and OSDs are on %s: their placement groups stay undersized. On a single host set pool_defaults.failure_domain = \"osd\" before the cluster is made.", copies, count(len(hosts), "host")))
	}
}

func (m model) priceOfNetwork(ctx context.Context, state model, diags *diag.Diagnostics) {
	now, ok := value.Object[networkModel](ctx, m.Network, diags)
	before, _ := value.Object[networkModel](ctx, state.Network, diags)

	if !ok {
		return
	}

	if !now.Public.Equal(before.Public) && len(before.Public.Elements()) > 0 || !now.Ports.Equal(before.Ports) {
		diags.AddAttributeWarning(pathNetwork, "Monitors of "+m.label()+" get other addresses", "A monitor cannot change its address: each is replaced by a new one, one after the other. Clients that know only old addresses must learn the new ones (mon_endpoints).")
	}

	if !now.Encryption.Equal(before.Encryption) || !now.RequireMsgr2.Equal(before.RequireMsgr2) {
		diags.AddAttributeWarning(pathNetwork, "Clients of "+m.label()+" may have to follow", "Encryption and the old protocol are switched for all connections; clients that cannot do as configured lose theirs.")
	}
}

// count says "1 OSD", "3 OSDs".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}

	return fmt.Sprintf("%d %ss", n, what)
}
