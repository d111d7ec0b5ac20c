// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// wanted is what the model asks for, without its hosts. All its values must be known.
func (m model) wanted(ctx context.Context, owner string, was ceph.Record, diags *diag.Diagnostics) ceph.Wanted {
	w := ceph.Wanted{
		Name: m.Name.ValueString(), Owner: owner, FSID: m.FSID.ValueString(), Dir: m.DataDir.ValueString(),
		Version: m.CephVersion.ValueString(), AllowUnsupported: m.AllowUnsupported.ValueBool(),
		Supervision: m.Supervision.ValueString(), Packages: m.Packages.ValueString(),
		Config: config(m.Config), WasConfig: was.Owned,
	}

	all, names := m.hosts(ctx, diags)
	hosts := withRole(all, names)

	w.Mon = m.mon(ctx, hosts(ceph.RoleMon), diags)
	w.Mgr = m.mgr(ctx, hosts(ceph.RoleMgr), diags)
	w.Network = m.network(ctx, diags)
	w.Storage = m.storage(ctx, diags)
	m.policies(ctx, &w, diags)

	return w
}

// withRole tells the hosts that have a role, by name.
func withRole(all map[string]hostModel, names []string) func(role string) []string {
	return func(role string) []string {
		var out []string

		for _, name := range names {
			if h, ok := all[name]; ok && h.has(role) {
				out = append(out, name)
			}
		}

		return out
	}
}

func (m model) mon(ctx context.Context, hosts []string, diags *diag.Diagnostics) ceph.MonSpec {
	s, _ := value.Object[monModel](ctx, m.Mon, diags)
	if named := value.GoStrings(s.Hosts); len(named) > 0 {
		hosts = named
	}

	return ceph.MonSpec{Count: int(s.Count.ValueInt64()), Hosts: hosts, AllowMultiple: s.AllowMultiple.ValueBool(), Failover: span(s.Failover)}
}

// mgr has no more managers than hosts that may have one.
func (m model) mgr(ctx context.Context, hosts []string, diags *diag.Diagnostics) ceph.MgrSpec {
	s, _ := value.Object[mgrModel](ctx, m.Mgr, diags)
	if named := value.GoStrings(s.Hosts); len(named) > 0 {
		hosts = named
	}

	spec := ceph.MgrSpec{Count: int(s.Count.ValueInt64()), Hosts: hosts, AllowMultiple: s.AllowMultiple.ValueBool()}
	if !spec.AllowMultiple {
		spec.Count = min(spec.Count, len(hosts))
	}

	all, err := readModules(s.Modules)
	if err != nil {
		diags.AddAttributeError(pathMgr.AtName("modules"), "Invalid modules", value.Sentence(err))
	}

	spec.Modules = all

	return spec
}

func (m model) network(ctx context.Context, diags *diag.Diagnostics) ceph.NetworkSpec {
	s, _ := value.Object[networkModel](ctx, m.Network, diags)
	ports, _ := value.Object[portsModel](ctx, s.Ports, diags)

	return ceph.NetworkSpec{
		Public: value.GoStrings(s.Public), Cluster: value.GoStrings(s.Cluster), RequireMsgr2: s.RequireMsgr2.ValueBool(),
		Encryption: s.Encryption.ValueBool(), Compression: s.Compression.ValueBool(),
		Msgr2: int(ports.Msgr2.ValueInt64()), Msgr1: int(ports.Msgr1.ValueInt64()),
	}
}

