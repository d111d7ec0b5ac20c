// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephvalue

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Separator is between the id of a cluster and the name of something in it. No id of a cluster has it.
const Separator = "#"

// clusterKey is the attribute of all rooms that holds the id of the cluster.
const clusterKey = "cluster_id"

// JoinID is the id of something in a cluster, CLUSTER_ID#NAME.
func JoinID(cluster, name types.String) types.String {
	return types.StringValue(cluster.ValueString() + Separator + name.ValueString())
}

// ImportIt tells people how to import something in a cluster.
func ImportIt(cluster, name types.String) string {
	return "import it: terraform import ADDRESS '" + JoinID(cluster, name).ValueString() + "'."
}

// Kind is a kind of things in a cluster, each of which has a name.
type Kind struct {
	Type  string // of the resource, without the name of the provider: ceph_pool
	Thing string // one of them to people: pool
	Key   string // the attribute that holds its name: name
	About string // what this name is, for the identity
}

// Identify sets the identity of a thing, where the client knows any.
func (k Kind) Identify(ctx context.Context, id *tfsdk.ResourceIdentity, cluster, name types.String, diags *diag.Diagnostics) {
	if id == nil {
		return
	}

	diags.Append(id.Set(ctx, types.ObjectValueMust(
		map[string]attr.Type{clusterKey: types.StringType, k.Key: types.StringType},
		map[string]attr.Value{clusterKey: cluster, k.Key: name}))...)
}

// Imported is the thing that a person wants to import, by identity or by CLUSTER_ID#NAME.
func (k Kind) Imported(ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics) (cluster, name types.String) {
	if req.ID == "" && req.Identity != nil {
		diags.Append(req.Identity.GetAttribute(ctx, path.Root(clusterKey), &cluster)...)
		diags.Append(req.Identity.GetAttribute(ctx, path.Root(k.Key), &name)...)

		return cluster, name
	}

	before, after, _ := strings.Cut(req.ID, Separator)
	if after == "" {
		diags.AddError("Import id "+req.ID+" names no "+k.Thing, "Write CLUSTER_ID#"+strings.ToUpper(k.Key)+": the id of the cluster, #, and the name of the "+k.Thing+".")
	}

	return types.StringValue(before), types.StringValue(after)
}

// Protected refuses to delete or replace a thing that is protected.
func (k Kind) Protected(label string, protection types.Bool, diags *diag.Diagnostics) bool {
	if !protection.ValueBool() {
		return false
	}

	diags.AddAttributeError(path.Root("deletion_protection"), label+" is protected",
		"deletion_protection = true: the "+k.Thing+" is neither deleted nor replaced. Apply deletion_protection = false first.")

	return true
}

// Remark adds what a person should know as one warning: Terraform folds those of equal summaries.
func Remark(label string, all []string, diags *diag.Diagnostics) {
	text := ""
	for _, w := range all {
		text += value.Sentence(errors.New(w)) + "\n"
	}

	if text != "" {
		diags.AddWarning(label, text)
	}
}

// Frame is what the resources and list resources of things in a cluster have in common. F is
// the part of the provider that they need.
type Frame[F Far] struct {
	Kind Kind
	Far  F
}

// Metadata implements [resource.Resource].
func (f *Frame[F]) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + f.Kind.Type
	resp.ResourceBehavior.MutableIdentity = true // the way to a cluster may change, and so may a name
}

// Configure implements [resource.ResourceWithConfigure].
func (f *Frame[F]) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	value.Offered("The resource metal3_"+f.Kind.Type, req.ProviderData, &f.Far, &resp.Diagnostics)
}

// IdentitySchema implements [resource.ResourceWithIdentity].
func (f *Frame[F]) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		clusterKey: identityschema.StringAttribute{RequiredForImport: true, Description: "Id of the cluster."},
		f.Kind.Key: identityschema.StringAttribute{RequiredForImport: true, Description: f.Kind.About},
	}}
}
