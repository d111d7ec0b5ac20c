// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool

import (
	"context"
	"maps"
	"regexp"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

var timeouts = cephvalue.Timeouts{"create": 10 * time.Minute, "update": 10 * time.Minute, "delete": 10 * time.Minute}

// Schema implements [resource.Resource].
func (r *poolResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	all := kindAttributes()
	maps.Copy(all, placeAttributes())
	maps.Copy(all, settingAttributes())
	maps.Copy(all, careAttributes())
	maps.Copy(all, computedAttributes())

	resp.Schema = schema.Schema{
		MarkdownDescription: "A pool of a Ceph cluster, as Rook's CephBlockPool makes it: replicated or erasure coded, with a CRUSH rule of its own where it is to lie in a certain way. " +
			"A pool that holds objects is never deleted unless `allow_delete_with_data` says so.",
		Attributes: all,
	}
}

func text(about string, checks ...validator.String) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: about, Validators: checks}
}

func flag(about string) schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false), MarkdownDescription: about}
}

// kept is a number that Ceph chooses where the configuration does not.
func kept(about string, checks ...validator.Int64) schema.Int64Attribute {
	return schema.Int64Attribute{
		Optional: true, Computed: true, MarkdownDescription: about, Validators: checks,
		PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown()},
	}
}

// namePattern is what CRUSH takes as names, and what the names of rules are made of.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func crushName() validator.String {
	return stringvalidator.RegexMatches(namePattern, "must be a name of letters, digits, and any of _ . -")
}

// kindAttributes say which pool it is.
func kindAttributes() map[string]schema.Attribute {
	const (
		most   = 10
		mostPG = 1 << 16
	)

	return map[string]schema.Attribute{
		"cluster_id": cephvalue.ClusterID(),
		"name": schema.StringAttribute{
			Required: true, MarkdownDescription: "Name of the pool. A change renames it in place.", Validators: []validator.String{poolName()},
		},
		"type": schema.StringAttribute{
			Optional: true, Computed: true, Default: stringdefault.StaticString(pool.Replicated),
			MarkdownDescription: "`replicated` (default) or `erasure`. A change replaces the pool.",
			Validators:          []validator.String{stringvalidator.OneOf(pool.Replicated, pool.Erasure)},
			PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
		},
		"size": kept("How many copies there are of each object. Default: what the cluster's configuration says (`osd_pool_default_size`). Of an erasure coded pool: k + m, and not to be set. "+
			"`1` needs `allow_size_one`.", int64validator.Between(1, most)),
		"min_size": kept("With how few copies objects can still be written. Default: Ceph's own for the size.", int64validator.Between(1, most)),
		"pg_num": schema.Int64Attribute{
			Optional: true, Validators: []validator.Int64{int64validator.Between(1, mostPG)},
			MarkdownDescription: "Number of placement groups. With `pg_autoscale_mode = \"on\"` it is where the pool begins; the autoscaler goes on from there, and `pgs` says where it is. " +
				"A change is made in place: Ceph splits or merges step by step.",
		},
		"pg_autoscale_mode": schema.StringAttribute{
			Optional: true, Computed: true, MarkdownDescription: "`on`, `off` or `warn`. Default: what the cluster's configuration says.",
			Validators:    []validator.String{stringvalidator.OneOf("on", "off", "warn")},
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"erasure": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "The code of an erasure coded pool. A change replaces the pool.",
			PlanModifiers: []planmodifier.Object{replacesCode()},
			Attributes: map[string]schema.Attribute{
				"k":         schema.Int64Attribute{Required: true, Validators: []validator.Int64{int64validator.Between(1, 32)}, MarkdownDescription: "Number of data chunks."},
				"m":         schema.Int64Attribute{Required: true, Validators: []validator.Int64{int64validator.Between(1, 32)}, MarkdownDescription: "Number of coding chunks: so many may be lost."},
				"plugin":    text("`jerasure`, `isa`, `lrc`, `shec` or `clay`. Default: Ceph's own.", stringvalidator.OneOf("jerasure", "isa", "lrc", "shec", "clay")),
				"technique": text("Technique of the plugin, such as `reed_sol_van`. Default: Ceph's own.", crushName()),
			},
		},
	}
}

