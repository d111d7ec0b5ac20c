// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// What on_create_failure and packages may say.
const (
	failureTaint = "taint"
	failureKeep  = "keep"

	packagesRequire = "require"
	packagesInstall = "install"
)

// Schema implements [resource.Resource].
func (r *clusterResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A Ceph cluster on plain hosts, in the order in which Rook brings one up and without Kubernetes: monitors, identity, managers, OSDs. " +
			"It is scaled, mended and upgraded in place, and destroyed only as far as `cleanup` says. Or a cluster that somebody else runs (`external`).",
		Attributes: topAttributes(),
	}
}

// topAttributes are all attributes of the resource.
func topAttributes() map[string]schema.Attribute {
	all := map[string]schema.Attribute{}

	for _, part := range []map[string]schema.Attribute{
		mainAttributes(), sectionAttributes(), careAttributes(), computedAttributes(),
	} {
		for name, a := range part {
			all[name] = a
		}
	}

	return all
}

func replacing(a schema.StringAttribute) schema.StringAttribute {
	a.PlanModifiers = []planmodifier.String{stringplanmodifier.RequiresReplace()}

	return a
}

// mainAttributes say which cluster it is, and where.
func mainAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": replacing(schema.StringAttribute{
			Required: true, Validators: []validator.String{clusterName()},
			MarkdownDescription: "Name of the cluster in messages and on its hosts. An interrupted create goes on with what it finds under the same name. A change replaces the cluster.",
		}),
		"hosts": schema.MapNestedAttribute{
			Required: true, Validators: []validator.Map{mapvalidator.SizeAtLeast(1), mapvalidator.KeysAre(hostName())},
			NestedObject: schema.NestedAttributeObject{Attributes: hostAttributes()},
			MarkdownDescription: "Hosts by name. The name is what `uname -n` says there, and the host in the CRUSH map. Monitors and managers leave a host that is taken out; " +
				"its OSDs only go where `storage.removal` allows it.",
		},
		"data_dir": replacing(schemavalue.TextOr("/var/lib/ceph", "Folder on each host with everything of the cluster: configuration, keys, stores, sockets, logs. Clusters with different folders live side by side on a host. "+
			"A change replaces the cluster. Default `/var/lib/ceph`.", dataDir())),
		"fsid": schema.StringAttribute{
			Optional: true, Computed: true, Validators: []validator.String{isFSID()},
			PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplaceIfConfigured(), stringplanmodifier.UseNonNullStateForUnknown()},
			MarkdownDescription: "Id of the cluster. Made once where it is not given; giving another one replaces the cluster.",
		},
		"ceph_version":              text("Which versions the hosts may have, such as `>= 16.2, < 21`. The provider does not choose a version: it takes the one that is installed.", versionConstraint()),
		"allow_unsupported_version": schemavalue.Flag(false, "Take a Ceph that is older or newer than those that this provider knows. Default `false`."),
		"packages": schemavalue.Choice(packagesRequire, "`require` (default): an apply names the programs that a host lacks. `install`: it puts in the distribution's packages.",
			packagesRequire, packagesInstall),
		"supervision": schemavalue.Choice(ceph.SupervisionAuto, "Who keeps the daemons running: `systemd` (units of our own), `daemon` (plain background processes; after a reboot the next apply starts them), "+
			"or `auto` (default): systemd where it runs.", ceph.SupervisionAuto, ceph.SupervisionSystemd, ceph.SupervisionDaemon),
		"config": schema.MapAttribute{
			Optional: true, ElementType: types.MapType{ElemType: types.StringType}, Validators: []validator.Map{options{}},
			PlanModifiers: []planmodifier.Map{sameOptions{}},
			MarkdownDescription: "Ceph options by whom they are for (`global`, `mon`, `osd`, `osd.3`, `client`, with a mask such as `osd/class:ssd`): `{ osd = { osd_memory_target = \"4294967296\" } }`. " +
				"They are kept in Ceph's own configuration database. Options that leave the configuration are removed there; options that others set are left alone.",
		},
	}
}

// careAttributes say how carefully the provider goes about it.
func careAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"on_create_failure": schemavalue.Choice(failureTaint, "`taint` (default): a failed create is an error, and the next apply replaces what it left. `keep`: it is a warning, `is_ready` is `false`, "+
			"and the next apply goes on in place.", failureTaint, failureKeep),
		"deletion_protection": schemavalue.Flag(false, "Refuse every plan that destroys or replaces the cluster. Default `false`."),
		"timeouts": schemavalue.Section("Limits of the verbs, each as a whole.", map[string]schema.Attribute{
			"create": schemavalue.Duration("30m", "Default `30m`."),
			"read":   schemavalue.Duration("1m", "Default `1m`."),
			"update": schemavalue.Duration("6h", "An update may move data. Default `6h`."),
			"delete": schemavalue.Duration("30m", "Default `30m`."),
		}),
	}
}
