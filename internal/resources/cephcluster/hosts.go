// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// has reports whether a host has a role. One whose roles are not known yet has none.
func (h hostModel) has(role string) bool {
	if h.Roles.IsNull() {
		return slices.Contains(defaultRoles(), role) // of a configuration, before its defaults
	}

	return slices.Contains(value.GoStrings(h.Roles), role)
}

// local reports whether the host is the machine that runs Terraform; ok is false while that is
// not known.
func (h hostModel) local() (is, ok bool) {
	if h.Connection.IsUnknown() {
		return false, false
	}

	kind, _ := h.Connection.Attributes()["type"].(types.String)

	return kind.ValueString() == remote.Local, !kind.IsUnknown()
}

// host is an attribute of the connection that is text.
func (h hostModel) connected(name string) types.String {
	if h.Connection.IsUnknown() {
		return types.StringUnknown()
	}

	s, ok := h.Connection.Attributes()[name].(types.String)
	if !ok {
		return types.StringNull()
	}

	return s
}

// address is where the host's daemons listen.
func (h hostModel) address() types.String {
	if h.Address.IsUnknown() || h.Address.ValueString() != "" {
		return h.Address
	}

	return h.connected("host")
}

// reached is how SSH, or an id, names the host; ok is false while that is not known.
func (h hostModel) reached() (as string, ok bool) {
	isLocal, sure := h.local()

	switch {
	case !sure:
		return "", false
	case isLocal:
		return ceph.LocalHost, true
	}

	host := h.connected("host")
	if host.ValueString() == "" && !host.IsUnknown() {
		host = h.Address
	}

	port, _ := h.Connection.Attributes()["port"].(types.Int64)
	if host.IsUnknown() || port.IsUnknown() || host.ValueString() == "" {
		return "", false
	}

	if n := port.ValueInt64(); n != 0 && n != remote.DefaultPort {
		return net.JoinHostPort(host.ValueString(), strconv.FormatInt(n, 10)), true
	}

	return host.ValueString(), true
}

// connection is the connection of a host in full: without one, and without a host in it, it
// is SSH to the address.
func (h hostModel) connection(ctx context.Context) types.Object {
	all := map[string]attr.Value{}

	for name, kind := range connectionvalue.AttrTypes() {
		all[name] = schemavalue.Null(ctx, kind)
		if v, there := h.Connection.Attributes()[name]; there {
			all[name] = v
		}
	}

	isLocal, sure := h.local()

	if host, _ := all["host"].(types.String); sure && !isLocal && !host.IsUnknown() && host.ValueString() == "" {
		all["host"] = h.Address
	}

	return types.ObjectValueMust(connectionvalue.AttrTypes(), all)
}

// specs makes the hosts of a model, with what is done on them.
func (r *clusterResource) specs(ctx context.Context, m model, diags *diag.Diagnostics) []ceph.HostSpec {
	all, names := m.hosts(ctx, diags)

	var (
		out      []ceph.HostSpec
		defaults *remote.Config
	)

	for _, name := range names {
		h, ok := all[name]
		if !ok {
			continue
		}

		// Only who goes over SSH needs what the provider says of it.
		if isLocal, _ := h.local(); !isLocal && defaults == nil {
			d, err := r.far.SSHDefaults(ctx)
			if err != nil {
				diags.AddError("Hosts cannot be reached yet", value.Sentence(err))

				return nil
			}

			defaults = &d
		}

		host := r.host(ctx, name, h, cmp.Or(defaults, &remote.Config{}), diags)
		if host == nil {
			continue
		}

		out = append(out, ceph.HostSpec{
			Name: name, Address: h.address().ValueString(), Roles: value.GoStrings(h.Roles), Place: value.GoMap(h.CrushLocation), Host: host,
		})
	}

	return out
}

func (r *clusterResource) host(ctx context.Context, name string, h hostModel, defaults *remote.Config, diags *diag.Diagnostics) ceph.Host {
	at := pathHosts.AtMapKey(name).AtName("connection")

	c, d := connectionvalue.Decode(ctx, h.connection(ctx))
	diags.Append(d...)

	cfg, d := connectionvalue.Config(ctx, c, *defaults)
	for _, one := range d {
		diags.Append(diag.WithPath(at, one))
	}

	if d.HasError() {
		return nil
	}

	host, err := r.far.CephHost(ctx, cfg)
	if err != nil {
		diags.AddAttributeError(at, "Connection to host "+name+" cannot work", value.Sentence(err))

		return nil
	}

	return host
}

// id is the id of the cluster, as far as it is known: of the fsid and of the hosts that may
// have the first monitors. Those follow from the configuration alone, so that a monitor that
// fails over changes no id.
func (m model) id(ctx context.Context) types.String {
	var ignored diag.Diagnostics

	all, names := m.hosts(ctx, &ignored)
	if !value.Known(m.FSID) || !value.Known(m.Hosts) || !value.Known(m.Mon) || !value.Known(m.DataDir) {
		return types.StringUnknown()
	}

	mon, _ := value.Object[monModel](ctx, m.Mon, &ignored)
	if value.HasUnknown(mon.Hosts) || mon.Count.IsUnknown() {
		return types.StringUnknown()
	}

	candidates := withRole(all, names)(ceph.RoleMon)
	if named := value.GoStrings(mon.Hosts); len(named) > 0 {
		candidates = named
	} else if len(all) < len(names) || slices.ContainsFunc(names, func(n string) bool { return value.HasUnknown(all[n].Roles) }) {
		return types.StringUnknown()
	}

	if m.External.IsNull() {
		candidates = candidates[:min(len(candidates), int(mon.Count.ValueInt64()))]
	} else {
		candidates = names
	}

	var hosts []string

	for _, name := range candidates {
		as, ok := all[name].reached()
		if !ok {
			return types.StringUnknown()
		}

		hosts = append(hosts, as)
	}

	return types.StringValue(ceph.ClusterID(m.FSID.ValueString(), hosts, m.DataDir.ValueString()))
}

// isAddress reports whether a text is an IP address.
func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)

	return err == nil
}
