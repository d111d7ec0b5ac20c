// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// ValidateConfig implements [resource.ResourceWithValidateConfig].
func (r *hostResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model

	resp.Diagnostics.Append(load(ctx, req.Config, req.Config.Schema.Type(), req.Config.Raw, &config)...)

	if !resp.Diagnostics.HasError() {
		config.validate(ctx, &resp.Diagnostics)
	}
}

// validate holds the rules between attributes. It passes over what is not known yet; the
// verbs ask again before their first request.
func (m model) validate(ctx context.Context, diags *diag.Diagnostics) {
	m.validateImage(ctx, diags)
	m.validateAccess(ctx, diags)

	off := value.Known(m.Online) && !m.Online.ValueBool()
	if off && m.DisablePowerOff.ValueBool() {
		diags.AddAttributeError(path.Root("disable_power_off"), "Host "+m.label()+" cannot be off", "disable_power_off is set, so online must not be false.")
	}

	if m.ExternallyProvisioned.ValueBool() && (!m.Image.IsNull() || !m.CustomDeploy.IsNull()) {
		diags.AddAttributeError(path.Root("externally_provisioned"), "Host "+m.label()+" has an image and is externally provisioned", "A machine that somebody else provisioned gets no image from here. Leave out one of the two.")
	}

	for key, text := range value.GoMap(m.PhaseTimeouts) {
		if _, err := value.ParseDuration(text); err != nil {
			diags.AddAttributeError(path.Root("phase_timeouts").AtMapKey(key), "Invalid duration", sentence(err))
		}
	}
}

func (m model) validateImage(ctx context.Context, diags *diag.Diagnostics) {
	if value.Known(m.Image) && !value.HasUnknown(m.Image) {
		if i := m.image(ctx, diags); i != nil {
			for _, p := range i.Validate() {
				diags.AddAttributeError(pathImage.AtName(p.Path), "Invalid image of host "+m.label(), sentenceOf(p.Text))
			}

			if i.IsLiveISO() {
				m.validateLiveISO(ctx, diags)
			}
		}
	}

	if value.Known(m.RootDeviceHints) && !value.HasUnknown(m.RootDeviceHints) {
		if h := m.hints(ctx, diags); h != nil {
			for _, p := range h.Validate() {
				diags.AddAttributeError(path.Root("root_device_hints").AtName(p.Path), "Invalid root device hint of host "+m.label(), sentenceOf(p.Text))
			}
		}
	}

	if i, ok := read[deployImageModel](ctx, m.DeployImage, diags); ok && value.Known(i.RamdiskURL) && i.KernelURL.IsNull() {
		diags.AddAttributeError(path.Root("deploy_image").AtName("ramdisk_url"), "Ramdisk without a kernel", "Give kernel_url, too.")
	}
}

func (m model) validateLiveISO(_ context.Context, diags *diag.Diagnostics) {
	if !m.RootDeviceHints.IsNull() {
		diags.AddAttributeWarning(path.Root("root_device_hints"), "Root device hints of host "+m.label()+" have no effect", "A "+image.LiveISO+" image is never written to a disk.")
	}

	if !m.CustomDeploy.IsNull() {
		diags.AddAttributeError(path.Root("custom_deploy"), "Host "+m.label()+" has two ways to deploy", "A "+image.LiveISO+" image and custom_deploy exclude each other.")
	}
}

// validateAccess holds the rules between the BMC address and other attributes.
func (m model) validateAccess(ctx context.Context, diags *diag.Diagnostics) {
	b, ok := read[bmcModel](ctx, m.BMC, diags)
	if !ok || !value.Known(b.Address) {
		return
	}

	a, err := access.Parse(b.Address.ValueString())
	if err != nil {
		return // the attribute's own validator says so
	}

	if !a.SupportsSecureBoot && m.BootMode.ValueString() == "UEFISecureBoot" {
		diags.AddAttributeError(path.Root("boot_mode"), "Host "+m.label()+" cannot switch secure boot", "BMC addresses with the scheme "+a.Scheme+" do not support secure boot.")
	}

	disabled := m.InspectionMode.ValueString() == "disabled"
	if m.BootMACAddress.IsNull() && (a.NeedsMAC || disabled && a.Driver != "fake-hardware") && !m.ExternallyProvisioned.ValueBool() {
		diags.AddAttributeError(pathBootMAC, "Host "+m.label()+" needs a boot MAC address", "Without inspection, and with "+a.Scheme+" addresses that boot over the network, nothing else tells it.")
	}

	if m.InspectionMode.ValueString() == "fast" && a.Driver == "ipmi" {
		diags.AddAttributeError(path.Root("inspection_mode"), "Host "+m.label()+" cannot be inspected by its BMC", "fast inspection needs a Redfish address.")
	}

	if m.Image.IsNull() || a.SupportsISO {
		return
	}

	if i := m.image(ctx, diags); i != nil && i.IsLiveISO() && !a.SupportsISO {
		diags.AddAttributeError(pathImage.AtName("format"), "Host "+m.label()+" cannot boot an ISO", "BMC addresses with the scheme "+a.Scheme+" have no virtual media; use a "+"redfish-virtualmedia, idrac-virtualmedia or redfish-uefihttp address.")
	}
}
