// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpudrain

import (
	"cmp"
	"context"
	"regexp"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/actionvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

var (
	_ action.ActionWithConfigValidators = (*drainAction)(nil)
	_ action.ActionWithValidateConfig   = (*drainAction)(nil)
)

// model is the action as Terraform sees it.
type model struct {
	Node     types.Object `tfsdk:"node"`
	DeviceID types.String `tfsdk:"device_id"`
	PCIBusID types.String `tfsdk:"pci_bus_id"`
	Force    types.Bool   `tfsdk:"force"`
	Undrain  types.Bool   `tfsdk:"undrain"`
	Remove   types.Bool   `tfsdk:"remove"`
	Timeout  types.String `tfsdk:"timeout"`
}

// busPattern takes the kernel's form of a PCI address, and nvidia-smi's.
var busPattern = regexp.MustCompile(`^[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]$`)

// label is how the configuration names the GPU.
func (m model) label() string { return cmp.Or(m.DeviceID.ValueString(), m.PCIBusID.ValueString()) }

func (m model) limit() time.Duration {
	if d, err := value.ParseDuration(m.Timeout.ValueString()); err == nil { // the validator has spoken
		return d
	}

	return defaultTimeout
}

// Schema is what users write.
func (a *drainAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	flag := func(about string) schema.BoolAttribute {
		return schema.BoolAttribute{Optional: true, MarkdownDescription: about}
	}

	resp.Schema = schema.Schema{
		MarkdownDescription: "Takes one GPU of a host out of use without detaching it: persistence mode off, no new processes, and a look whether anybody still uses " +
			"it. A GPU that is in use is refused, and nothing is changed. Destroying or shrinking a `metal3_composable_gpu` does the same by itself, before it detaches.",
		Attributes: map[string]schema.Attribute{
			"node": schema.SingleNestedAttribute{
				Required: true, MarkdownDescription: "Connection to the host that has the GPU.", Validators: connectionvalue.Validators(),
				Attributes: connectionvalue.ActionAttributes(remote.SSH, remote.Local),
			},
			"device_id": schema.StringAttribute{
				Optional: true, MarkdownDescription: "UUID of the GPU, as `nvidia-smi -L` and `device_id` of a composable GPU have it.",
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"pci_bus_id": schema.StringAttribute{
				Optional: true, MarkdownDescription: "PCI address of the GPU, such as `0000:1f:00.0`. Give it or `device_id`; both: the address counts only " +
					"where the UUID is not seen.",
				Validators: []validator.String{stringvalidator.RegexMatches(busPattern, "must be a PCI address such as 0000:1f:00.0")},
			},
			"force":   flag("Also while processes use the GPU: they go on, and no new ones come. Default: `false`."),
			"undrain": flag("The other way: let the GPU take processes again. Persistence mode stays off. Default: `false`."),
			"remove":  flag("Remove the GPU from the kernel, too, once nobody uses it. It comes back when the PCI bus is scanned again. Default: `false`."),
			"timeout": schema.StringAttribute{
				Optional: true, MarkdownDescription: "How long it may take, such as `5m`. Default: `5m`.", Validators: []validator.String{value.Duration()},
			},
		},
	}
}

// ConfigValidators implement action.ActionWithConfigValidators.
func (a *drainAction) ConfigValidators(context.Context) []action.ConfigValidator {
	return []action.ConfigValidator{actionvalidator.AtLeastOneOf(path.MatchRoot("device_id"), path.MatchRoot("pci_bus_id"))}
}

// ValidateConfig refuses opposites.
func (a *drainAction) ValidateConfig(ctx context.Context, req action.ValidateConfigRequest, resp *action.ValidateConfigResponse) {
	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if !m.Undrain.ValueBool() {
		return
	}

	for name, on := range map[string]types.Bool{"remove": m.Remove, "force": m.Force} {
		if on.ValueBool() {
			resp.Diagnostics.AddAttributeError(path.Root(name), "Opposite wishes", "undrain gives a GPU back, which "+name+" does not go with: remove one of them.")
		}
	}
}
