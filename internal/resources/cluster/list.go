// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// filter is the configuration of a list block.
type filter struct {
	Namespace types.String `tfsdk:"namespace"`
}

// NewListResource returns the list resource metal3_cluster.
func NewListResource() list.ListResource { return &clusterResource{} }

// ListResourceConfigSchema implements [list.ListResource].
func (r *clusterResource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = listschema.Schema{
		MarkdownDescription: "Clusters that have a machine on a host of Ironic.",
		Attributes: map[string]listschema.Attribute{
			"namespace": listschema.StringAttribute{Optional: true, MarkdownDescription: "Only clusters of this namespace."},
		},
	}
}

// List implements [list.ListResource].
func (r *clusterResource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var (
		diags diag.Diagnostics
		only  filter
		all   []host.Seen
	)

	diags.Append(req.Config.Get(ctx, &only)...)

	if !diags.HasError() {
		far, err := r.far.Hosts(ctx)
		if err == nil {
			all, err = far.All(ctx)
		}

		if err != nil {
			diags.AddError("Clusters could not be listed", value.Sentence(err))
		}
	}

	if diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)

		return
	}

	found := map[string]int{} // machines by the id of the cluster

	for _, s := range all {
		if t, ok := s.Tenancy(); ok && t.Kind == host.KindMachine && (only.Namespace.IsNull() || only.Namespace.ValueString() == t.Namespace) {
			found[t.Namespace+"/"+t.Cluster]++
		}
	}

	stream.Results = func(push func(list.ListResult) bool) {
		for i, id := range sorted(found) {
			if req.Limit > 0 && int64(i) >= req.Limit || !push(r.listed(ctx, req, id, found[id])) {
				return
			}
		}
	}
}

// listed is one cluster as an import would begin it.
func (r *clusterResource) listed(ctx context.Context, req list.ListRequest, id string, machines int) list.ListResult {
	out := req.NewListResult(ctx)
	out.DisplayName = id + " (" + count(machines, "machine") + ")"
	out.Diagnostics.Append(out.Identity.Set(ctx, identity{types.StringValue(id)})...)

	if req.IncludeResource {
		namespace, name, _ := strings.Cut(id, "/")
		out.Diagnostics.Append(begin(ctx, namespace, name, func(p path.Path, v any) diag.Diagnostics { return out.Resource.SetAttribute(ctx, p, v) })...)
	}

	return out
}
