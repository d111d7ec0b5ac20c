// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// describe makes the configuration that the cluster has.
func (m *model) describe(ctx context.Context, s survey) {
	m.Mon = with(ctx, m.Mon, "count", types.Int64Value(int64(max(1, len(s.mons)))))
	m.Mgr = with(ctx, m.Mgr, "count", types.Int64Value(int64(max(1, len(s.mgrs)))))

	if s.twice(s.mons) {
		m.Mon = with(ctx, m.Mon, "allow_multiple_per_host", types.BoolValue(true))
	}

	if s.twice(s.mgrs) {
		m.Mgr = with(ctx, m.Mgr, "allow_multiple_per_host", types.BoolValue(true))
	}

	if ports, ok := m.Network.Attributes()["ports"].(types.Object); ok {
		for kind, port := range s.ports {
			ports = with(ctx, ports, "msgr"+kind[1:], types.Int64Value(int64(port)))
		}

		m.Network = with(ctx, m.Network, "ports", ports)
	}

	for name, option := range map[string]string{"public": "public_network", "cluster": "cluster_network"} {
		if ranges := strings.FieldsFunc(s.options[option], func(r rune) bool { return r == ',' || r == ' ' }); len(ranges) > 0 {
			m.Network = with(ctx, m.Network, name, value.StringList(ranges))
		}
	}

	m.Network = with(ctx, m.Network, "require_msgr2", types.BoolValue(s.options["ms_bind_msgr1"] == "false"))
	m.Network = with(ctx, m.Network, "encryption", types.BoolValue(s.options["ms_cluster_mode"] == "secure"))
	m.Network = with(ctx, m.Network, "compression", types.BoolValue(s.options["ms_osd_compress_mode"] == "force"))

	if s.options["osd_crush_chooseleaf_type"] == "0" {
		m.PoolDefaults = with(ctx, m.PoolDefaults, "failure_domain", types.StringValue("osd"))
	}

	for name, option := range map[string]string{"size": "osd_pool_default_size", "min_size": "osd_pool_default_min_size", "pg_num": "osd_pool_default_pg_num"} {
		if n, err := strconv.ParseInt(s.files[option], 10, 64); err == nil {
			m.PoolDefaults = with(ctx, m.PoolDefaults, name, types.Int64Value(n))
		}
	}
}

// describeHosts makes the hosts that the cluster has, with those that the id names.
func (m *model) describeHosts(ctx context.Context, s survey, places []place) {
	all := map[string]attr.Value{}
	where := map[string]string{}

	for _, p := range places {
		if p.facts.Hostname != "" && (p.facts.Identity != nil || len(p.facts.Daemons)+len(p.facts.Slots) > 0) {
			where[p.facts.Hostname] = p.where
			s.host(p.facts.Hostname)
		}
	}

	for name, address := range s.hosts {
		reached := cmp.Or(where[name], address, name)
		if a, err := netip.ParseAddr(reached); err == nil && a.Is6() {
			reached = "[" + reached + "]" // as an id spells it
		}

		all[name] = hostAt(ctx, reached, address, s.places[name])
	}

	m.Hosts = types.MapValueMust(hostType(), all)
}

// hostAt is a host of hosts, reached as an id names it.
func hostAt(ctx context.Context, where, address string, crush map[string]string) types.Object {
	connection := map[string]attr.Value{}
	for name, kind := range connectionvalue.AttrTypes() {
		connection[name] = schemavalue.Null(ctx, kind)
	}

	name, port := ceph.SplitHost(where)
	reached := types.ObjectNull(connectionvalue.AttrTypes())

	switch {
	case where == ceph.LocalHost:
		name = ""
		connection["type"] = types.StringValue(remote.Local)
		reached = types.ObjectValueMust(connectionvalue.AttrTypes(), connection)
	case port != 0 || address != "" && address != name:
		connection["host"] = value.String(name)
		connection["port"] = value.Int64(int64(port))
		reached = types.ObjectValueMust(connectionvalue.AttrTypes(), connection)
	}

	return types.ObjectValueMust(hostType().AttrTypes, map[string]attr.Value{
		"address": value.String(cmp.Or(address, name)), "connection": reached, "roles": stringSet(defaultRoles()), "crush_location": value.StringMap(crush),
	})
}