// placeAttributes say where the copies lie.
func placeAttributes() map[string]schema.Attribute {
	const rule = " Giving any of `failure_domain`, `device_class` and `crush_root` makes a CRUSH rule for this pool, called as the pool, or `POOL_DOMAIN_CLASS` after a change; " +
		"it goes with the pool unless another pool uses it. Changed in place for a replicated pool (objects move); of an erasure coded pool a change replaces it."

	place := func(about, otherwise string) schema.StringAttribute {
		a := text(about, crushName())
		a.PlanModifiers = []planmodifier.String{replacesErasure(otherwise)}

		return a
	}

	return map[string]schema.Attribute{
		"failure_domain": place("What each copy lies in another one of: a CRUSH type such as `host`, `rack` or `osd`. Default: as the cluster's first rule has it."+rule, pool.DefaultDomain),
		"device_class":   place("Only devices of this class, such as `ssd`. Default: all.", ""),
		"crush_root":     place("CRUSH bucket below which the pool lies. Default: `default`.", pool.DefaultRoot),
	}
}

// settingAttributes are what can be set of any pool.
func settingAttributes() map[string]schema.Attribute {
	amount := func(about string) schema.Int64Attribute {
		return schema.Int64Attribute{Optional: true, MarkdownDescription: about, Validators: []validator.Int64{int64validator.AtLeast(1)}}
	}

	return map[string]schema.Attribute{
		"application": schema.StringAttribute{
			Optional: true, Computed: true, MarkdownDescription: "What uses the pool: `rbd`, `rgw`, `cephfs` or a name of your own. Ceph warns of a pool that has none. Left alone where it is not given.",
			Validators:    []validator.String{crushName()},
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"quota": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "The most that the pool takes. Without it there is no limit.",
			Attributes: map[string]schema.Attribute{
				"max_bytes": amount("The most bytes."), "max_objects": amount("The most objects."),
			},
		},
		"compression_mode": text("`none`, `passive`, `aggressive` or `force`. Without it the OSDs' own configuration counts.",
			stringvalidator.OneOf("none", "passive", "aggressive", "force")),
		"parameters": schema.MapAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Other parameters of `ceph osd pool set`, such as `target_size_ratio`. Those that are set here are ours: they are put back when somebody changes them, and unset when they leave the configuration. All others are left alone.",
			Validators:          []validator.Map{mapvalidator.KeysAre(parameterName()), mapvalidator.NoNullValues()},
		},
	}
}

// careAttributes say how carefully the pool is treated.
func careAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"allow_size_one":      flag("Whether `size` may be 1: one lost disk then loses data. Default `false`. (The option `mon_allow_pool_size_one` of the monitors is set for the moment where it is needed.)"),
		"deletion_protection": flag("Whether deleting and replacing the pool is refused. Default `false`."),
		"allow_delete_with_data": flag("Whether the pool may be deleted while objects are in it. Default `false`: that is an error that says how much there is. " +
			"It must be in the state: apply it before the destroy."),
		"cluster_connection": cephvalue.ConnectionAttribute(cephvalue.AboutConnection),
		"timeouts":           timeouts.Attribute(),
	}
}

func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed: true, MarkdownDescription: "`CLUSTER_ID#NAME`.", PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"fsid": schema.StringAttribute{
			Computed: true, MarkdownDescription: "The cluster's fsid.", PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"pool_id": computedNumber("The pool's number, which no other pool of the cluster ever gets."),
		"crush_rule": schema.StringAttribute{
			Computed: true, MarkdownDescription: "Name of the CRUSH rule of the pool.", PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"pgs":        computedNumber("Number of placement groups at the last refresh."),
		"used_bytes": computedNumber("Bytes that the pool takes on all its disks, at the last refresh."),
		"objects":    computedNumber("Objects in the pool at the last refresh."),
	}
}

// computedNumber is a number that changes by itself. A refresh follows it, and no plan asks for it.
func computedNumber(about string) schema.Int64Attribute {
	return schema.Int64Attribute{
		Computed: true, MarkdownDescription: about, PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown()},
	}
}
