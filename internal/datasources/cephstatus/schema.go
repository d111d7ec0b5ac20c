// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephstatus

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// model is the data source as Terraform sees it.
type model struct {
	ClusterID   types.String `tfsdk:"cluster_id"`
	Connection  types.Object `tfsdk:"cluster_connection"`
	FSID        types.String `tfsdk:"fsid"`
	Health      types.String `tfsdk:"health"`
	Checks      types.Map    `tfsdk:"checks"`
	Mons        types.Map    `tfsdk:"mons"`
	Quorum      types.List   `tfsdk:"quorum"`
	MgrActive   types.String `tfsdk:"mgr_active"`
	MgrStandbys types.List   `tfsdk:"mgr_standbys"`
	OSDs        types.Object `tfsdk:"osds"`
	PGs         types.Int64  `tfsdk:"pgs"`
	PGStates    types.Map    `tfsdk:"pg_states"`
	Capacity    types.Object `tfsdk:"capacity"`
	Versions    types.Map    `tfsdk:"versions"`
}

var (
	checkTypes = map[string]attr.Type{"severity": types.StringType, "message": types.StringType, "muted": types.BoolType}
	monTypes   = map[string]attr.Type{"address": types.StringType, "in_quorum": types.BoolType}
)

func text(about string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: about}
}

func count(about string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: about}
}

func flag(about string) schema.BoolAttribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: about}
}

func list(about string) schema.ListAttribute {
	return schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: about}
}

// Schema is the cluster that users name, and how it is.
func (d *statusDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "How a Ceph cluster is just now, as `ceph status` tells it, in one round trip.",
		Attributes: map[string]schema.Attribute{
			"cluster_id":         schema.StringAttribute{Required: true, Validators: []validator.String{cephvalue.ID()}, MarkdownDescription: cephvalue.AboutClusterID},
			"cluster_connection": cephvalue.DataSourceConnection(cephvalue.AboutConnection),
			"fsid":               text("The cluster's fsid."),
			"health":             text("`HEALTH_OK`, `HEALTH_WARN` or `HEALTH_ERR`."),
			"checks": schema.MapNestedAttribute{
				Computed: true, MarkdownDescription: "What is not well, by the code of the health check.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"severity": text("`HEALTH_WARN` or `HEALTH_ERR`."), "message": text("Ceph's words."), "muted": flag("Whether somebody muted the check."),
				}},
			},
			"mons": schema.MapNestedAttribute{
				Computed: true, MarkdownDescription: "The monitors, by name.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"address": text("Where it listens, as `mon_host` has it."), "in_quorum": flag("Whether it is in quorum."),
				}},
			},
			"quorum":       list("Names of the monitors in quorum."),
			"mgr_active":   text("Name of the active manager; null: there is none."),
			"mgr_standbys": list("Names of the managers that stand by."),
			"osds": schema.SingleNestedAttribute{
				Computed: true, MarkdownDescription: "How many OSDs there are.",
				Attributes: map[string]schema.Attribute{"total": count("All."), "up": count("Those that run."), "in": count("Those that hold data.")},
			},
			"pgs":       count("Number of placement groups."),
			"pg_states": schema.MapAttribute{Computed: true, ElementType: types.Int64Type, MarkdownDescription: "How many placement groups are in each state, such as `active+clean`."},
			"capacity": schema.SingleNestedAttribute{
				Computed: true, MarkdownDescription: "Bytes of all OSDs together.",
				Attributes: map[string]schema.Attribute{"total": count("All."), "used": count("Used, with all copies."), "available": count("Free.")},
			},
			"versions": schema.MapAttribute{
				Computed: true, ElementType: types.MapType{ElemType: types.Int64Type}, MarkdownDescription: "How many daemons of each kind (`mon`, `mgr`, `osd`, …) run which version.",
			},
		},
	}
}