// slots are the records of OSDs on the hosts; hosts that do not answer are passed over.
func (r *clusterResource) slots(ctx context.Context, m model, id ceph.Identity, diags *diag.Diagnostics) map[string][]ceph.Slot {
	out := map[string][]ceph.Slot{}

	for _, h := range r.specs(ctx, m, diags) {
		facts, err := h.Host.Look(ctx, ceph.Layout{Name: id.Name, FSID: id.FSID, Dir: m.DataDir.ValueString()}, ceph.Ask{})
		if err != nil {
			diags.AddWarning("Host "+h.Name+" of "+m.label()+" could not be looked at", value.Sentence(err)+" Its OSDs are imported with what the cluster tells.")

			continue
		}

		out[h.Name] = facts.Slots
	}

	return out
}

func (m *model) describeStorage(ctx context.Context, rec ceph.Record, slots map[string][]ceph.Slot, diags *diag.Diagnostics) {
	byUUID := map[string]ceph.Slot{}

	for _, all := range slots {
		for _, s := range all {
			byUUID[s.UUID] = s
		}
	}

	var devices []deviceModel

	seen := map[string]int{}

	for _, id := range slices.Sorted(maps.Keys(rec.OSDs)) {
		o := rec.OSDs[id]
		s := byUUID[o.UUID]

		if s.Backend != "" {
			m.Storage = with(ctx, m.Storage, "backend", types.StringValue(s.Backend))
			m.Storage = with(ctx, m.Storage, "allow_file_osds", types.BoolValue(s.Backend == ceph.BackendFile))
		}

		if o.Path == "" {
			continue
		}

		k := key(o.Host, o.Path)
		seen[k]++

		if seen[k] > 1 {
			m.Storage = with(ctx, m.Storage, "osds_per_device", types.Int64Value(int64(seen[k])))

			continue
		}

		devices = append(devices, deviceModel{
			Host: types.StringValue(o.Host), Path: types.StringValue(o.Path), DB: value.String(s.DB), DBSize: types.StringNull(), Class: value.String(s.Class),
			Encrypted: types.BoolValue(s.Encrypted), Count: types.Int64Null(), Weight: types.Float64Null(),
		})
	}

	slices.SortStableFunc(devices, func(a, b deviceModel) int {
		return compare(key(a.Host.ValueString(), a.Path.ValueString()), key(b.Host.ValueString(), b.Path.ValueString()))
	})

	if len(devices) == 0 {
		return
	}

	list, d := types.ListValueFrom(ctx, schemavalue.ObjectType(deviceAttributes()), devices)
	diags.Append(d...)

	m.Storage = with(ctx, m.Storage, "devices", list)
}

// compare orders names with numbers in them as people do: osd2 before osd10.
func compare(a, b string) int {
	for a != "" && b != "" {
		x, restA := head(a)
		y, restB := head(b)

		n, errN := strconv.Atoi(x)
		k, errK := strconv.Atoi(y)

		switch {
		case errN == nil && errK == nil && n != k:
			return n - k
		case x != y && (errN != nil || errK != nil):
			if x < y {
				return -1
			}

			return 1
		}

		a, b = restA, restB
	}

	return len(a) - len(b)
}

// head is the digits that a text begins with, or else its first letter.
func head(s string) (first, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}

	i = max(i, 1)

	return s[:i], s[i:]
}

// with is an object with one attribute changed.
func with(ctx context.Context, o types.Object, name string, v attr.Value) types.Object {
	all := maps.Clone(o.Attributes())
	all[name] = v

	return types.ObjectValueMust(o.AttributeTypes(ctx), all)
}
