// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// model is the resource in Go.
type model struct {
	ID        types.String `tfsdk:"id"`
	ClusterID types.String `tfsdk:"cluster_id"`
	FSID      types.String `tfsdk:"fsid"`
	Name      types.String `tfsdk:"name"`
	PoolID    types.Int64  `tfsdk:"pool_id"`

	Type      types.String `tfsdk:"type"`
	Erasure   types.Object `tfsdk:"erasure"`
	Size      types.Int64  `tfsdk:"size"`
	MinSize   types.Int64  `tfsdk:"min_size"`
	PGNum     types.Int64  `tfsdk:"pg_num"`
	PGs       types.Int64  `tfsdk:"pgs"`
	Autoscale types.String `tfsdk:"pg_autoscale_mode"`

	FailureDomain types.String `tfsdk:"failure_domain"`
	DeviceClass   types.String `tfsdk:"device_class"`
	CrushRoot     types.String `tfsdk:"crush_root"`
	CrushRule     types.String `tfsdk:"crush_rule"`

	Application types.String `tfsdk:"application"`
	Quota       types.Object `tfsdk:"quota"`
	Compression types.String `tfsdk:"compression_mode"`
	Parameters  types.Map    `tfsdk:"parameters"`

	AllowSizeOne        types.Bool   `tfsdk:"allow_size_one"`
	DeletionProtection  types.Bool   `tfsdk:"deletion_protection"`
	AllowDeleteWithData types.Bool   `tfsdk:"allow_delete_with_data"`
	Connection          types.Object `tfsdk:"cluster_connection"`
	Timeouts            types.Object `tfsdk:"timeouts"`

	UsedBytes types.Int64 `tfsdk:"used_bytes"`
	Objects   types.Int64 `tfsdk:"objects"`
}

type quotaModel struct {
	MaxBytes   types.Int64 `tfsdk:"max_bytes"`
	MaxObjects types.Int64 `tfsdk:"max_objects"`
}

type erasureModel struct {
	K         types.Int64  `tfsdk:"k"`
	M         types.Int64  `tfsdk:"m"`
	Plugin    types.String `tfsdk:"plugin"`
	Technique types.String `tfsdk:"technique"`
}

var (
	quotaTypes   = map[string]attr.Type{"max_bytes": types.Int64Type, "max_objects": types.Int64Type}
	erasureTypes = map[string]attr.Type{"k": types.Int64Type, "m": types.Int64Type, "plugin": types.StringType, "technique": types.StringType}
)

// label names the pool to people.
func (m model) label() string { return "Pool " + m.Name.ValueString() }

// wanted is what the model asks for. What it leaves to Ceph is zero.
func (m model) wanted(ctx context.Context, diags *diag.Diagnostics) pool.Wanted {
	w := pool.Wanted{
		Name: m.Name.ValueString(), Type: m.Type.ValueString(),
		Size: int(m.Size.ValueInt64()), MinSize: int(m.MinSize.ValueInt64()), PGNum: int(m.PGNum.ValueInt64()), Autoscale: m.Autoscale.ValueString(),
		Place:       pool.Place{Domain: m.FailureDomain.ValueString(), Class: m.DeviceClass.ValueString(), Root: m.CrushRoot.ValueString()},
		Application: m.Application.ValueString(), Compression: m.Compression.ValueString(), Parameters: value.GoMap(m.Parameters),
		AllowSizeOne: m.AllowSizeOne.ValueBool(),
	}

	if q, ok := value.Object[quotaModel](ctx, m.Quota, diags); ok {
		w.QuotaBytes, w.QuotaObjects = q.MaxBytes.ValueInt64(), q.MaxObjects.ValueInt64()
	}

	if e, ok := value.Object[erasureModel](ctx, m.Erasure, diags); ok {
		w.Code = pool.Code{K: int(e.K.ValueInt64()), M: int(e.M.ValueInt64()), Plugin: e.Plugin.ValueString(), Technique: e.Technique.ValueString()}
	}

	return w
}

// follow brings the model in line with a pool as it was seen.
func (m *model) follow(s pool.Seen, fsid string) {
	m.FSID, m.PoolID, m.Name = types.StringValue(fsid), types.Int64Value(int64(s.ID)), types.StringValue(s.Name)
	m.ID = cephvalue.JoinID(m.ClusterID, m.Name)
	m.Type, m.Size, m.MinSize = types.StringValue(s.Type), types.Int64Value(int64(s.Size)), types.Int64Value(int64(s.MinSize))
	m.PGs, m.Autoscale = types.Int64Value(int64(s.PGNum)), types.StringValue(s.PGAutoscaleMode)
	m.CrushRule, m.Compression = value.String(s.Rule.Name), value.String(s.Compression)
	m.UsedBytes, m.Objects = types.Int64Value(s.UsedBytes), types.Int64Value(s.Objects)

	// Where the autoscaler decides, the number is where the pool began.
	if value.Known(m.PGNum) && s.PGAutoscaleMode != "on" {
		m.PGNum = types.Int64Value(int64(s.PGNum))
	}

	m.followPlace(s.Rule.Place)
	m.followApplication(s.Applications)

	m.Quota = types.ObjectNull(quotaTypes)
	if s.QuotaBytes > 0 || s.QuotaObjects > 0 {
		m.Quota = types.ObjectValueMust(quotaTypes, map[string]attr.Value{"max_bytes": value.Int64(s.QuotaBytes), "max_objects": value.Int64(s.QuotaObjects)})
	}

	if value.Known(m.Parameters) {
		m.Parameters = parameters(value.GoMap(m.Parameters), s.Parameters)
	}
}

// followPlace compares what is asked for; what nobody asked for is Ceph's choice.
func (m *model) followPlace(p pool.Place) {
	if value.Known(m.FailureDomain) {
		m.FailureDomain = value.String(p.Domain)
	}

	if value.Known(m.DeviceClass) {
		m.DeviceClass = value.String(p.Class)
	}

	if value.Known(m.CrushRoot) {
		m.CrushRoot = value.String(p.Root)
	}
}

// followApplication keeps an application that is still there among several.
func (m *model) followApplication(all []string) {
	switch {
	case value.Known(m.Application) && slices.Contains(all, m.Application.ValueString()):
	case len(all) == 0:
		m.Application = types.StringNull()
	default:
		m.Application = types.StringValue(slices.Min(all))
	}
}

// parameters are those that are ours, as they are now. Two spellings of one value are no drift.
func parameters(ours, seen map[string]string) types.Map {
	out := maps.Clone(ours)

	for name, was := range ours {
		now, there := seen[name]

		switch {
		case !there && pool.Unset(was): // Ceph does not tell what is not set
		case !there:
			delete(out, name)
		case !pool.SameValue(was, now):
			out[name] = now
		}
	}

	// An empty map is one that is given, and stays it.
	return value.StringMapOrEmpty(out)
}

var (
	pathName    = path.Root("name")
	pathSize    = path.Root("size")
	pathErasure = path.Root("erasure")
)
