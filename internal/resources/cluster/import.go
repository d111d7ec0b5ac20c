// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// ImportState implements [resource.ResourceWithImportState]: by NAMESPACE/NAME. Everything of which
// the schema has a default is in the state from now on; machines come with the refresh.
func (r *clusterResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id := req.ID

	if id == "" && req.Identity != nil {
		var have identity

		resp.Diagnostics.Append(req.Identity.Get(ctx, &have)...)
		id = have.ID.ValueString()
	}

	namespace, name, ok := strings.Cut(id, "/")
	if !ok || isLabel(namespace, maxLabel) != nil || isLabel(name, maxClusterName) != nil {
		resp.Diagnostics.AddError("Import id "+id+" names no cluster", "Write NAMESPACE/NAME, such as metal3/edge.")

		return
	}

	resp.Diagnostics.Append(begin(ctx, namespace, name, func(p path.Path, v any) diag.Diagnostics { return resp.State.SetAttribute(ctx, p, v) })...)

	if resp.Identity != nil {
		resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{types.StringValue(id)})...)
	}
}

// begin writes the state of a cluster of which only the name is known.
func begin(ctx context.Context, namespace, name string, set func(path.Path, any) diag.Diagnostics) diag.Diagnostics {
	var diags diag.Diagnostics

	for attribute, a := range topAttributes() {
		diags.Append(set(path.Root(attribute), at.DefaultOf(ctx, a))...)
	}

	for attribute, text := range map[string]string{"id": namespace + "/" + name, "namespace": namespace, "name": name} {
		diags.Append(set(path.Root(attribute), types.StringValue(text))...)
	}

	return diags
}
