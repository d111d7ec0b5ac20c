// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// record reads what a state knows of the cluster.
func (m model) record(ctx context.Context, diags *diag.Diagnostics) ceph.Record {
	keyring := []byte(m.AdminKeyring.ValueString())

	r := ceph.Record{
		FSID: m.FSID.ValueString(), AdminKey: ceph.KeyOf(keyring, ceph.EntityAdmin), MonSecret: ceph.Secret(m.MonSecret.ValueString()),
		LastMon: int(m.MaxMonID.ValueInt64()), MonHost: m.MonEndpoints.ValueString(), MgrActive: m.MgrActive.ValueString(),
		Health: m.Health.ValueString(), Conf: m.Conf.ValueString(), Phase: m.Phase.ValueString(),
		DashboardURL: m.DashboardURL.ValueString(), DashboardPassword: ceph.Secret(m.DashboardPassword.ValueString()),
		Ready: m.IsReady.ValueBool(), Drift: value.GoStrings(m.Drift),
		Mons: map[string]ceph.MonRecord{}, Mgrs: map[string]ceph.MgrRecord{}, OSDs: map[int]ceph.OSDRecord{},
	}

	for name, s := range value.Objects[monState](ctx, m.Mons, diags) {
		r.Mons[name] = ceph.MonRecord{Host: s.Host.ValueString(), Addr: s.Addr.ValueString(), InQuorum: s.InQuorum.ValueBool(), OutSince: moment(s.OutSince)}
	}

	for name, s := range value.Objects[mgrState](ctx, m.Mgrs, diags) {
		r.Mgrs[name] = ceph.MgrRecord{Host: s.Host.ValueString(), Active: s.Active.ValueBool()}
	}

	for name, s := range value.Objects[osdState](ctx, m.OSDs, diags) {
		id, err := strconv.Atoi(name)
		if err != nil {
			continue // no OSD of Ceph's
		}

		r.OSDs[id] = ceph.OSDRecord{
			Host: s.Host.ValueString(), UUID: s.UUID.ValueString(), Path: s.Path.ValueString(), Device: s.Device.ValueString(),
			Class: s.Class.ValueString(), Up: s.Up.ValueBool(), In: s.In.ValueBool(),
		}
	}

	m.recordHealth(ctx, &r, diags)

	return r
}

// recordHealth reads what the cluster said of itself.
func (m model) recordHealth(ctx context.Context, r *ceph.Record, diags *diag.Diagnostics) {
	r.Checks = map[string]api.Check{}
	for code, s := range value.Objects[checkState](ctx, m.HealthChecks, diags) {
		r.Checks[code] = api.Check{Severity: s.Severity.ValueString(), Message: s.Message.ValueString(), Muted: s.Muted.ValueBool()}
	}

	conditions, _ := objects[conditionState](ctx, m.Conditions, diags)
	for _, c := range conditions {
		r.Conditions = append(r.Conditions, ceph.Condition{
			Type: c.Type.ValueString(), Status: c.Status.ValueString(), Reason: c.Reason.ValueString(), Message: c.Message.ValueString(),
			LastTransition: moment(c.LastTransition),
		})
	}

	if value.Known(m.Versions) {
		r.Versions = api.Versions{}
		diags.Append(m.Versions.ElementsAs(ctx, (*map[string]map[string]int)(&r.Versions), false)...)
	}

	if value.Known(m.DevicesRejected) {
		diags.Append(m.DevicesRejected.ElementsAs(ctx, &r.Rejected, false)...)
	}

	if value.Known(m.OwnedConfig) {
		diags.Append(m.OwnedConfig.ElementsAs(ctx, &r.Owned, false)...)
	}

	if c, ok := value.Object[capacityState](ctx, m.Capacity, diags); ok {
		r.Capacity = api.Capacity(c)
	}
}

// moment reads a time; zero where it is none.
func moment(s types.String) time.Time {
	t, err := time.Parse(time.RFC3339, s.ValueString())
	if err != nil {
		return time.Time{}
	}

	return t
}

func momentOf(t time.Time) types.String {
	if t.IsZero() {
		return types.StringNull()
	}

	return types.StringValue(t.UTC().Format(time.RFC3339))
}
