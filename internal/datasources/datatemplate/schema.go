// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type attributes = map[string]schema.Attribute

// Schema is what users write, and the template in its one form.
func (d *templateDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Writes a data template: what each machine of a cluster finds on its config drive as metadata and as network data, with its own names, " +
			"indexes, MAC addresses and addresses of pools. It is the `Metal3DataTemplate` of Cluster API Provider Metal3 in snake case. Everything is checked while planning; nobody is asked.\n\n" +
			"The template goes into `data_template` of `metal3_cluster`, or through the functions `render_meta_data` and `render_network_data`.\n\n" +
			"An `object` is `machine` or `host`; upstream's `metal3machine` (the machine) and `baremetalhost` (the host) are taken, too.",
		Attributes: attributes{
			metaData: schema.SingleNestedAttribute{
				Optional: true, Attributes: metaDataAttributes(),
				MarkdownDescription: "Metadata: keys and where their values come from. A key may be there once. `providerid` is always `<namespace>/<host>/<machine>`.",
			},
			networkData: schema.SingleNestedAttribute{
				Optional: true, Attributes: networkDataAttributes(),
				MarkdownDescription: "Network data: links, networks on them, and name servers.",
			},
			"json": schema.StringAttribute{
				Computed: true, MarkdownDescription: "The template as JSON, always in the same form.",
			},
			"pools": schema.ListAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Names of the pools that the template asks for an address of, sorted. Those that annotations name are not among them.",
			},
		},
	}
}

func text(about string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: about}
}

func needed(about string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, MarkdownDescription: about}
}

func number(about string) schema.Int64Attribute {
	return schema.Int64Attribute{Optional: true, MarkdownDescription: about}
}

func texts(about string) schema.ListAttribute {
	return schema.ListAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: about}
}

func section(about string, parts attributes) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{Optional: true, Attributes: parts, MarkdownDescription: about}
}

func list(about string, parts attributes) schema.ListNestedAttribute {
	return schema.ListNestedAttribute{Optional: true, MarkdownDescription: about, NestedObject: schema.NestedAttributeObject{Attributes: parts}}
}

// keyed is a list of entries of metadata: a key, and what its value is made of.
func keyed(about string, parts attributes) schema.ListNestedAttribute {
	all := attributes{"key": needed("Key in the metadata.")}
	maps.Copy(all, parts)

	return list(about, all)
}

const objects = "`machine` or `host` (or `metal3machine`, `baremetalhost`)."

func metaDataAttributes() attributes {
	pool := attributes{"name": needed("Name of the pool.")}

	return attributes{
		"strings":      keyed("Texts as they are.", attributes{"value": needed("The text.")}),
		"object_names": keyed("Names of the machine or of its host.", attributes{"object": needed(objects)}),
		"indexes": keyed("Numbers made of the machine's index: `prefix`, then `offset + index * step`, then `suffix`.", attributes{
			"offset": number("Number for index 0. Default: 0."), "step": number("Step between indexes. Default: 1."),
			"prefix": text("Text before the number."), "suffix": text("Text after the number."),
		}),
		"namespaces":             keyed("Namespace of the cluster.", nil),
		"ip_addresses_from_pool": keyed("The machine's address of a pool. A machine has one address of a pool, however often it is used.", pool),
		"prefixes_from_pool":     keyed("Length of the prefix of that address.", pool),
		"gateways_from_pool":     keyed("Gateway of that address, empty where it has none.", pool),
		"dns_servers_from_pool":  keyed("Name servers of that address, separated by commas.", pool),
		"from_host_interfaces": keyed("MAC addresses of the host: exactly one of `interface` and `from_boot_mac`.", attributes{
			"interface":     text("Name of a network interface, as the inspection found it: exactly that name."),
			"from_boot_mac": schema.BoolAttribute{Optional: true, MarkdownDescription: "The interface that the host boots from."},
		}),
		"from_labels": keyed("Labels, empty where they are absent.", attributes{"object": needed(objects), "label": needed("Name of the label.")}),
		"from_annotations": keyed("Annotations, empty where they are absent.", attributes{
			"object": needed(objects), "annotation": needed("Name of the annotation."),
		}),
	}
}
