// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hostvalue

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hardwarevalue"
)

// Attributes are the attributes of a host in a data source, all of them computed.
func Attributes() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		"labels":      stringMap("Labels, as the host resource or whoever keeps the journal set them."),
		"annotations": stringMap("Annotations."),
		"conditions":  stringMap("Conditions in the baremetal-operator's words, each as `Status/Reason`."),
		"powered_on": schema.BoolAttribute{
			Computed:            true,
			MarkdownDescription: "Whether the machine is on; null where Ironic does not know.",
		},
		"maintenance": schema.BoolAttribute{
			Computed:            true,
			MarkdownDescription: "Whether the node is in maintenance: Ironic leaves it alone then.",
		},
		"traits": schema.SetAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Traits of the node.",
		},
		"ports": schema.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Network ports, by MAC address.",
			NestedObject:        schema.NestedAttributeObject{Attributes: portAttributes()},
		},
		"consumer": schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Who deploys on the host, null where nobody does.",
			Attributes: map[string]schema.Attribute{
				"kind": text("`host` (the host resource itself), `cluster`, or `instance` (somebody whom this provider does not know)."),
				"name": text("Name of the consumer, where it is known."),
				"id":   text("The claim: the node's `instance_uuid`."),
			},
		},
		"hardware": schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: "What the last inspection found, null where there was none.",
			Attributes:          hardwarevalue.DataSourceAttributes(),
		},
	}

	for name, about := range texts {
		attributes[name] = text(about)
	}

	return attributes
}

// texts are the attributes that hold one string.
var texts = map[string]string{
	"id":                 "UUID of the node in Ironic.",
	"name":               "Name of the host. A node that was not made for a host has its own name here, and no namespace.",
	"namespace":          "Namespace of the host.",
	"node_name":          "Name of the node in Ironic: namespace and name joined by `~`.",
	"description":        "Description of the node.",
	"failure_domain":     "Failure domain of the host.",
	"unhealthy":          "Why a cluster does not choose this host any more; null where it is well.",
	"fabric_machine_id":  "Id of the machine in a fabric of composable devices.",
	"provisioning_state": "State in the baremetal-operator's words, such as `available` or `provisioned`.",
	"operational_status": "`OK`, `error` or `servicing`.",
	"error_type":         "Kind of the present error in the baremetal-operator's words, null where there is none.",
	"error_message":      "What Ironic says of the present error, null where there is none.",
	"ironic_state":       "Provision state in Ironic's words, such as `active`.",
	"maintenance_reason": "Why the node is in maintenance.",
	"driver":             "Ironic's driver of the node.",
	"health":             "Health as the BMC tells it: `OK`, `Warning` or `Critical`. Needs Ironic API 1.109.",
	"instance_uuid":      "The claim on the node: UUID of what is deployed on it.",
	"resource_class":     "Resource class of the node.",
	"conductor_group":    "Conductor group of the node.",
	"owner":              "Owner of the node in Ironic's words, usually a project.",
}

func portAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"mac":              text("MAC address, in lower case with colons."),
		"pxe_enabled":      schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether the machine may boot from this port."},
		"physical_network": text("Physical network that the port is on."),
		"local_link":       stringMap("The other end of the cable, as Ironic keeps it."),
	}
}

func text(about string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: about}
}

func stringMap(about string) schema.MapAttribute {
	return schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: about}
}
