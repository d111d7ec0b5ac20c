// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephkeyring is the ephemeral resource metal3_ceph_keyring: the key of a user of a
// Ceph cluster, which never gets into a state.
package cephkeyring

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/user"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*keyringResource)(nil)

// limit bounds the question.
const limit = 3 * time.Minute

type keyringResource struct{ far cephvalue.Far }

// model is the ephemeral resource as Terraform sees it.
type model struct {
	ClientID   types.String `tfsdk:"client_id"`
	ClusterID  types.String `tfsdk:"cluster_id"`
	Connection types.Object `tfsdk:"cluster_connection"`
	Entity     types.String `tfsdk:"entity"`
	Key        types.String `tfsdk:"key"`
	Keyring    types.String `tfsdk:"keyring"`
}

// NewEphemeralResource returns the ephemeral resource.
func NewEphemeralResource() ephemeral.EphemeralResource { return &keyringResource{} }

// Metadata names the ephemeral resource.
func (e *keyringResource) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ceph_keyring"
}

// Schema is the user and its key.
func (e *keyringResource) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The key of a user of a Ceph cluster, to be handed to whoever needs it while Terraform runs, and never stored.",
		Attributes: map[string]schema.Attribute{
			"client_id": schema.StringAttribute{
				Optional: true, Validators: []validator.String{isClient(), stringvalidator.ExactlyOneOf(path.MatchRoot("cluster_id")), stringvalidator.ConflictsWith(path.MatchRoot("entity"))},
				MarkdownDescription: "Id of the user: `id` of a `metal3_ceph_client` (`CLUSTER_ID#ENTITY`), instead of `cluster_id` and `entity`. " +
					"Where the same run makes the user, only this waits for it: the name of the user is known before there is one, its id is not.",
			},
			"cluster_id": schema.StringAttribute{
				Optional: true, Computed: true, Validators: []validator.String{cephvalue.ID()}, MarkdownDescription: cephvalue.AboutClusterID + " One of `client_id` and `cluster_id` is needed.",
			},
			"cluster_connection": cephvalue.EphemeralConnection(cephvalue.AboutConnection),
			"entity": schema.StringAttribute{
				Optional: true, Computed: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}, MarkdownDescription: "Name of the user. Default: `client.admin`.",
			},
			"key":     schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The key."},
			"keyring": schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The text of a keyring file that holds the key, as Ceph's clients read it."},
		},
	}
}

// Configure takes over what the provider offers.
func (e *keyringResource) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	value.Offered("The ephemeral resource metal3_ceph_keyring", req.ProviderData, &e.far, &resp.Diagnostics)
}

// Open asks the cluster for the key.
func (e *keyringResource) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	defer value.Guard(ctx, "opening", "Ceph keyring", &resp.Diagnostics)

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	m.who()

	reach, err := cephvalue.Open(ctx, e.far, m.ClusterID, m.Connection, &resp.Diagnostics)

	switch {
	case resp.Diagnostics.HasError():
		return
	case errors.Is(err, cephvalue.ErrPending):
		resp.Diagnostics.AddError("No key of "+m.Entity.ValueString()+" yet", value.Sentence(err)+
			" "+value.PutOff("client_id or cluster_id"))

		return
	case err != nil:
		resp.Diagnostics.Append(failure(m, err))

		return
	}

	u, err := user.Look(ctx, reach.Cluster, m.Entity.ValueString())
	if err != nil {
		resp.Diagnostics.Append(failure(m, err))

		return
	}

	m.Key = types.StringValue(u.Key)
	m.Keyring = types.StringValue(string(ceph.Keyring(ceph.Entry{Entity: u.Entity, Key: ceph.Secret(u.Key)})))

	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
}

// who fills in which user of which cluster is meant.
func (m *model) who() {
	if cluster, name, ok := strings.Cut(m.ClientID.ValueString(), cephvalue.Separator); ok {
		m.ClusterID, m.Entity = types.StringValue(cluster), types.StringValue(name)
	}

	m.Entity = types.StringValue(cmp.Or(m.Entity.ValueString(), ceph.EntityAdmin))
}

func failure(m model, err error) diag.Diagnostic {
	if errors.Is(err, user.ErrNoUser) && m.ClientID.IsNull() {
		return diag.NewErrorDiagnostic("No key of "+m.Entity.ValueString(), value.Sentence(err)+
			" If a metal3_ceph_client of the same configuration makes it, write client_id = metal3_ceph_client.NAME.id instead of cluster_id and entity: then the key is asked for once the user is there.")
	}

	return diag.NewErrorDiagnostic("No key of "+m.Entity.ValueString(), value.Sentence(err))
}
