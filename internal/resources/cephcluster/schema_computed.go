// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func said(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

func secret(description string) schema.StringAttribute {
	return schema.StringAttribute{
		Computed: true, Sensitive: true, MarkdownDescription: description,
		PlanModifiers: []planmodifier.String{stringplanmodifier.UseNonNullStateForUnknown()},
	}
}

func shown(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
}

func counted(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
}

func shownMap(description string, of map[string]schema.Attribute) schema.MapNestedAttribute {
	return schema.MapNestedAttribute{Computed: true, MarkdownDescription: description, NestedObject: schema.NestedAttributeObject{Attributes: of}}
}

// computedAttributes say what there is. What moves by itself has no plan modifier: a refresh
// follows it, and plan.go opens it in those plans that may change it.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":            said("Which cluster, and where it is found: `FSID@HOST[:PORT][,HOST…]/DATA_DIR`, with the SSH addresses of the monitors' hosts, or `local`. It follows the configuration; the fsid in it never changes."),
		"admin_keyring": secret("Keyring of `client.admin`. It is in the state, as the cluster is run with it."),
		"mon_secret":    secret("Key that the monitors share; an interrupted create needs it to go on."),
		"mon_endpoints": said("Addresses of the monitors: the value of `mon_host` for clients."),
		"mons":          shownMap("Monitors by name.", monComputed()),
		"mgrs": shownMap("Managers by name.", map[string]schema.Attribute{
			"host": said("Host."), "active": shown("Whether it is the one that works."),
		}),
		"mgr_active":    said("Name of the manager that works."),
		"osds":          shownMap("OSDs by id.", osdComputed()),
		"health":        said("`HEALTH_OK`, `HEALTH_WARN` or `HEALTH_ERR`, as the cluster said last. It never causes a change."),
		"health_checks": shownMap("What the health is made of, by code.", checkComputed()),
		"versions": schema.MapAttribute{
			Computed: true, ElementType: types.MapType{ElemType: types.Int64Type}, MarkdownDescription: "Versions that run, by type of daemon, and how many daemons have them.",
		},
		"capacity": schema.SingleNestedAttribute{Computed: true, MarkdownDescription: "In bytes.", Attributes: map[string]schema.Attribute{
			"total": counted("All."), "used": counted("Used."), "available": counted("Free."),
		}},
		"dashboard_url":      said("Where the dashboard is."),
		"dashboard_password": schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "Password of the dashboard's user `admin`, where the provider made it."},
		"conf":               said("A small `ceph.conf` for clients."),
		"phase":              said("`Progressing`, `Ready`, `Failure`, `Deleting`, `DeletionIsBlocked`, of an external cluster `Connecting` and `Connected`, as Rook has them; and `Unavailable`: no monitor answers."),
		"is_ready":           shown("Whether the cluster is as configured and passes the gate of `ready`. For a `postcondition`."),
		"conditions":         schema.ListNestedAttribute{Computed: true, MarkdownDescription: "Conditions with Rook's reasons and words.", NestedObject: schema.NestedAttributeObject{Attributes: conditionComputed()}},
		"devices_rejected": schema.MapAttribute{
			Computed: true, ElementType: types.MapType{ElemType: types.StringType}, MarkdownDescription: "Why devices became no OSD: by host and path.",
		},
		"drift":        schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "What is not as configured, and the next apply mends."},
		"owned_config": schema.MapAttribute{Computed: true, ElementType: types.ListType{ElemType: types.StringType}, MarkdownDescription: "Options of `config` that the provider has set, and will remove."},
		"max_mon_id":   counted("How many letters monitors have used up: none is used twice."),
	}
}

func monComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"host": said("Host; null where it is not known."), "addr": said("Addresses."), "in_quorum": shown("Whether it is in quorum."),
		"out_since": said("Since when it is out of quorum, as far as anybody looked."),
	}
}

func osdComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"host": said("Host."), "uuid": said("UUID, which also stands on the device."), "path": said("Path as configured."),
		"device": said("What the device is called at the moment."), "device_class": said("Class."),
		"up": shown("Whether it runs."), "in": shown("Whether it gets data."),
	}
}

func checkComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"severity": said("`HEALTH_WARN` or `HEALTH_ERR`."), "message": said("In Ceph's words."), "muted": shown("Whether somebody muted it."),
	}
}

func conditionComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"type": said("Phase that it is about."), "status": said("`True` or `False`."), "reason": said("Reason in one word."), "message": said("What is going on."),
		"last_transition_time": said("When it became so."),
	}
}
