// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabricdevices

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/fabricvalue"
)

// model is the data source as Terraform sees it.
type model struct {
	MachineID types.String `tfsdk:"machine_id"`
	Type      types.String `tfsdk:"type"`
	Model     types.String `tfsdk:"model"`
	Devices   types.List   `tfsdk:"devices"`
}

// Schema is the filter that users write, and the devices that it lets through.
func (d *devicesDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"devices": schema.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "The devices, by machine and `fabric_device_id`.",
			NestedObject:        schema.NestedAttributeObject{Attributes: fabricvalue.DeviceAttributes()},
		},
	}

	for name, about := range map[string]string{
		"machine_id": "Only devices of this machine, which must exist; also as `fsas-cdi://` and the id. Costs one request, all machines may cost more.",
		"type":       "Only devices of this type, such as `gpu` or `cxlmemory`.",
		"model":      "Only devices of this model, as the manager spells it.",
	} {
		attributes[name] = schema.StringAttribute{
			Optional: true, MarkdownDescription: about, Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
		}
	}

	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the devices that a composable fabric has attached to machines, whoever asked for them. Devices that are free are not among them: " +
			"see `metal3_fabric_capacity`.",
		Attributes: attributes,
	}
}

// keep returns the devices that the filter lets through.
func (m model) keep(machines []fabric.Machine) []fabric.Device {
	var out []fabric.Device

	for _, machine := range machines {
		for _, d := range machine.Devices {
			if !m.Type.IsNull() && !strings.EqualFold(m.Type.ValueString(), d.Type) ||
				!m.Model.IsNull() && strings.TrimSpace(m.Model.ValueString()) != strings.TrimSpace(d.Model) {
				continue
			}

			if d.MachineID == "" {
				d.MachineID = machine.ID
			}

			out = append(out, d)
		}
	}

	return out
}
