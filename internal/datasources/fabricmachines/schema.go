// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabricmachines

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/fabricvalue"
)

// model is the data source as Terraform sees it.
type model struct {
	Name     types.String `tfsdk:"name"`
	MAC      value.MAC    `tfsdk:"mac"`
	Machines types.List   `tfsdk:"machines"`
}

// Schema is the filter that users write, and the machines that it lets through.
func (d *machinesDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the machines of a composable fabric, as its manager shows them, in one request where the manager has such a list. " +
			"Machines that were taken apart are left out.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				Optional: true, MarkdownDescription: "Only machines of this name.", Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"mac": schema.StringAttribute{
				Optional: true, CustomType: value.MACType{},
				MarkdownDescription: "Only machines with this MAC address, in any spelling. Not every manager tells addresses.",
			},
			"machines": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The machines, by name.",
				NestedObject:        schema.NestedAttributeObject{Attributes: fabricvalue.MachineAttributes()},
			},
		},
	}
}

// keep returns the machines that the filter lets through.
func (m model) keep(all []fabric.Machine) []fabric.Machine {
	out := make([]fabric.Machine, 0, len(all))

	for _, one := range all {
		if (m.Name.IsNull() || m.Name.ValueString() == one.Name) && (m.MAC.IsNull() || fabricvalue.HasMAC(one, m.MAC)) {
			out = append(out, one)
		}
	}

	return out
}
