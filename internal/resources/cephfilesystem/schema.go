// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephfilesystem

import (
	"context"
	"regexp"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

var timeouts = cephvalue.Timeouts{"create": 20 * time.Minute, "update": 20 * time.Minute, "delete": 20 * time.Minute}

// fsName is what Ceph takes, without dots: names of MDS are made of it.
var fsName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

var crushName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// Schema implements [resource.Resource].
func (r *fsResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	flag := func(about string) schema.BoolAttribute {
		return schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false), MarkdownDescription: about}
	}
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}

	resp.Schema = schema.Schema{
		MarkdownDescription: "A file system of a Ceph cluster (CephFS), as Rook's CephFilesystem makes it: its pools, the file system, and the metadata servers (MDS) on the cluster's hosts. " +
			"The cluster must be one of `metal3_ceph_cluster`: its hosts are looked at before anything is made. " +
			"MDS that are gone are missed at the next plan, with a warning, and the apply starts them. " +
			"A file system whose pools for data hold objects is never deleted unless `allow_delete_with_data` says so.",
		Attributes: map[string]schema.Attribute{
			"cluster_id": cephvalue.ClusterID(),
			"name": schema.StringAttribute{
				Required: true, MarkdownDescription: "Name of the file system. A change replaces it.", PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
				Validators: []validator.String{stringvalidator.RegexMatches(fsName, "must begin with a letter and have only letters, digits, _ and -")},
			},
			"metadata_pool": schema.SingleNestedAttribute{
				Optional: true, MarkdownDescription: "The pool for metadata. It is replicated.", Attributes: poolAttributes("NAME-metadata"),
			},
			"data_pools": schema.ListNestedAttribute{
				Optional: true, MarkdownDescription: "The pools for data, replicated; default: one, with the cluster's defaults. The first one stays for ever; others can be added and taken away in place.",
				Validators: []validator.List{listvalidator.SizeAtLeast(1)}, NestedObject: schema.NestedAttributeObject{Attributes: poolAttributes("NAME-data0, NAME-data1, …")},
			},
			"mds":                    mdsAttribute(),
			"deletion_protection":    flag("Whether deleting and replacing the file system is refused. Default `false`."),
			"allow_delete_with_data": flag("Whether the file system, or a pool of it, may be deleted while files are in it. Default `false`. It must be in the state: apply it before the destroy."),
			"cluster_connection":     cephvalue.ConnectionAttribute(cephvalue.AboutConnection),
			"timeouts":               timeouts.Attribute(),
			"id":                     schema.StringAttribute{Computed: true, MarkdownDescription: "`CLUSTER_ID#NAME`.", PlanModifiers: keep},
			"fsid":                   schema.StringAttribute{Computed: true, MarkdownDescription: "The cluster's fsid.", PlanModifiers: keep},
			"filesystem_id": schema.Int64Attribute{
				Computed: true, MarkdownDescription: "The file system's number.", PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown()},
			},
			"mds_daemons": schema.MapNestedAttribute{
				Computed: true, MarkdownDescription: "The MDS at the last refresh, by name.", PlanModifiers: []planmodifier.Map{mapplanmodifier.UseStateForUnknown()},
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"host":  schema.StringAttribute{Computed: true, MarkdownDescription: "Host that it runs on."},
					"state": schema.StringAttribute{Computed: true, MarkdownDescription: "`active`, `standby-replay`, `standby` or another state of Ceph's."},
				}},
			},
		},
	}
}

func number(about string, least, most int64) schema.Int64Attribute {
	return schema.Int64Attribute{Optional: true, MarkdownDescription: about, Validators: []validator.Int64{int64validator.Between(least, most)}}
}

func poolAttributes(name string) map[string]schema.Attribute {
	const (
		mostCopies = 10
		mostPGs    = 1 << 16
	)

	text := func(about string) schema.StringAttribute {
		return schema.StringAttribute{
			Optional: true, MarkdownDescription: about, Validators: []validator.String{stringvalidator.RegexMatches(crushName, "must be a name of letters, digits, and any of _ . -")},
		}
	}

	return map[string]schema.Attribute{
		"name":           text("Name of the pool. Default: `" + name + "`. It cannot change."),
		"size":           number("How many copies there are of each object. Default: what the cluster's configuration says.", 2, mostCopies),
		"min_size":       number("With how few copies objects can still be written. Default: Ceph's own for the size.", 1, mostCopies),
		"pg_num":         number("Number of placement groups that the pool begins with. Default: Ceph's own.", 1, mostPGs),
		"failure_domain": text("CRUSH type of which each copy lies in another one, such as `host`. Default: as the cluster's first rule has it."),
		"device_class":   text("Only devices of this class, such as `ssd`. Default: all."),
	}
}

func mdsAttribute() schema.SingleNestedAttribute {
	const mostMDS = 64

	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "The metadata servers.",
		Attributes: map[string]schema.Attribute{
			"active":         number("How many serve the file system at once. Default: `1`. All others stand by.", 1, mostMDS),
			"standby_replay": schema.BoolAttribute{Optional: true, MarkdownDescription: "Whether a standby follows each active one, so that it takes over faster. Default: `false`."},
			"hosts": schema.MapNestedAttribute{
				Optional: true, Validators: []validator.Map{mapvalidator.SizeAtLeast(1)},
				MarkdownDescription: "Hosts of the cluster that get one MDS each, by a name of yours. Default: the hosts that `cluster_id` names. An MDS on a host that is taken out is stopped and deleted; " +
					"where that host does not answer and the cluster does not hear its MDS any more, the MDS loses its key, with a warning.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"address": schema.StringAttribute{
						Optional: true, Validators: []validator.String{value.OptionalHost()}, MarkdownDescription: "How SSH reaches the host, with the provider's `ssh` block. Default: the name of the host here.",
					},
					"connection": schema.SingleNestedAttribute{
						Optional: true, MarkdownDescription: "Connection to the host, instead of `address`.", Validators: connectionvalue.Validators(),
						Attributes: connectionvalue.Attributes(remote.SSH, remote.Local),
					},
				}},
			},
		},
	}
}

// attrTypes are the types of attributes of the schema.
func attrTypes(all map[string]schema.Attribute) map[string]attr.Type {
	out := make(map[string]attr.Type, len(all))
	for name, a := range all {
		out[name] = a.GetType()
	}

	return out
}

func poolTypes() map[string]attr.Type { return attrTypes(poolAttributes("")) }

var daemonTypes = map[string]attr.Type{"host": types.StringType, "state": types.StringType}
