// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

// nodeAttribute is the connection to a host.
func nodeAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true, Attributes: connectionvalue.Attributes(remote.SSH, connectionvalue.None), Validators: connectionvalue.Validators(),
		MarkdownDescription: "Connection to the host's operating system, where devices are looked for, drained and removed. Without it nothing of that is done: " +
			"the fabric alone is asked. A change touches no device.",
	}
}

// connected reports whether a host is to be reached at all.
func connected(ctx context.Context, node types.Object, diags *diag.Diagnostics) bool {
	if !value.Known(node) {
		return false
	}

	m, d := connectionvalue.Decode(ctx, node)
	diags.Append(d...)

	return !d.HasError() && m.Type.ValueString() != connectionvalue.None
}

// connection says how to reach a host.
func connection(ctx context.Context, node types.Object, defaults remote.Config, at path.Path, diags *diag.Diagnostics) (remote.Config, bool) {
	m, d := connectionvalue.Decode(ctx, node)
	diags.Append(d...)

	if d.HasError() {
		return remote.Config{}, false
	}

	cfg, d := connectionvalue.Config(ctx, m, defaults)
	for _, one := range d {
		diags.Append(diag.WithPath(at, one))
	}

	return cfg, !d.HasError()
}
