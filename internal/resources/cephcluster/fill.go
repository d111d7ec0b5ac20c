// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// fill copies a record into the computed attributes. What is known already and never
// changes stays: a plan has promised it.
func (m *model) fill(ctx context.Context, r ceph.Record, diags *diag.Diagnostics) {
	keep(&m.FSID, value.String(r.FSID))
	keep(&m.MonSecret, value.String(string(r.MonSecret)))

	keyring := types.StringNull()
	if r.AdminKey != "" {
		keyring = types.StringValue(string(ceph.AdminKeyring(r.AdminKey)))
	}

	keep(&m.AdminKeyring, keyring)

	m.MonEndpoints, m.MgrActive, m.Health = value.String(r.MonHost), value.String(r.MgrActive), value.String(r.Health)
	keep(&m.DashboardPassword, value.String(string(r.DashboardPassword)))

	m.DashboardURL = value.String(r.DashboardURL)
	m.Conf, m.Phase, m.IsReady = value.String(r.Conf), value.String(r.Phase), types.BoolValue(r.Ready)
	m.Drift, m.MaxMonID = value.StringListOrEmpty(r.Drift), types.Int64Value(int64(r.LastMon))

	m.fillDaemons(ctx, r, diags)
	m.fillHealth(ctx, r, diags)
}

// renew forgets keys of which a look found others.
func (m *model) renew(r ceph.Record) {
	for to, found := range map[*types.String]ceph.Secret{&m.AdminKeyring: r.AdminKey, &m.MonSecret: r.MonSecret, &m.DashboardPassword: r.DashboardPassword} {
		if found != "" {
			*to = types.StringNull()
		}
	}
}

// settle leaves nothing unknown behind a verb.
func (m *model) settle(ctx context.Context, r ceph.Record, diags *diag.Diagnostics) {
	m.fill(ctx, r, diags)
	m.settleID(ctx)
}

func (m *model) settleID(ctx context.Context) {
	if value.Known(m.ID) {
		return
	}

	if m.ID = m.id(ctx); m.ID.IsUnknown() {
		m.ID = types.StringNull()
	}
}

// keep sets what is not known yet.
func keep(have *types.String, now types.String) {
	if have.IsNull() || have.IsUnknown() {
		*have = now
	}
}

func (m *model) fillDaemons(ctx context.Context, r ceph.Record, diags *diag.Diagnostics) {
	mons := map[string]monState{}
	for name, d := range r.Mons {
		mons[name] = monState{value.String(d.Host), value.String(d.Addr), types.BoolValue(d.InQuorum), momentOf(d.OutSince)}
	}

	mgrs := map[string]mgrState{}
	for name, d := range r.Mgrs {
		mgrs[name] = mgrState{value.String(d.Host), types.BoolValue(d.Active)}
	}

	osds := map[string]osdState{}
	for id, d := range r.OSDs {
		osds[strconv.Itoa(id)] = osdState{
			value.String(d.Host), value.String(d.UUID), value.String(d.Path), value.String(d.Device), value.String(d.Class), types.BoolValue(d.Up), types.BoolValue(d.In),
		}
	}

	m.Mons = mapOf(ctx, "mons", mons, diags)
	m.Mgrs = mapOf(ctx, "mgrs", mgrs, diags)
	m.OSDs = mapOf(ctx, "osds", osds, diags)
	m.OwnedConfig = convert[types.Map](ctx, "owned_config", orEmpty(r.Owned), diags)
	m.DevicesRejected = convert[types.Map](ctx, "devices_rejected", orEmpty(r.Rejected), diags)
}

func (m *model) fillHealth(ctx context.Context, r ceph.Record, diags *diag.Diagnostics) {
	checks := map[string]checkState{}
	for code, c := range r.Checks {
		checks[code] = checkState{value.String(c.Severity), value.String(c.Message), types.BoolValue(c.Muted)}
	}

	conditions := []conditionState{}
	for _, c := range r.Conditions {
		conditions = append(conditions, conditionState{
			value.String(c.Type), value.String(c.Status), value.String(c.Reason), value.String(c.Message), momentOf(c.LastTransition),
		})
	}

	m.HealthChecks = mapOf(ctx, "health_checks", checks, diags)
	m.Conditions = convert[types.List](ctx, "conditions", conditions, diags)
	m.Versions = convert[types.Map](ctx, "versions", orEmpty(r.Versions), diags)
	m.Capacity = convert[types.Object](ctx, "capacity", capacityState{r.Capacity.Total, r.Capacity.Used, r.Capacity.Available}, diags)
}

func orEmpty[M ~map[K]V, K comparable, V any](m M) M {
	if m == nil {
		return M{}
	}

	return m
}

func mapOf[T any](ctx context.Context, name string, all map[string]T, diags *diag.Diagnostics) types.Map {
	return convert[types.Map](ctx, name, all, diags)
}

// convert makes a computed attribute out of Go values.
func convert[V attr.Value](ctx context.Context, name string, from any, diags *diag.Diagnostics) V {
	var v V

	diags.Append(tfsdk.ValueFrom(ctx, from, computedAttributes()[name].GetType(), &v)...)

	return v
}
