// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// placeAddress is the address of a host in the public network, where its monitor tells it.
func placeAddress(p place, id ceph.Identity) string {
	for _, m := range id.First {
		if m.Host == p.facts.Hostname {
			return addressOf(m.Addr)
		}
	}

	return ""
}

// addressOf is the IP address of a monitor.
func addressOf(addr string) string {
	all, err := api.ParseAddrs(addr)
	if err != nil || len(all) == 0 {
		return ""
	}

	return all[0].Host
}

// others adds the hosts that the cluster has and the id does not name. They are reached at
// the addresses of their monitors, or else by their names.
func (r *clusterResource) others(ctx context.Context, m *model, hosts map[string]attr.Value, places []place, rec ceph.Record) {
	runs := map[string]map[string]bool{}
	note := func(host, role string) {
		if host == "" {
			return
		}

		if runs[host] == nil {
			runs[host] = map[string]bool{}
		}

		runs[host][role] = true
	}

	addresses := map[string]string{}

	for _, d := range rec.Mons {
		note(d.Host, ceph.RoleMon)
		addresses[d.Host] = addressOf(d.Addr)
	}

	for _, d := range rec.Mgrs {
		note(d.Host, ceph.RoleMgr)
	}

	for _, d := range rec.OSDs {
		note(d.Host, ceph.RoleOSD)
	}

	where := map[string]string{}
	for _, p := range places {
		where[p.facts.Hostname] = p.where
	}

	for host, address := range addresses {
		if named, ok := where[host]; ok || host != "" {
			if !ok {
				named = address
			}

			hosts[host] = hostAt(ctx, named, address)
		}
	}

	for host := range runs {
		if _, ok := hosts[host]; !ok {
			hosts[host] = hostAt(ctx, host, "")
		}
	}

	m.Hosts = hostMap(hosts)
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

// describe makes the configuration that the cluster has.
func (m *model) describe(ctx context.Context, rec ceph.Record, slots map[string][]ceph.Slot, diags *diag.Diagnostics) {
	m.Mon = with(ctx, m.Mon, "count", types.Int64Value(int64(max(1, len(rec.Mons)))))
	m.Mgr = with(ctx, m.Mgr, "count", types.Int64Value(int64(max(1, len(rec.Mgrs)))))

	for _, d := range rec.Mons {
		if ports, ok := m.Network.Attributes()["ports"].(types.Object); ok {
			m.Network = with(ctx, m.Network, "ports", portsOf(ctx, ports, d.Addr))
		}

		break
	}

	m.describeStorage(ctx, rec, slots, diags)
}

func portsOf(ctx context.Context, ports types.Object, addr string) types.Object {
	all, err := api.ParseAddrs(addr)
	if err != nil {
		return ports
	}

	for _, a := range all {
		if a.Type == "v2" || a.Type == "v1" {
			ports = with(ctx, ports, "msgr"+a.Type[1:], types.Int64Value(int64(a.Port)))
		}
	}

	return ports
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

	list, d := types.ListValueFrom(ctx, objectType(deviceAttributes()), devices)
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
