// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephvalue

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// ListSchema is the configuration of a list of things in a cluster.
func ListSchema(about string) listschema.Schema {
	return listschema.Schema{MarkdownDescription: about, Attributes: map[string]listschema.Attribute{
		clusterKey: listschema.StringAttribute{Required: true, Validators: []validator.String{ID()}, MarkdownDescription: AboutClusterID},
	}}
}

// Listing is how things of one kind are listed. T is a thing as it was seen.
type Listing[T any] struct {
	Things string // all of them to people: Pools
	All    func(context.Context, *api.Cluster) ([]T, error)
	// Told is the name of a thing, and what people see of it.
	Told func(T) (name, display string)
	// State is the state of a thing as after an import. It is called where the client asks for it.
	State func(context.Context, T, ceph.Location, *diag.Diagnostics) any
}

// List answers a list block by the cluster that it names.
func List[F Far, T any](ctx context.Context, f *Frame[F], l Listing[T], req list.ListRequest, stream *list.ListResultsStream) {
	var (
		diags   diag.Diagnostics
		cluster types.String
	)

	diags.Append(req.Config.GetAttribute(ctx, path.Root(clusterKey), &cluster)...)

	reach := Reach(ctx, f.Far, cluster, NoConnection(), &diags)
	if reach == nil {
		stream.Results = list.ListResultsStreamDiagnostics(diags)

		return
	}

	all, err := l.All(ctx, reach.Cluster)
	if err != nil {
		diags.AddError(l.Things+" could not be listed", value.Sentence(err))
		stream.Results = list.ListResultsStreamDiagnostics(diags)

		return
	}

	stream.Results = func(push func(list.ListResult) bool) {
		for i, seen := range all {
			if req.Limit > 0 && int64(i) >= req.Limit || !push(l.result(ctx, f.Kind, req, seen, reach.Location)) {
				return
			}
		}
	}
}

// result is what Terraform gets of a thing.
func (l Listing[T]) result(ctx context.Context, k Kind, req list.ListRequest, seen T, at ceph.Location) list.ListResult {
	out := req.NewListResult(ctx)

	name, display := l.Told(seen)
	out.DisplayName = display
	k.Identify(ctx, out.Identity, types.StringValue(at.String()), types.StringValue(name), &out.Diagnostics)

	if req.IncludeResource {
		m := l.State(ctx, seen, at, &out.Diagnostics)
		out.Diagnostics.Append(out.Resource.Set(ctx, m)...)
	}

	return out
}
