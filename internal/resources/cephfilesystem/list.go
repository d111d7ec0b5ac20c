// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephfilesystem

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/fs"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// ListResourceConfigSchema implements [list.ListResource].
func (r *fsResource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = cephvalue.ListSchema("The file systems of a Ceph cluster.")
}

// List implements [list.ListResource].
func (r *fsResource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	cephvalue.List(ctx, &r.Frame, cephvalue.Listing[fs.Seen]{
		Things: "File systems", All: fs.List,
		Told: func(seen fs.Seen) (name, display string) { return seen.Name, seen.Name },
		State: func(ctx context.Context, seen fs.Seen, at ceph.Location, diags *diag.Diagnostics) any {
			return imported(ctx, seen, at, diags)
		},
	}, req, stream)
}
