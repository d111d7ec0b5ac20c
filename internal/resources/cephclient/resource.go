// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephclient is the resource metal3_ceph_client, and the list resource of the same name.
package cephclient

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

var (
	_ resource.ResourceWithConfigure   = (*clientResource)(nil)
	_ resource.ResourceWithIdentity    = (*clientResource)(nil)
	_ resource.ResourceWithImportState = (*clientResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*clientResource)(nil)
	_ list.ListResourceWithConfigure   = (*clientResource)(nil)
)

// users are the kind of things that the resource is about.
var users = cephvalue.Kind{Type: "ceph_client", Thing: "Ceph user", Key: "entity", About: "Name of the user, such as client.backup."}

type clientResource struct{ cephvalue.Frame[cephvalue.Far] }

func framed() *clientResource { return &clientResource{cephvalue.Frame[cephvalue.Far]{Kind: users}} }

// NewResource returns the resource metal3_ceph_client.
func NewResource() resource.Resource { return framed() }

// NewListResource returns the list resource metal3_ceph_client.
func NewListResource() list.ListResource { return framed() }

// model is the resource in Go.
type model struct {
	ID         types.String `tfsdk:"id"`
	ClusterID  types.String `tfsdk:"cluster_id"`
	FSID       types.String `tfsdk:"fsid"`
	Entity     types.String `tfsdk:"entity"`
	Caps       types.Map    `tfsdk:"caps"`
	StoreKey   types.Bool   `tfsdk:"store_key"`
	KeyVersion types.Int64  `tfsdk:"key_version"`
	Key        types.String `tfsdk:"key"`
	Connection types.Object `tfsdk:"cluster_connection"`
}

// Schema implements [resource.Resource].
func (r *clientResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}

	resp.Schema = schema.Schema{
		MarkdownDescription: "A user of a Ceph cluster with a key and what it may do, as Rook's CephClient makes it. The key stays out of the state: " +
			"the ephemeral resource `metal3_ceph_keyring` gives it to whoever needs it.",
		Attributes: map[string]schema.Attribute{
			"cluster_id": cephvalue.ClusterID(),
			"entity": schema.StringAttribute{
				Required: true, Validators: []validator.String{entity()}, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
				MarkdownDescription: "Name of the user, with `client.` in front. Users that Ceph and its services need themselves (`client.admin`, `client.crash`, `client.rgw…`, " +
					"`client.rbd-mirror…`, `client.bootstrap-…`) are refused. A change replaces the user.",
			},
			"caps": schema.MapAttribute{
				Required: true, ElementType: types.StringType,
				MarkdownDescription: "What the user may do, by the kind of daemon that it asks: `mon`, `osd`, `mgr`, `mds`. For instance `mon = \"profile rbd\"`, `osd = \"profile rbd pool=vms\"`. " +
					"All caps of the user are these; a change is made in place and keeps the key. A user of the name that is there already with other caps is an error: import it. One with these caps is taken over with a warning, and a destroy deletes it.",
				Validators: []validator.Map{
					mapvalidator.SizeAtLeast(1), mapvalidator.NoNullValues(),
					mapvalidator.KeysAre(stringvalidator.OneOf("mon", "osd", "mgr", "mds")),
					mapvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1), oneLine()),
				},
			},
			"store_key": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(false), MarkdownDescription: "Whether `key` holds the key, in the state and to be read by whoever reads that. Default `false`.",
			},
			"key_version": schema.Int64Attribute{
				Optional: true, MarkdownDescription: "Any number. A change from one number to another makes a new key, with the same caps; the old one ends at once, and the plan warns of that. " +
					"The first number that is written keeps the key, also after an import; so does taking the number away. To be able to renew the key later, write `1` from the beginning.",
			},
			"key":                schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The key; null without `store_key`."},
			"cluster_connection": cephvalue.ConnectionAttribute(cephvalue.AboutConnection),
			"id":                 schema.StringAttribute{Computed: true, MarkdownDescription: "`CLUSTER_ID#ENTITY`.", PlanModifiers: keep},
			"fsid":               schema.StringAttribute{Computed: true, MarkdownDescription: "The cluster's fsid.", PlanModifiers: keep},
		},
	}
}

// label names the user to people.
func (m model) label() string { return "Ceph user " + m.Entity.ValueString() }

// follow brings the model in line with a user as it was seen.
func (m *model) follow(u api.User, fsid string) {
	m.FSID, m.Caps, m.Key = types.StringValue(fsid), value.StringMapOrEmpty(u.Caps), types.StringNull()
	m.ID = cephvalue.JoinID(m.ClusterID, m.Entity)

	if m.StoreKey.ValueBool() {
		m.Key = types.StringValue(u.Key)
	}
}

// record writes state and identity.
func (m model) record(ctx context.Context, state *tfsdk.State, id *tfsdk.ResourceIdentity, diags *diag.Diagnostics) {
	diags.Append(state.Set(ctx, &m)...)
	users.Identify(ctx, id, m.ClusterID, m.Entity, diags)
}
