// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/float64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

func storageAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"backend": schemavalue.Choice(ceph.BackendRaw, "What an OSD lies on: `raw` (default): the device as it is. `lvm`: a logical volume of its own on the device. `file`: a sparse file, to try things out; it needs `allow_file_osds`.",
			ceph.BackendRaw, ceph.BackendLVM, ceph.BackendFile),
		"allow_file_osds": schemavalue.Flag(false, "Allow `backend = \"file\"`. Default `false`."),
		"file_size":       schemavalue.TextOr("4G", "Size of a file that is made for an OSD: a number with K, M, G or T (of 1024). Default `4G`.", size()),
		"devices": schema.ListNestedAttribute{
			Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: deviceAttributes()},
			MarkdownDescription: "Devices by name. Their order means nothing. A device that holds data is refused, never wiped.",
		},
		"selectors": schema.ListNestedAttribute{
			Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: selectorAttributes()},
			MarkdownDescription: "Free devices that match all that a selector says. Only whole, writable, empty disks of 5 GB and more are taken; `devices_rejected` tells why others are not.",
		},
		"osds_per_device": schemavalue.Number(1, 1, 16, "OSDs on each device; more than one needs `backend = \"lvm\"`. Default `1`."),
		"removal": schemavalue.Section("Whether and how OSDs go whose device or host is no longer configured.", map[string]schema.Attribute{
			"allow":        schemavalue.Flag(false, "Default `false`: they stay, and a plan says so. `true`: they are drained, and removed when Ceph says that no data is lost."),
			"timeout":      schemavalue.Duration("6h", "How long one may drain. Then the apply fails, and the next one goes on. Default `6h`."),
			"max_parallel": schemavalue.Number(1, 1, maxCount, "OSDs that are drained together. Default `1`."),
			"wipe":         schemavalue.Flag(false, "Wipe the beginning of the device of an OSD that was removed. Default `false`."),
		}),
		"full_ratio":         ratio("Use above which nobody may write. Default: Ceph's own (0.95)."),
		"backfillfull_ratio": ratio("Use above which an OSD takes no copies of others. Default: Ceph's own (0.90)."),
		"nearfull_ratio":     ratio("Use above which there is a warning. Default: Ceph's own (0.85)."),
	}
}

func ratio(description string) schema.Float64Attribute {
	return schema.Float64Attribute{Optional: true, MarkdownDescription: description, Validators: []validator.Float64{float64validator.Between(0, 1)}}
}

func deviceClass() schema.StringAttribute {
	return text("Class for CRUSH rules, such as `ssd`. Default: what Ceph makes of the device.", crushName())
}

func encrypted() schema.BoolAttribute {
	return schemavalue.Flag(false, "Encrypt it (dm-crypt); needs `backend = \"lvm\"`. Default `false`.")
}

func deviceAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		// Not Required: the framework would miss them in a device that is not known yet as a whole.
		"host": text("Required. Host, as `hosts` names it.", stringvalidator.LengthAtLeast(1)),
		"path": schema.StringAttribute{
			Optional: true, Validators: []validator.String{absolute()},
			MarkdownDescription: "Required. Path of the device; one below `/dev/disk/by-id` keeps its meaning when the host starts again. With `backend = \"file\"` the file, which is made.",
		},
		"db_device":       text("Device, volume or file for the OSD's database.", absolute()),
		"db_size":         text("Size of a file that is made for the database.", size()),
		"device_class":    deviceClass(),
		"encrypted":       encrypted(),
		"osds_per_device": schemavalue.NumberOrNone(1, 16, "As `storage.osds_per_device`, for this device."),
		"initial_weight": schema.Float64Attribute{
			Optional: true, Validators: []validator.Float64{float64validator.AtLeast(0)}, MarkdownDescription: "First CRUSH weight, in TiB. Default: the size of the device.",
		},
	}
}

func selectorAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"hosts":        names("Hosts, as `hosts` names them. Default: all with the role `osd`.", listvalidator.SizeAtLeast(1), listvalidator.UniqueValues(), listvalidator.NoNullValues()),
		"all":          schemavalue.Flag(false, "Take every free device. Default `false`: the selector must say something else."),
		"name_regex":   text("Names of the kernel, such as `sd[b-d]`. It must match all of the name.", pattern()),
		"path_regex":   text("Paths such as `/dev/disk/by-id/nvme-.*`: one of the device's must be matched, all of it.", pattern()),
		"min_size":     text("Smallest size, such as `100G`.", size()),
		"max_size":     text("Largest size.", size()),
		"rotational":   schema.BoolAttribute{Optional: true, MarkdownDescription: "`true`: only hard disks; `false`: only others."},
		"limit":        schemavalue.NumberOrNone(1, maxCount, "The most devices of each host."),
		"device_class": deviceClass(),
		"encrypted":    encrypted(),
	}
}
