// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephclient

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/user"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// filter is the configuration of a list block.
type filter struct {
	ClusterID types.String `tfsdk:"cluster_id"`
}

// ListResourceConfigSchema implements [list.ListResource].
func (r *clientResource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = listschema.Schema{
		MarkdownDescription: "The users of clients of a Ceph cluster. Users that Ceph and its services need themselves are left out.",
		Attributes: map[string]listschema.Attribute{
			"cluster_id": listschema.StringAttribute{Required: true, Validators: []validator.String{cephvalue.ID()}, MarkdownDescription: cephvalue.AboutClusterID},
		},
	}
}

// List implements [list.ListResource].
func (r *clientResource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var (
		diags diag.Diagnostics
		only  filter
	)

	diags.Append(req.Config.Get(ctx, &only)...)

	reach := cephvalue.Reach(ctx, r.far, only.ClusterID, cephvalue.NoConnection(), &diags)
	if reach == nil {
		stream.Results = list.ListResultsStreamDiagnostics(diags)

		return
	}

	all, err := user.List(ctx, reach.Cluster)
	if err != nil {
		diags.AddError("Ceph users could not be listed", value.Sentence(err))
		stream.Results = list.ListResultsStreamDiagnostics(diags)

		return
	}

	stream.Results = func(push func(list.ListResult) bool) {
		for i, u := range all {
			if req.Limit > 0 && int64(i) >= req.Limit {
				return
			}

			m := imported(u, reach.Location)

			out := req.NewListResult(ctx)
			out.DisplayName = u.Entity + " (" + user.Caps(u.Caps) + ")"
			out.Diagnostics.Append(out.Identity.Set(ctx, identity{m.ClusterID, m.Entity})...)

			if req.IncludeResource {
				out.Diagnostics.Append(out.Resource.Set(ctx, &m)...)
			}

			if !push(out) {
				return
			}
		}
	}
}
