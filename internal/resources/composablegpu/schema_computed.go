// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// computedAttributes say what there is.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Id of this resource, a UUID made at the create. The fabric does not know it.",
		},
		"endpoint": schema.StringAttribute{
			Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Fabric manager in which the devices were last seen. Only that one can say that a machine is gone.",
		},
		"devices": schema.ListNestedAttribute{
			Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: deviceAttributes()},
			MarkdownDescription: "The devices that are ours, the longest attached first.",
		},
		"unmanaged_devices": schema.ListAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Fabric ids of devices of the same type and model that are on our machines and not ours. They are never detached.",
		},
		"state": schema.StringAttribute{Computed: true, MarkdownDescription: "`Running`: as many devices as wanted, all `Online`. `Degraded`: anything else."},
		"placement": schema.MapAttribute{
			Computed: true, ElementType: types.Int64Type, MarkdownDescription: "How many of the devices are on each machine, by its id in the fabric.",
		},
	}
}

func said(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

func deviceAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"device_id":        said("Id by which the operating system knows the device, as the fabric spells it: nvidia-smi shows it with `GPU-` in front, some fabrics tell it without. Null while nobody has said it."),
		"fabric_device_id": said("Id by which the fabric knows the device."),
		"type":             said("Type of the device."),
		"model":            said("Model of the device."),
		"machine_id":       said("Id of the machine that has the device."),
		"host_name":        said("Name of the host, as given in `hosts`."),
		"state":            said("`Attaching` (on the machine, not yet proved usable), `Online`, `Detaching` (being taken away), `Failed` (on the machine and not usable), `Missing` (found on another machine)."),
		"health":           said("`ok`, `warning`, `critical` or `unknown`."),
		"health_raw":       said("Health in the fabric's own words."),
		"pci_bus_id":       said("PCI address of the device on its host; null while nobody has looked."),
		"serial":           said("Serial number of the device."),
		"attached_at":      said("When the device was attached; null for imported and adopted devices."),
		"error":            said("What is wrong with the device."),
	}
}

// deviceType is the type of one of devices.
func deviceType() types.ObjectType {
	return objectType(schema.NestedAttributeObject{Attributes: deviceAttributes()})
}

// hostType is the type of one of hosts.
func hostType() types.ObjectType { return objectType(hostObject()) }

func objectType(o schema.NestedAttributeObject) types.ObjectType {
	return types.ObjectType{AttrTypes: attrTypes(o.Attributes)}
}

func attrTypes(all map[string]schema.Attribute) map[string]attr.Type {
	out := make(map[string]attr.Type, len(all))
	for name, a := range all {
		out[name] = a.GetType()
	}

	return out
}
