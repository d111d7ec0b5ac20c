// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephstatus is the data source metal3_ceph_status: how a Ceph cluster is.
package cephstatus

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

var _ datasource.DataSourceWithConfigure = (*statusDataSource)(nil)

// limit bounds the question.
const limit = 3 * time.Minute

type statusDataSource struct{ far cephvalue.Far }

// NewDataSource returns the data source.
func NewDataSource() datasource.DataSource { return &statusDataSource{} }

// Metadata names the data source.
func (d *statusDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ceph_status"
}

// Configure takes over what the provider offers.
func (d *statusDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	value.Offered("The data source metal3_ceph_status", req.ProviderData, &d.far, &resp.Diagnostics)
}

// Read asks the cluster, with one round trip.
func (d *statusDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	defer value.Guard(ctx, "read", "Ceph status", &resp.Diagnostics)

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	reach, err := cephvalue.Open(ctx, d.far, m.ClusterID, m.Connection, &resp.Diagnostics)

	switch {
	case resp.Diagnostics.HasError():
		return
	case errors.Is(err, cephvalue.ErrPending):
		resp.Diagnostics.AddError("Ceph cluster cannot be read yet", value.Sentence(err)+
			" Let the data source depend on what the provider's configuration waits for (depends_on), or apply that first (-target).")

		return
	case err != nil:
		resp.Diagnostics.AddError("Ceph cluster cannot be reached", value.Sentence(err))

		return
	}

	snap, err := reach.Snapshot(ctx)
	if err != nil {
		resp.Diagnostics.AddError("Ceph cluster could not be read", value.Sentence(err))

		return
	}

	m.follow(snap)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func number(n int) types.Int64 { return types.Int64Value(int64(n)) }

// follow fills in what was seen.
func (m *model) follow(s api.Snapshot) {
	m.FSID, m.Health = types.StringValue(s.Status.FSID), types.StringValue(s.Status.Health.Status)
	m.Checks = checks(s.Status.Health.Checks)
	m.Quorum, m.Mons = value.StringListOrEmpty(s.Quorum.Names), mons(s.Quorum)

	// The mgr map tells the truth; "status" shows the last manager for half a minute.
	m.MgrActive = types.StringNull()
	if s.Mgr.Available {
		m.MgrActive = value.String(s.Mgr.Active)
	}

	m.MgrStandbys = value.StringListOrEmpty(s.Mgr.Standbys)
	m.OSDs = object(map[string]attr.Value{"total": number(s.Status.OSDs), "up": number(s.Status.OSDsUp), "in": number(s.Status.OSDsIn)})
	m.Capacity = object(map[string]attr.Value{
		"total": types.Int64Value(s.Status.Capacity.Total), "used": types.Int64Value(s.Status.Capacity.Used), "available": types.Int64Value(s.Status.Capacity.Available),
	})

	states := map[string]attr.Value{}
	for _, pg := range s.Status.PGs {
		before, _ := states[pg.State].(types.Int64)
		states[pg.State] = types.Int64Value(before.ValueInt64() + int64(pg.Count))
	}

	m.PGs, m.PGStates = number(s.Status.NumPGs), types.MapValueMust(types.Int64Type, states)
	m.Versions = versions(s.Versions)
}

func object(of map[string]attr.Value) types.Object {
	kinds := map[string]attr.Type{}
	for name := range of {
		kinds[name] = types.Int64Type
	}

	return types.ObjectValueMust(kinds, of)
}

func checks(all map[string]api.Check) types.Map {
	out := map[string]attr.Value{}
	for code, c := range all {
		out[code] = types.ObjectValueMust(checkTypes, map[string]attr.Value{
			"severity": types.StringValue(c.Severity), "message": types.StringValue(c.Message), "muted": types.BoolValue(c.Muted),
		})
	}

	return types.MapValueMust(types.ObjectType{AttrTypes: checkTypes}, out)
}

func mons(q api.Quorum) types.Map {
	out := map[string]attr.Value{}
	for _, mon := range q.Mons {
		out[mon.Name] = types.ObjectValueMust(monTypes, map[string]attr.Value{
			"address": types.StringValue(mon.Addrs.String()), "in_quorum": types.BoolValue(slices.Contains(q.Names, mon.Name)),
		})
	}

	return types.MapValueMust(types.ObjectType{AttrTypes: monTypes}, out)
}

func versions(all api.Versions) types.Map {
	out := map[string]attr.Value{}

	for kind, counts := range all {
		if kind == "overall" {
			continue
		}

		of := map[string]attr.Value{}
		for version, n := range counts {
			of[version] = number(n)
		}

		out[kind] = types.MapValueMust(types.Int64Type, of)
	}

	return types.MapValueMust(types.MapType{ElemType: types.Int64Type}, out)
}
