// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

// bucketTypes are the places of a CRUSH map above a host, the smallest first.
var bucketTypes = []string{"chassis", "rack", "row", "pdu", "pod", "room", "datacenter", "zone", "region"}

func defaultRoles() []string { return []string{ceph.RoleMon, ceph.RoleMgr, ceph.RoleOSD} }

// hostAttributes describe one host.
func hostAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"address": text("Address of the host in the public network, where its daemons listen. Default: `connection.host`. A host with the role `mon` needs an IP address.", value.OptionalHost()),
		"connection": schema.SingleNestedAttribute{
			Optional: true, Attributes: connectionvalue.Attributes(remote.SSH, remote.Local),
			MarkdownDescription: "Connection to the host. Default: SSH to `address` as the provider's `ssh` block says. A change moves nothing.",
		},
		"roles": schema.SetAttribute{
			Optional: true, Computed: true, ElementType: types.StringType,
			Default: setdefault.StaticValue(stringSet(defaultRoles())),
			Validators: []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.NoNullValues(), setvalidator.ValueStringsAre(
				stringvalidator.OneOf(ceph.RoleMon, ceph.RoleMgr, ceph.RoleOSD, ceph.RoleMDS))},
			MarkdownDescription: "What may run on the host: `mon`, `mgr`, `osd`, `mds`. Default: the first three.",
		},
		"crush_location": schema.MapAttribute{
			Optional: true, ElementType: types.StringType,
			Validators:          []validator.Map{mapvalidator.KeysAre(stringvalidator.OneOf(bucketTypes...)), mapvalidator.ValueStringsAre(crushName()), mapvalidator.NoNullValues()},
			MarkdownDescription: "Where the host stands, for the CRUSH map: `{ rack = \"r1\" }`. The host itself and the root are not named here.",
		},
	}
}

func stringSet(all []string) types.Set {
	values := make([]attr.Value, 0, len(all))
	for _, s := range all {
		values = append(values, types.StringValue(s))
	}

	return types.SetValueMust(types.StringType, values)
}
