// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// filter is the configuration of a list block.
type filter struct {
	ClusterID   types.String `tfsdk:"cluster_id"`
	Application types.String `tfsdk:"application"`
}

// ListResourceConfigSchema implements [list.ListResource].
func (r *poolResource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = listschema.Schema{
		MarkdownDescription: "The pools of a Ceph cluster. Ceph's own pool of the manager is left out.",
		Attributes: map[string]listschema.Attribute{
			"cluster_id":  listschema.StringAttribute{Required: true, Validators: []validator.String{cephvalue.ID()}, MarkdownDescription: cephvalue.AboutClusterID},
			"application": listschema.StringAttribute{Optional: true, MarkdownDescription: "Only pools for this application, such as `rbd`."},
		},
	}
}

// List implements [list.ListResource].
func (r *poolResource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
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

	all, err := pool.List(ctx, reach.Cluster)
	if err != nil {
		diags.AddError("Pools could not be listed", value.Sentence(err))
		stream.Results = list.ListResultsStreamDiagnostics(diags)

		return
	}

	stream.Results = func(push func(list.ListResult) bool) {
		sent := int64(0)

		for _, seen := range all {
			if req.Limit > 0 && sent >= req.Limit {
				return
			}

			if !only.takes(seen) {
				continue
			}

			sent++

			if !push(result(ctx, req, seen, reach.Location)) {
				return
			}
		}
	}
}

// takes reports whether a pool is listed. The manager makes and needs its own pool itself.
func (f filter) takes(seen pool.Seen) bool {
	ours := true
	want := f.Application.ValueString()
	has := want == ""

	for _, app := range seen.Applications {
		ours = ours && app != "mgr" && app != "mgr_devicehealth"
		has = has || app == want
	}

	return ours && has
}

// result is what Terraform gets of a pool.
func result(ctx context.Context, req list.ListRequest, seen pool.Seen, at ceph.Location) list.ListResult {
	out := req.NewListResult(ctx)
	out.DisplayName = fmt.Sprintf("%s (%s, %d objects)", seen.Name, seen.Type, seen.Objects)
	out.Diagnostics.Append(out.Identity.Set(ctx, identity{types.StringValue(at.String()), types.StringValue(seen.Name)})...)

	if req.IncludeResource {
		m := imported(seen, at)
		out.Diagnostics.Append(out.Resource.Set(ctx, &m)...)
	}

	return out
}
