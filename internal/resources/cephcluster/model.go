// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// model is the resource in Go. Nested objects stay framework values, because at plan a
// whole object may be unknown; the structs of parts.go read them once they are known.
type model struct {
	Name    types.String `tfsdk:"name"`
	Hosts   types.Map    `tfsdk:"hosts"`
	DataDir types.String `tfsdk:"data_dir"`
	FSID    types.String `tfsdk:"fsid"`

	CephVersion      types.String `tfsdk:"ceph_version"`
	AllowUnsupported types.Bool   `tfsdk:"allow_unsupported_version"`
	Packages         types.String `tfsdk:"packages"`
	Supervision      types.String `tfsdk:"supervision"`
	Config           types.Map    `tfsdk:"config"`

	Mon          types.Object `tfsdk:"mon"`
	Mgr          types.Object `tfsdk:"mgr"`
	Network      types.Object `tfsdk:"network"`
	Storage      types.Object `tfsdk:"storage"`
	PoolDefaults types.Object `tfsdk:"pool_defaults"`
	Upgrade      types.Object `tfsdk:"upgrade"`
	Cleanup      types.Object `tfsdk:"cleanup"`
	Takeover     types.Object `tfsdk:"takeover"`
	Ready        types.Object `tfsdk:"ready"`
	Dashboard    types.Object `tfsdk:"dashboard"`
	External     types.Object `tfsdk:"external"`

	OnCreateFailure    types.String `tfsdk:"on_create_failure"`
	DeletionProtection types.Bool   `tfsdk:"deletion_protection"`
	Timeouts           types.Object `tfsdk:"timeouts"`

	ID           types.String `tfsdk:"id"`
	AdminKeyring types.String `tfsdk:"admin_keyring"`
	MonSecret    types.String `tfsdk:"mon_secret"`

	moving
}

// moving is what an apply can change, and what moves by itself.
type moving struct {
	MonEndpoints      types.String `tfsdk:"mon_endpoints"`
	Mons              types.Map    `tfsdk:"mons"`
	Mgrs              types.Map    `tfsdk:"mgrs"`
	MgrActive         types.String `tfsdk:"mgr_active"`
	OSDs              types.Map    `tfsdk:"osds"`
	Health            types.String `tfsdk:"health"`
	HealthChecks      types.Map    `tfsdk:"health_checks"`
	Versions          types.Map    `tfsdk:"versions"`
	Capacity          types.Object `tfsdk:"capacity"`
	DashboardURL      types.String `tfsdk:"dashboard_url"`
	DashboardPassword types.String `tfsdk:"dashboard_password"`
	Conf              types.String `tfsdk:"conf"`
	Phase             types.String `tfsdk:"phase"`
	IsReady           types.Bool   `tfsdk:"is_ready"`
	Conditions        types.List   `tfsdk:"conditions"`
	DevicesRejected   types.Map    `tfsdk:"devices_rejected"`
	Drift             types.List   `tfsdk:"drift"`
	OwnedConfig       types.Map    `tfsdk:"owned_config"`
	MaxMonID          types.Int64  `tfsdk:"max_mon_id"`
}

var (
	pathHosts    = path.Root("hosts")
	pathMon      = path.Root("mon")
	pathMgr      = path.Root("mgr")
	pathNetwork  = path.Root("network")
	pathStorage  = path.Root("storage")
	pathExternal = path.Root("external")
	pathTakeover = path.Root("takeover")
)

// label names the cluster to people.
func (m model) label() string {
	if !value.Known(m.Name) {
		return "Ceph cluster"
	}

	return "Ceph cluster " + m.Name.ValueString()
}

// objects reads a list of objects. One that is unknown as a whole is left out; index tells
// where each one stood.
func objects[T any](ctx context.Context, l types.List, diags *diag.Diagnostics) (all []T, index []int) {
	if !value.Known(l) {
		return nil, nil
	}

	for i, v := range l.Elements() {
		if one, ok := value.Object[T](ctx, v, diags); ok {
			all, index = append(all, one), append(index, i)
		}
	}

	return all, index
}

// hosts reads the hosts that are known, and tells the names of all in order.
func (m model) hosts(ctx context.Context, diags *diag.Diagnostics) (all map[string]hostModel, names []string) {
	if !value.Known(m.Hosts) {
		return nil, nil
	}

	all = map[string]hostModel{}

	for name, v := range m.Hosts.Elements() {
		names = append(names, name)

		if h, ok := value.Object[hostModel](ctx, v, diags); ok {
			all[name] = h
		}
	}

	slices.Sort(names)

	return all, names
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
