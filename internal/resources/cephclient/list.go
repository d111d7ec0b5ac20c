// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephclient

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/user"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// ListResourceConfigSchema implements [list.ListResource].
func (r *clientResource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = cephvalue.ListSchema("The users of clients of a Ceph cluster. Users that Ceph and its services need themselves are left out.")
}

// List implements [list.ListResource].
func (r *clientResource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	cephvalue.List(ctx, &r.Frame, cephvalue.Listing[api.User]{
		Things: "Ceph users", All: user.List,
		Told:  func(u api.User) (name, display string) { return u.Entity, u.Entity + " (" + user.Caps(u.Caps) + ")" },
		State: func(_ context.Context, u api.User, at ceph.Location, _ *diag.Diagnostics) any { return imported(u, at) },
	}, req, stream)
}
