// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hostvalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/selectorvalue"
)

// Schema is the filter that users write, and the hosts that it lets through.
func (d *hostsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"labels": schema.MapAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Only hosts that carry all of these labels.",
		},
		"provisioning_states": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Only hosts in one of these states in the baremetal-operator's words, such as `available` or `provisioned`.",
			Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.OneOf(phases()...))},
		},
		"ironic_states": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Only hosts in one of these provision states in Ironic's words, such as `active`.",
			Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
		},
		"available": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "`true`: only hosts that can be deployed on now (Ironic offers them, nobody claims, holds or repairs them). `false`: only the others.",
		},
		"consumed": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "`true`: only hosts that somebody claims. `false`: only the others.",
		},
		"hardware": schema.SingleNestedAttribute{
			Optional: true,
			MarkdownDescription: "Only hosts with at least this hardware; those without an inventory are left out where a minimum is given. " +
				"Costs one request for each host that the other filters let through, and fills `hardware` of the hosts; `{}` only does that.",
			Attributes: map[string]schema.Attribute{
				"min_cpu":           minimum("Logical processors."),
				"min_ram_mebibytes": minimum("Memory in MiB."),
				"min_disk_gib":      minimum("Size of the largest disk in GiB."),
			},
		},
		"hosts": schema.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "The hosts, by name.",
			NestedObject:        schema.NestedAttributeObject{Attributes: hostAttributes()},
		},
		"host_selector": selectorvalue.Attribute("Selector of a cluster (`host_selector`), to find out which hosts it would choose. It filters nothing: " +
			"`eligible` and `refusal` of each host say how it comes out."),
	}

	for name, about := range map[string]string{
		"namespace":       "Only hosts of this namespace. Without it, hosts of all namespaces and nodes of none.",
		"driver":          "Only hosts with this driver of Ironic.",
		"resource_class":  "Only hosts of this resource class.",
		"conductor_group": "Only hosts of this conductor group.",
	} {
		attributes[name] = schema.StringAttribute{
			Optional: true, MarkdownDescription: about,
			Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
		}
	}

	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists hosts. All readers of one plan share one list, so this costs no request a host, but for `hardware`.",
		Attributes:          attributes,
	}
}

func hostAttributes() map[string]schema.Attribute {
	attributes := hostvalue.Attributes()
	attributes["eligible"] = schema.BoolAttribute{
		Computed:            true,
		MarkdownDescription: "Whether a cluster could choose this host now for a new machine, with `host_selector` where it is given.",
	}
	attributes["refusal"] = schema.StringAttribute{
		Computed:            true,
		MarkdownDescription: "Why a cluster would not choose this host now: the first reason. Null where it is eligible.",
	}

	return attributes
}

func minimum(about string) schema.Int64Attribute {
	return schema.Int64Attribute{Optional: true, MarkdownDescription: about, Validators: []validator.Int64{int64validator.AtLeast(1)}}
}

func phases() []string {
	out := make([]string, 0, len(host.Phases))
	for _, p := range host.Phases {
		out = append(out, string(p))
	}

	return out
}
