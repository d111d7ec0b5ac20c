// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// ListResourceConfigSchema implements [list.ListResource].
func (r *poolResource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = cephvalue.ListSchema("The pools of a Ceph cluster. Ceph's own pool of the manager is left out.")
	resp.Schema.Attributes["application"] = listschema.StringAttribute{Optional: true, MarkdownDescription: "Only pools for this application, such as `rbd`."}
}

// List implements [list.ListResource].
func (r *poolResource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var application types.String

	if diags := req.Config.GetAttribute(ctx, path.Root("application"), &application); diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)

		return
	}

	cephvalue.List(ctx, &r.Frame, cephvalue.Listing[pool.Seen]{
		Things: "Pools",
		All: func(ctx context.Context, c *api.Cluster) ([]pool.Seen, error) {
			all, err := pool.List(ctx, c)

			return slices.DeleteFunc(all, func(seen pool.Seen) bool { return !listed(seen, application.ValueString()) }), err
		},
		Told: func(seen pool.Seen) (name, display string) {
			return seen.Name, fmt.Sprintf("%s (%s, %d objects)", seen.Name, seen.Type, seen.Objects)
		},
		State: func(_ context.Context, seen pool.Seen, at ceph.Location, _ *diag.Diagnostics) any {
			return imported(seen, at)
		},
	}, req, stream)
}

// listed reports whether a pool is listed, where those of an application are wanted or, without
// one, all. The manager makes and needs its own pool itself.
func listed(seen pool.Seen, application string) bool {
	ours := true
	has := application == ""

	for _, app := range seen.Applications {
		ours = ours && app != "mgr" && app != "mgr_devicehealth"
		has = has || app == application
	}

	return ours && has
}
