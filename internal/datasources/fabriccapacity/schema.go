// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabriccapacity

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// defaultType is the type of devices that is asked for where none is named.
const defaultType = "gpu"

// model is the data source as Terraform sees it.
type model struct {
	MachineID  types.String `tfsdk:"machine_id"`
	Type       types.String `tfsdk:"type"`
	Models     types.List   `tfsdk:"models"`
	Capacities types.List   `tfsdk:"capacities"`
}

func (m model) kind() string {
	if m.Type.IsNull() {
		return defaultType
	}

	return m.Type.ValueString()
}

func (m model) models() []string { return value.GoStrings(m.Models) }

// Schema is what users ask, and what the fabric answers.
func (d *capacityDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Tells how many devices of some models a composable fabric could still give. The counts are of a whole fabric: machines of " +
			"one fabric share them. Only of a manager that gives each machine limits of its own (`fti_cm`) they are of one machine. They are those of the moment, and somebody else may take a device before you do.",
		Attributes: map[string]schema.Attribute{
			"machine_id": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Ask on behalf of this machine; also as `fsas-cdi://` and the id. Without it, one machine of each fabric is asked " +
					"for, which tells all there is; and each machine where the manager gives it limits of its own, or does not tell its fabric.",
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"type": schema.StringAttribute{
				Optional: true, MarkdownDescription: "Type of the devices, such as `gpu` or `cxlmemory`. Default: `gpu`.",
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"models": schema.ListAttribute{
				Required: true, ElementType: types.StringType, MarkdownDescription: "Models, as the manager spells them. Each costs one request for each machine that is asked for.",
				Validators: []validator.List{
					listvalidator.SizeAtLeast(1), listvalidator.UniqueValues(), listvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)),
				},
			},
			"capacities": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "One for each fabric (or machine, see `machine_id`) and model: by fabric, then in the order of `models`.",
				NestedObject:        schema.NestedAttributeObject{Attributes: capacityAttributes()},
			},
		},
	}
}

func capacityAttributes() map[string]schema.Attribute {
	text := func(about string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: about}
	}
	number := func(about string) schema.Int64Attribute {
		return schema.Int64Attribute{Computed: true, MarkdownDescription: about}
	}

	return map[string]schema.Attribute{
		"fabric_id":  text("The fabric, or pool; null where the manager does not tell."),
		"machine_id": text("Machine on whose behalf was asked; `free` is its own where `max` is not null."),
		"type":       text("Type of the devices."),
		"model":      text("Model of the devices."),
		"known": schema.BoolAttribute{
			Computed: true, MarkdownDescription: "Whether the manager tells how many are free. Some only tell when there is none left.",
		},
		"free":    number("How many are free, null where the manager does not tell."),
		"min":     number("Least number that the machine's specification asks for, null where the manager has no such."),
		"max":     number("Greatest number that the machine's specification allows (0: no bound), null where the manager has no such."),
		"current": number("Number that the machine's specification has now, null where the manager has no such."),
	}
}

func capacityTypes() map[string]attr.Type {
	all := map[string]attr.Type{}
	for name, a := range capacityAttributes() {
		all[name] = a.GetType()
	}

	return all
}

func capacities(all []capacity) types.List {
	out := make([]attr.Value, 0, len(all))

	for _, c := range all {
		number := func(n int, told bool) attr.Value {
			if !told {
				return types.Int64Null()
			}

			return types.Int64Value(int64(n))
		}

		out = append(out, types.ObjectValueMust(capacityTypes(), map[string]attr.Value{
			"fabric_id": value.String(c.fabricID), "machine_id": types.StringValue(c.machineID), "type": types.StringValue(c.typ),
			"model": types.StringValue(c.model), "known": types.BoolValue(c.free.Known), "free": number(c.free.Count, c.free.Known),
			"min": number(c.free.Min, c.free.HasLimits), "max": number(c.free.Max, c.free.HasLimits), "current": number(c.free.Current, c.free.HasLimits),
		}))
	}

	return types.ListValueMust(types.ObjectType{AttrTypes: capacityTypes()}, out)
}
