// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

// filter is the configuration of a list block.
type filter struct {
	Connection types.Object `tfsdk:"host"`
	DataDirs   types.List   `tfsdk:"data_dirs"`
}

// ListResourceConfigSchema implements [list.ListResource].
func (r *clusterResource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = listschema.Schema{
		MarkdownDescription: "Ceph clusters that this provider made and that one host has a part of: those in the given folders.",
		Attributes: map[string]listschema.Attribute{
			"host": listschema.SingleNestedAttribute{
				Required: true, Attributes: listed(connectionvalue.Attributes(remote.SSH, remote.Local)), Validators: connectionvalue.Validators(),
				MarkdownDescription: "Connection to the host.",
			},
			"data_dirs": listschema.ListAttribute{
				Required: true, ElementType: types.StringType,
				Validators:          []validator.List{listvalidator.SizeAtLeast(1), listvalidator.ValueStringsAre(dataDir())},
				MarkdownDescription: "Folders to look into: the `data_dir` of clusters.",
			},
		},
	}
}

// listed turns attributes of a resource into those of a list block.
func listed(all map[string]schema.Attribute) map[string]listschema.Attribute {
	out := make(map[string]listschema.Attribute, len(all))

	for name, a := range all {
		switch a := a.(type) {
		case schema.StringAttribute:
			out[name] = listschema.StringAttribute{Optional: true, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
		case schema.BoolAttribute:
			out[name] = listschema.BoolAttribute{Optional: true, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
		case schema.Int64Attribute:
			out[name] = listschema.Int64Attribute{Optional: true, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
		case schema.SingleNestedAttribute:
			out[name] = listschema.SingleNestedAttribute{Optional: true, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators, Attributes: listed(a.Attributes)}
		}
	}

	return out
}

// List implements [list.ListResource].
func (r *clusterResource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var (
		diags diag.Diagnostics
		only  filter
	)

	diags.Append(req.Config.Get(ctx, &only)...)

	host, where := r.listHost(ctx, only, &diags)
	if diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)

		return
	}

	stream.Results = func(push func(list.ListResult) bool) {
		n := int64(0)

		for _, dir := range value.GoStrings(only.DataDirs) {
			if req.Limit > 0 && n >= req.Limit {
				return
			}

			facts, err := host.Look(ctx, ceph.Layout{Dir: dir}, ceph.Ask{})

			switch {
			case err != nil:
				diags.AddError("Folder "+dir+" of "+host.Name()+" could not be looked at", value.Sentence(err))
				push(list.ListResult{Diagnostics: diags})

				return
			case facts.Identity == nil:
				continue
			}

			n++

			if !push(r.listResult(ctx, req, *facts.Identity, where, dir)) {
				return
			}
		}
	}
}

func (r *clusterResource) listHost(ctx context.Context, only filter, diags *diag.Diagnostics) (host ceph.Host, where string) {
	if diags.HasError() {
		return nil, ""
	}

	h := hostModel{Connection: only.Connection}
	where, _ = h.reached()

	defaults := remote.Config{}

	if is, _ := h.local(); !is {
		d, err := r.far.SSHDefaults(ctx)
		if err != nil {
			diags.AddError("Host cannot be reached", value.Sentence(err))

			return nil, ""
		}

		defaults = d
	}

	return r.host(ctx, where, h, &defaults, diags), where
}

func (r *clusterResource) listResult(ctx context.Context, req list.ListRequest, id ceph.Identity, where, dir string) list.ListResult {
	out := req.NewListResult(ctx)
	loc := ceph.Location{FSID: id.FSID, Hosts: []string{where}, Dir: dir}
	out.DisplayName = strings.TrimSpace(id.Name + " (" + id.FSID + ")")
	out.Diagnostics.Append(out.Identity.Set(ctx, identity{types.StringValue(loc.String())})...)

	if req.IncludeResource {
		m, err := r.found(ctx, loc, &out.Diagnostics)
		if err != nil {
			out.Diagnostics.AddError("Ceph cluster "+loc.String()+" could not be read", value.Sentence(err))

			return out
		}

		out.Diagnostics.Append(out.Resource.Set(ctx, &m)...)
	}

	return out
}