func (m model) storage(ctx context.Context, diags *diag.Diagnostics) ceph.StorageSpec {
	s, _ := value.Object[storageModel](ctx, m.Storage, diags)
	removal, _ := value.Object[removalModel](ctx, s.Removal, diags)

	out := ceph.StorageSpec{
		Backend: s.Backend.ValueString(), FileSize: sizeOf(s.FileSize.ValueString()), OSDsPerDevice: int(s.OSDsPerDevice.ValueInt64()),
		Removal: ceph.RemovalSpec{
			Allow: removal.Allow.ValueBool(), Timeout: span(removal.Timeout), Parallel: int(removal.Parallel.ValueInt64()), Wipe: removal.Wipe.ValueBool(),
		},
		Full: s.Full.ValueFloat64(), BackfillFull: s.BackfillFull.ValueFloat64(), NearFull: s.NearFull.ValueFloat64(),
	}

	devices, _ := objects[deviceModel](ctx, s.Devices, diags)
	for _, d := range devices {
		out.Devices = append(out.Devices, ceph.DeviceSpec{
			Host: d.Host.ValueString(), Path: d.Path.ValueString(), DB: d.DB.ValueString(), DBSize: sizeOf(d.DBSize.ValueString()), Class: d.Class.ValueString(),
			Encrypted: d.Encrypted.ValueBool(), Count: int(d.Count.ValueInt64()), Weight: d.Weight.ValueFloat64(),
		})
	}

	selectors, _ := objects[selectorModel](ctx, s.Selectors, diags)
	for _, one := range selectors {
		out.Selectors = append(out.Selectors, ceph.Selector{
			Hosts: value.GoStrings(one.Hosts), All: one.All.ValueBool(), NameRegex: one.NameRegex.ValueString(), PathRegex: one.PathRegex.ValueString(),
			MinSize: sizeOf(one.MinSize.ValueString()), MaxSize: sizeOf(one.MaxSize.ValueString()), Rotational: one.Rotational.ValueBoolPointer(),
			Limit: int(one.Limit.ValueInt64()), Class: one.Class.ValueString(), Encrypted: one.Encrypted.ValueBool(),
		})
	}

	return out
}

// policies reads the sections that say how things are done.
func (m model) policies(ctx context.Context, w *ceph.Wanted, diags *diag.Diagnostics) {
	if s, ok := value.Object[poolModel](ctx, m.PoolDefaults, diags); ok {
		w.PoolDefaults = ceph.PoolDefaults{
			FailureDomain: s.FailureDomain.ValueString(), Size: int(s.Size.ValueInt64()), MinSize: int(s.MinSize.ValueInt64()), PGNum: int(s.PGNum.ValueInt64()),
		}
	}

	if s, ok := value.Object[upgradeModel](ctx, m.Upgrade, diags); ok {
		w.Upgrade = ceph.UpgradeSpec{
			SkipChecks: s.SkipChecks.ValueBool(), ContinueUnhealthy: s.ContinueUnhealthy.ValueBool(), OkToStop: span(s.OkToStop),
			Parallel: int(s.Parallel.ValueInt64()), RequireCleanPGs: s.RequireCleanPGs.ValueBool(),
		}
	}

	if s, ok := value.Object[takeoverModel](ctx, m.Takeover, diags); ok {
		w.Takeover = ceph.Takeover{WipeForeignDevices: s.WipeForeignDevices.ValueBool(), WipeForeignData: s.WipeForeignData.ValueBool()}
	}

	if s, ok := value.Object[dashboardModel](ctx, m.Dashboard, diags); ok {
		w.Dashboard = ceph.Dashboard{
			Managed: true, Enabled: s.Enabled.ValueBool(), Port: int(s.Port.ValueInt64()), SSL: s.SSL.ValueBool(), Prefix: s.Prefix.ValueString(),
			Password: ceph.Secret(m.DashboardPassword.ValueString()),
		}
	}

	if s, ok := value.Object[readyModel](ctx, m.Ready, diags); ok {
		w.Ready = ceph.ReadySpec{OSDs: s.OSDsUp.ValueString(), Health: s.Health.ValueString(), AllowCodes: value.GoStrings(s.AllowCodes)}
	}
}

// cleanup is what a delete does.
func (m model) cleanup(ctx context.Context, diags *diag.Diagnostics) ceph.CleanupSpec {
	s, _ := value.Object[cleanupModel](ctx, m.Cleanup, diags)

	return ceph.CleanupSpec{
		Confirmation: s.Confirmation.ValueString(), Wipe: s.Wipe.ValueString(), Passes: int(s.Passes.ValueInt64()), AllowWithData: s.AllowWithData.ValueBool(),
	}
}

// span reads a duration that has passed validation; 0 where there is none.
func span(s types.String) time.Duration {
	d, err := time.ParseDuration(s.ValueString())
	if err != nil {
		return 0
	}

	return d
}
