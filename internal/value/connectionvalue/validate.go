// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package connectionvalue

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// Validators refuse connections, and bastions, whose parts do not go together. An empty
// string counts as absent.
func Validators() []validator.Object { return []validator.Object{together{}} }

type together struct{}

// exclusive are attributes of which one makes the other meaningless.
var exclusive = [][2]string{
	{"private_key", "private_key_file"},
	{"host_key", "known_hosts_file"},
	{"host_key", "insecure_host_key"},
	{"known_hosts_file", "insecure_host_key"},
}

// Description implements validator.Object.
func (together) Description(context.Context) string {
	return "ssh needs a host; private_key or private_key_file; one of host_key, known_hosts_file and insecure_host_key"
}

// MarkdownDescription implements validator.Object.
func (t together) MarkdownDescription(ctx context.Context) string { return t.Description(ctx) }

// ValidateObject implements validator.Object.
func (together) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}

	all := req.ConfigValue.Attributes()

	for _, pair := range exclusive {
		if set(all[pair[0]]) && set(all[pair[1]]) {
			resp.Diagnostics.AddAttributeError(req.Path.AtName(pair[1]), "Contradicting connection",
				pair[0]+" and "+pair[1]+" exclude each other: remove one of them.")
		}
	}

	kind, isConnection := all["type"].(types.String)
	host, ok := all["host"].(types.String)

	switch {
	case !isConnection, kind.IsUnknown(), !ok, host.IsUnknown():
	case (kind.ValueString() == remote.SSH || kind.ValueString() == "") && host.ValueString() == "":
		resp.Diagnostics.AddAttributeError(req.Path.AtName("host"), "Connection without a host", "A connection of type ssh needs a host: a name or an address.")
	case kind.ValueString() == remote.Local && host.ValueString() != "":
		resp.Diagnostics.AddAttributeError(req.Path.AtName("host"), "Contradicting connection",
			"A connection of type local is to the machine that runs Terraform: remove host, or set type = \"ssh\".")
	}
}

// set reports whether an attribute says something: it is known, not empty and not false.
func set(v any) bool {
	switch v := v.(type) {
	case types.String:
		return v.ValueString() != ""
	case types.Bool:
		return v.ValueBool()
	default:
		return false
	}
}
