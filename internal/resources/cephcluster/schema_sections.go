// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// The most that there may be of a kind, and ports.
const (
	maxMons  = 9
	maxMgrs  = 5
	maxPort  = 65535
	maxCount = 1 << 20
)

// sectionAttributes are the parts of the cluster.
func sectionAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"mon":     schemavalue.Section("Monitors.", monAttributes()),
		"mgr":     schemavalue.Section("Managers.", mgrAttributes()),
		"network": schemavalue.Section("Where the daemons listen.", networkAttributes()),
		"storage": schemavalue.Section("Which devices become OSDs, and how OSDs go.", storageAttributes()),
		"pool_defaults": schemavalue.Section("What pools get that say nothing. It counts when the cluster is made; a later change has no effect.", map[string]schema.Attribute{
			"failure_domain": schemavalue.Choice("host", "Copies are kept on different ones of these: `host` (default), `osd` (for a single host), or a place such as `rack`.",
				append([]string{"osd", "host"}, bucketTypes...)...),
			"size":     schemavalue.NumberOrNone(1, 10, "Copies of each object. Default: Ceph's own (3)."),
			"min_size": schemavalue.NumberOrNone(1, 10, "Copies that must be there for a write. Default: Ceph's own."),
			"pg_num":   schemavalue.NumberOrNone(1, maxCount, "Placement groups of a pool. Default: Ceph's own."),
		}),
		"upgrade": schemavalue.Section("What holds an upgrade up: daemons whose program on the host is newer than the one that runs are restarted one after the other, monitors, managers, OSDs.", map[string]schema.Attribute{
			"skip_checks":            schemavalue.Flag(false, "Do not ask whether a daemon may stop. Default `false`."),
			"continue_if_unhealthy":  schemavalue.Flag(false, "Restart a daemon although Ceph still says no when `osd_ok_to_stop_timeout` is over. Default `false`."),
			"osd_ok_to_stop_timeout": schemavalue.Duration("10m", "How long to wait until Ceph lets an OSD stop. Default `10m`."),
			"osd_max_parallel":       schemavalue.Number(20, 1, maxCount, "OSDs of one failure domain that are restarted together at the most. Default `20`."),
			"require_clean_pgs":      schemavalue.Flag(false, "Wait until all placement groups are clean before each step. Default `false`."),
		}),
		"cleanup": schemavalue.Section("What a destroy does. It counts as it is in the state: apply a change before the destroy.", map[string]schema.Attribute{
			"confirmation":    schemavalue.Choice("", "Empty (default): a destroy stops the daemons and keeps all data, so that the cluster can be brought back. `"+ceph.Confirmation+"`: it removes the data.", "", ceph.Confirmation),
			"wipe_devices":    schemavalue.Choice("none", "With the confirmation, what happens to the devices of OSDs: `none` (default), `quick` (their beginning and end), `full`.", "none", "quick", "full"),
			"wipe_passes":     schemavalue.Number(1, 1, 32, "How often a `full` wipe writes. Default `1`."),
			"allow_with_data": schemavalue.Flag(false, "Destroy although pools hold data. Default `false`: the destroy fails and names them."),
		}),
		"takeover": schemavalue.Section("What of other clusters may be destroyed where this one is to be.", map[string]schema.Attribute{
			"wipe_foreign_devices": schemavalue.Flag(false, "Wipe selected devices that belong to another Ceph cluster. Default `false`: the apply fails and names them."),
			"wipe_foreign_data":    schemavalue.Flag(false, "Remove what another cluster left in `data_dir`. Default `false`: the apply fails and names it."),
		}),
		"ready": schemavalue.Section("When the cluster counts as ready: an apply waits for that.", map[string]schema.Attribute{
			"osds_up":            schemavalue.Choice("all", "`all` (default): every OSD is up and in. `none`: OSDs are not waited for.", "all", "none"),
			"health":             schemavalue.Choice("ok_or_warn", "`ok_or_warn` (default): warnings are told and do not fail an apply. `ok`: only HEALTH_OK. `any`.", "ok", "ok_or_warn", "any"),
			"allow_health_codes": names("Health checks that do not count, such as `POOL_NO_REDUNDANCY`."),
		}),
		"dashboard": dashboardAttribute(),
		"external":  externalAttribute(),
	}
}

func hostList(description string) schema.ListAttribute {
	return names(description, listvalidator.SizeAtLeast(1), listvalidator.UniqueValues(), listvalidator.NoNullValues())
}

func monAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"count":                   schemavalue.Number(3, 1, maxMons, "How many: an odd number survives more. Default `3`."),
		"hosts":                   hostList("Hosts that may have one, the preferred first. Default: those with the role `mon`, by name."),
		"allow_multiple_per_host": schemavalue.Flag(false, "More than one on a host; the second one takes the next free ports. Default `false`."),
		"failover_timeout":        schemavalue.TextOr("10m", "How long a monitor may be out of quorum before an apply puts another one in its place; `0`: for ever. Default `10m`.", durationOrZero()),
	}
}

func mgrAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"count":                   schemavalue.Number(2, 1, maxMgrs, "How many: one works, the others stand by. Where there are fewer hosts, there are fewer. Default `2`."),
		"hosts":                   hostList("Hosts that may have one, the preferred first. Default: those with the role `mgr`, by name."),
		"allow_multiple_per_host": schemavalue.Flag(false, "More than one on a host. Default `false`."),
		"modules": schema.DynamicAttribute{
			Optional: true, Validators: []validator.Dynamic{modules{}},
			MarkdownDescription: "Modules to switch on or off, each `true`, `false` or an object: `{ prometheus = true, balancer = { mode = \"upmap\" } }`. Others are left alone. The dashboard has its own attribute.",
		},
	}
}

func networkAttributes() map[string]schema.Attribute {
	ranges := func(description string) schema.ListAttribute {
		return names(description, listvalidator.ValueStringsAre(cidr()), listvalidator.UniqueValues(), listvalidator.NoNullValues())
	}

	return map[string]schema.Attribute{
		"public":        ranges("Networks in which clients and daemons meet, as CIDR. A change replaces the monitors one after the other."),
		"cluster":       ranges("Networks in which OSDs copy among themselves, as CIDR. Default: the public ones."),
		"require_msgr2": schemavalue.Flag(false, "Do without the old protocol. Default `false`."),
		"encryption":    schemavalue.Flag(false, "Encrypt everything between daemons and clients. Default `false`."),
		"compression":   schemavalue.Flag(false, "Compress what OSDs send each other. Default `false`."),
		"ports": schemavalue.Section("Ports of the monitors.", map[string]schema.Attribute{
			"msgr2": schemavalue.Number(3300, 1, maxPort, "Of the present protocol. Default `3300`."),
			"msgr1": schemavalue.Number(6789, 1, maxPort, "Of the old one. Default `6789`."),
		}),
	}
}

func dashboardAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "The manager's web page. Where the attribute is left out, nothing about it is changed.",
		Attributes: map[string]schema.Attribute{
			"enabled":    schemavalue.Flag(true, "Default `true`."),
			"port":       schemavalue.Number(8443, 1, maxPort, "Default `8443`."),
			"ssl":        schemavalue.Flag(true, "HTTPS with a certificate that it makes for itself. Default `true`."),
			"url_prefix": schemavalue.TextOr("", "Path before all of its pages. Default: none."),
		},
	}
}

func externalAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "A cluster that somebody else runs: no daemon is made, changed or stopped, and `mon`, `mgr`, `storage` and `config` have no effect. `hosts` holds one host with Ceph's client programs, " +
			"through which the cluster is asked.",
		Attributes: map[string]schema.Attribute{
			"fsid":          schema.StringAttribute{Required: true, Validators: []validator.String{isFSID()}, MarkdownDescription: "Id of the cluster."},
			"mon_endpoints": schema.StringAttribute{Required: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}, MarkdownDescription: "Addresses of its monitors, as in `mon_host`."},
			"user":          schemavalue.TextOr("client.admin", "Who asks. One who may only read is enough to read. Default `client.admin`.", entity()),
			"key": schema.StringAttribute{
				Optional: true, Sensitive: true, Validators: []validator.String{
					cephKey(), stringvalidator.PreferWriteOnlyAttribute(path.MatchRoot("external").AtName("key_wo")),
				},
				MarkdownDescription: "Key of the user. It is in the state: `key_wo` and `keyring_file` keep it out.",
			},
			"key_wo": schema.StringAttribute{
				Optional: true, WriteOnly: true, Sensitive: true, Validators: []validator.String{cephKey()},
				MarkdownDescription: "Key of the user, not in the state. An apply leaves it on the host, in `data_dir`.",
			},
			"key_wo_version": schema.Int64Attribute{Optional: true, MarkdownDescription: "Change it to have `key_wo` sent again."},
			"keyring_file":   text("File with a keyring that has the user, on the machine that runs Terraform.", stringvalidator.LengthAtLeast(1)),
		},
	}
}
