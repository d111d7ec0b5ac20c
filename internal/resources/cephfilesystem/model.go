// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephfilesystem

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/fs"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// model is the resource in Go.
type model struct {
	ID                  types.String `tfsdk:"id"`
	ClusterID           types.String `tfsdk:"cluster_id"`
	FSID                types.String `tfsdk:"fsid"`
	Name                types.String `tfsdk:"name"`
	FilesystemID        types.Int64  `tfsdk:"filesystem_id"`
	MetadataPool        types.Object `tfsdk:"metadata_pool"`
	DataPools           types.List   `tfsdk:"data_pools"`
	MDS                 types.Object `tfsdk:"mds"`
	Daemons             types.Map    `tfsdk:"mds_daemons"`
	DeletionProtection  types.Bool   `tfsdk:"deletion_protection"`
	AllowDeleteWithData types.Bool   `tfsdk:"allow_delete_with_data"`
	Connection          types.Object `tfsdk:"cluster_connection"`
	Timeouts            types.Object `tfsdk:"timeouts"`
}

type poolModel struct {
	Name          types.String `tfsdk:"name"`
	Size          types.Int64  `tfsdk:"size"`
	MinSize       types.Int64  `tfsdk:"min_size"`
	PGNum         types.Int64  `tfsdk:"pg_num"`
	FailureDomain types.String `tfsdk:"failure_domain"`
	DeviceClass   types.String `tfsdk:"device_class"`
}

type mdsModel struct {
	Active        types.Int64 `tfsdk:"active"`
	StandbyReplay types.Bool  `tfsdk:"standby_replay"`
	Hosts         types.Map   `tfsdk:"hosts"`
}

type hostModel struct {
	Address    types.String `tfsdk:"address"`
	Connection types.Object `tfsdk:"connection"`
}

var pathHosts = path.Root("mds").AtName("hosts")

func (m model) label() string { return "File system " + m.Name.ValueString() }

// pools are the pools for data, as they are configured; without any, there is one.
func (m model) pools(ctx context.Context, diags *diag.Diagnostics) []poolModel {
	if m.DataPools.IsNull() {
		return []poolModel{{}}
	}

	out := make([]poolModel, 0, len(m.DataPools.Elements()))

	for _, v := range m.DataPools.Elements() {
		p, _ := value.Object[poolModel](ctx, v, diags)
		out = append(out, p)
	}

	return out
}

func (m model) metaName(p poolModel) string {
	return cmp.Or(p.Name.ValueString(), m.Name.ValueString()+"-metadata")
}

func (m model) dataName(p poolModel, i int) string {
	return cmp.Or(p.Name.ValueString(), fmt.Sprintf("%s-data%d", m.Name.ValueString(), i))
}

func (p poolModel) wanted(name string) pool.Wanted {
	return pool.Wanted{
		Name: name, Type: pool.Replicated, Size: int(p.Size.ValueInt64()), MinSize: int(p.MinSize.ValueInt64()), PGNum: int(p.PGNum.ValueInt64()),
		Place: pool.Place{Domain: p.FailureDomain.ValueString(), Class: p.DeviceClass.ValueString()},
	}
}

// wanted is what the model asks for.
func (m model) wanted(ctx context.Context, diags *diag.Diagnostics) fs.Wanted {
	w := fs.Wanted{Name: m.Name.ValueString(), Active: 1}

	meta, _ := value.Object[poolModel](ctx, m.MetadataPool, diags)
	w.Meta = meta.wanted(m.metaName(meta))

	for i, p := range m.pools(ctx, diags) {
		w.Data = append(w.Data, p.wanted(m.dataName(p, i)))
	}

	if mds, ok := value.Object[mdsModel](ctx, m.MDS, diags); ok {
		w.Active, w.Standby = max(1, int(mds.Active.ValueInt64())), mds.StandbyReplay.ValueBool()
	}

	return w
}

