// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

// validateHosts looks at each host by itself, and for two that are one.
func (m model) validateHosts(ctx context.Context, diags *diag.Diagnostics) {
	all, names := m.hosts(ctx, diags)

	var local []string

	for _, name := range names {
		h, ok := all[name]
		if !ok {
			continue
		}

		m.validateConnection(ctx, name, h, diags)

		if is, sure := h.local(); sure && is {
			local = append(local, name)
		}

		if strings.Contains(name, ".") {
			diags.AddAttributeWarning(pathHosts.AtMapKey(name), "Host name "+name+" has dots", "The name must be what uname -n says on the host, which is normally short; an apply compares them before it changes anything.")
		}
	}

	if len(local) > 1 {
		diags.AddAttributeError(pathHosts, "Two hosts are this machine", strings.Join(local, " and ")+" both have a connection of type local.")
	}
}

// validateConnection holds the rules of connections, of which the address is a part here.
func (m model) validateConnection(ctx context.Context, name string, h hostModel, diags *diag.Diagnostics) {
	if h.Connection.IsUnknown() {
		return
	}

	at := pathHosts.AtMapKey(name).AtName("connection")

	isLocal, sure := h.local()
	if sure && !isLocal && h.address().IsNull() && h.connected("host").ValueString() == "" {
		diags.AddAttributeError(pathHosts.AtMapKey(name).AtName("address"), "Host "+name+" has no address", "Give its address, or connection.host, or connection = { type = \""+remote.Local+"\" } for this machine.")

		return
	}

	for _, v := range connectionvalue.Validators() {
		var resp validator.ObjectResponse

		v.ValidateObject(ctx, validator.ObjectRequest{Path: at, ConfigValue: h.connection(ctx)}, &resp)
		diags.Append(resp.Diagnostics...)
	}
}

// validateRanges wants the addresses of hosts in the public network.
func (m model) validateRanges(ctx context.Context, s networkModel, diags *diag.Diagnostics) {
	if !value.Known(s.Public) || len(s.Public.Elements()) == 0 {
		return
	}

	var ranges []netip.Prefix

	for _, v := range s.Public.Elements() {
		text, ok := v.(interface{ ValueString() string })
		if !ok || !value.Known(v) {
			return
		}

		p, err := netip.ParsePrefix(text.ValueString())
		if err != nil {
			return // its own validator has the words
		}

		ranges = append(ranges, p)
	}

	all, names := m.hosts(ctx, diags)

	for _, name := range names {
		a, err := netip.ParseAddr(all[name].address().ValueString())
		if err != nil {
			continue
		}

		inside := false
		for _, p := range ranges {
			inside = inside || p.Contains(a)
		}

		if !inside {
			diags.AddAttributeError(pathHosts.AtMapKey(name).AtName("address"), "Host "+name+" is not in the public network",
				fmt.Sprintf("Its address %s is in none of network.public, and its daemons would find no address to listen on.", a))
		}
	}
}
