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
		"mon":     section("Monitors.", monAttributes()),
		"mgr":     section("Managers.", mgrAttributes()),
		"network": section("Where the daemons listen.", networkAttributes()),
		"storage": section("Which devices become OSDs, and how OSDs go.", storageAttributes()),
		"pool_defaults": section("What pools get that say nothing. It counts when the cluster is made; a later change has no effect.", map[string]schema.Attribute{
			"failure_domain": choice("host", "Copies are kept on different ones of these: `host` (default), `osd` (for a single host), or a place such as `rack`.",
				append([]string{"osd", "host"}, bucketTypes...)...),
			"size":     numberOrNone(10, "Copies of each object. Default: Ceph's own (3)."),
			"min_size": numberOrNone(10, "Copies that must be there for a write. Default: Ceph's own."),
			"pg_num":   numberOrNone(maxCount, "Placement groups of a pool. Default: Ceph's own."),
		}),
		"upgrade": section("What holds an upgrade up: daemons whose program on the host is newer than the one that runs are restarted one after the other, monitors, managers, OSDs.", map[string]schema.Attribute{
			"skip_checks":            flag(false, "Do not ask whether a daemon may stop. Default `false`."),
			"continue_if_unhealthy":  flag(false, "Restart a daemon although Ceph still says no when `osd_ok_to_stop_timeout` is over. Default `false`."),
			"osd_ok_to_stop_timeout": duration("10m", "How long to wait until Ceph lets an OSD stop. Default `10m`."),
			"osd_max_parallel":       number(20, maxCount, "OSDs of one failure domain that are restarted together at the most. Default `20`."),
			"require_clean_pgs":      flag(false, "Wait until all placement groups are clean before each step. Default `false`."),
		}),
		"cleanup": section("What a destroy does. It counts as it is in the state: apply a change before the destroy.", map[string]schema.Attribute{
			"confirmation":    choice("", "Empty (default): a destroy stops the daemons and keeps all data, so that the cluster can be brought back. `"+ceph.Confirmation+"`: it removes the data.", "", ceph.Confirmation),
			"wipe_devices":    choice("none", "With the confirmation, what happens to the devices of OSDs: `none` (default), `quick` (their beginning and end), `full`.", "none", "quick", "full"),
			"wipe_passes":     number(1, 32, "How often a `full` wipe writes. Default `1`."),
			"allow_with_data": flag(false, "Destroy although pools hold data. Default `false`: the destroy fails and names them."),
		}),
		"takeover": section("What of other clusters may be destroyed where this one is to be.", map[string]schema.Attribute{
			"wipe_foreign_devices": flag(false, "Wipe selected devices that belong to another Ceph cluster. Default `false`: the apply fails and names them."),
			"wipe_foreign_data":    flag(false, "Remove what another cluster left in `data_dir`. Default `false`: the apply fails and names it."),
		}),
		"ready": section("When the cluster counts as ready: an apply waits for that.", map[string]schema.Attribute{
			"osds_up":            choice("all", "`all` (default): every OSD is up and in. `none`: OSDs are not waited for.", "all", "none"),
			"health":             choice("ok_or_warn", "`ok_or_warn` (default): warnings are told and do not fail an apply. `ok`: only HEALTH_OK. `any`.", "ok", "ok_or_warn", "any"),
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
		"count":                   number(3, maxMons, "How many: an odd number survives more. Default `3`."),
		"hosts":                   hostList("Hosts that may have one, the preferred first. Default: those with the role `mon`, by name."),
		"allow_multiple_per_host": flag(false, "More than one on a host; the second one takes the next free ports. Default `false`."),
		"failover_timeout":        textOr("10m", "How long a monitor may be out of quorum before an apply puts another one in its place; `0`: for ever. Default `10m`.", durationOrZero()),
	}
}

func mgrAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"count":                   number(2, maxMgrs, "How many: one works, the others stand by. Where there are fewer hosts, there are fewer. Default `2`."),
		"hosts":                   hostList("Hosts that may have one, the preferred first. Default: those with the role `mgr`, by name."),
		"allow_multiple_per_host": flag(false, "More than one on a host. Default `false`."),
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
		"require_msgr2": flag(false, "Do without the old protocol. Default `false`."),
		"encryption":    flag(false, "Encrypt everything between daemons and clients. Default `false`."),
		"compression":   flag(false, "Compress what OSDs send each other. Default `false`."),
		"ports": section("Ports of the monitors.", map[string]schema.Attribute{
			"msgr2": number(3300, maxPort, "Of the present protocol. Default `3300`."),
			"msgr1": number(6789, maxPort, "Of the old one. Default `6789`."),
		}),
	}
}

func dashboardAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "The manager's web page. Where the attribute is left out, nothing about it is changed.",
		Attributes: map[string]schema.Attribute{
			"enabled":    flag(true, "Default `true`."),
			"port":       number(8443, maxPort, "Default `8443`."),
			"ssl":        flag(true, "HTTPS with a certificate that it makes for itself. Default `true`."),
			"url_prefix": textOr("", "Path before all of its pages. Default: none."),
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
			"user":          textOr("client.admin", "Who asks. One who may only read is enough to read. Default `client.admin`.", entity()),
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