// hosts are the hosts that get an MDS: those that are named, or those through which the cluster
// is reached.
func (r *fsResource) hosts(ctx context.Context, m model, otherwise []ceph.Host, diags *diag.Diagnostics) []ceph.Host {
	mds, _ := value.Object[mdsModel](ctx, m.MDS, diags)
	if !value.Known(mds.Hosts) {
		return otherwise
	}

	var out []ceph.Host

	all := mds.Hosts.Elements()

	for _, name := range slices.Sorted(maps.Keys(all)) {
		h, _ := value.Object[hostModel](ctx, all[name], diags)
		at := pathHosts.AtMapKey(name)

		cfg := cephvalue.Connection(ctx, r.Far, h.Connection, at.AtName("connection"), diags)
		if cfg == nil && !diags.HasError() {
			defaults, err := r.Far.SSHDefaults(ctx)
			if err != nil {
				diags.AddAttributeError(at, "Connection cannot be made yet", value.Sentence(err))
			}

			defaults.Type, defaults.Host = remote.SSH, cmp.Or(h.Address.ValueString(), name)
			cfg = &defaults
		}

		if diags.HasError() {
			return nil
		}

		host, err := r.Far.CephHost(ctx, *cfg)
		if err != nil {
			diags.AddAttributeError(at, "Connection to "+name+" cannot work", value.Sentence(err))

			continue
		}

		out = append(out, host)
	}

	return out
}

// follow brings the model in line with a file system as it was seen. What nobody asked for
// is Ceph's choice.
func (m *model) follow(ctx context.Context, s fs.Seen, fsid string, diags *diag.Diagnostics) {
	m.fill(s, fsid, true)

	if p, ok := value.Object[poolModel](ctx, m.MetadataPool, diags); ok {
		m.MetadataPool = p.follow(s.Meta).value(ctx, diags)
	}

	if value.Known(m.DataPools) {
		var left []attr.Value

		for i, p := range m.pools(ctx, diags) {
			at := slices.IndexFunc(s.Data, func(seen pool.Seen) bool { return seen.Name == m.dataName(p, i) })
			if at >= 0 {
				left = append(left, p.follow(s.Data[at]).value(ctx, diags))
			}
		}

		list, d := types.ListValue(types.ObjectType{AttrTypes: poolTypes()}, left)
		diags.Append(d...)

		m.DataPools = list
	}

	mds, ok := value.Object[mdsModel](ctx, m.MDS, diags)
	if !ok {
		return
	}

	if value.Known(mds.Active) || s.Active != 1 {
		mds.Active = types.Int64Value(int64(s.Active))
	}

	if value.Known(mds.StandbyReplay) || s.Standby {
		mds.StandbyReplay = types.BoolValue(s.Standby)
	}

	o, d := types.ObjectValueFrom(ctx, attrTypes(mdsAttribute().Attributes), mds)
	diags.Append(d...)

	m.MDS = o
}

// fill gives values to what is computed; where not all, to what was planned unknown.
func (m *model) fill(s fs.Seen, fsid string, all bool) {
	if all || m.ID.IsUnknown() {
		m.ID = cephvalue.JoinID(m.ClusterID, m.Name)
	}

	if all || m.FSID.IsUnknown() {
		m.FSID = types.StringValue(fsid)
	}

	if all || m.FilesystemID.IsUnknown() {
		m.FilesystemID = types.Int64Value(int64(s.ID))
	}

	if !all && !m.Daemons.IsUnknown() {
		return
	}

	daemons := map[string]attr.Value{}
	for name, d := range s.MDS {
		daemons[name] = types.ObjectValueMust(daemonTypes, map[string]attr.Value{"host": value.String(d.Host), "state": value.String(d.State)})
	}

	m.Daemons = types.MapValueMust(types.ObjectType{AttrTypes: daemonTypes}, daemons)
}

func (p poolModel) follow(s pool.Seen) poolModel {
	if value.Known(p.Size) {
		p.Size = types.Int64Value(int64(s.Size))
	}

	if value.Known(p.MinSize) {
		p.MinSize = types.Int64Value(int64(s.MinSize))
	}

	if value.Known(p.FailureDomain) {
		p.FailureDomain = value.String(s.Rule.Place.Domain)
	}

	if value.Known(p.DeviceClass) {
		p.DeviceClass = value.String(s.Rule.Place.Class)
	}

	return p
}

func (p poolModel) value(ctx context.Context, diags *diag.Diagnostics) types.Object {
	o, d := types.ObjectValueFrom(ctx, poolTypes(), p)
	diags.Append(d...)

	return o
}

// record writes state and identity.
func (m model) record(ctx context.Context, state *tfsdk.State, id *tfsdk.ResourceIdentity, diags *diag.Diagnostics) {
	diags.Append(state.Set(ctx, &m)...)
	filesystems.Identify(ctx, id, m.ClusterID, m.Name, diags)
}
