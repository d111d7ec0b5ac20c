// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// reprovision names the changes that overwrite the disk of a host which runs; nil where
// none does, or where a value is not known yet.
func (m model) reprovision(ctx context.Context, state, config model, d host.Defaults, diags *diag.Diagnostics) []string {
	if !state.isProvisioned() && !state.lost() || state.Applied.IsNull() || m.ExternallyProvisioned.ValueBool() {
		return nil
	}

	if m.Image.IsNull() && m.CustomDeploy.IsNull() {
		return nil // vacated, see price
	}

	a, triggers := state.appliedOf(ctx, diags)
	w := m.wanted(ctx, &config, d, diags)

	if m.keepsWriteOnlyData(state) {
		w.Reprovision.On = slices.DeleteFunc(slices.Clone(w.Reprovision.On), func(key string) bool { return key == host.OnUserData })
	}

	reasons := host.Differences(a, triggers, w)

	// An unknown value may turn out as any: the plan says so, apply decides.
	open := map[string]bool{
		host.OnImageURL: value.HasUnknown(m.Image), host.OnUserData: m.UserData.IsUnknown(), host.OnNetworkData: m.NetworkData.IsUnknown(),
		host.OnMetaData: value.HasUnknown(m.MetaData), "reprovision_triggers": value.HasUnknown(m.ReprovisionTriggers),
	}

	for _, key := range host.ReprovisionKeys {
		if open[key] && slices.Contains(w.Reprovision.On, key) && !slices.Contains(reasons, key) {
			reasons = append(reasons, key)
		}
	}

	return reasons
}

// price warns of what an update does to a machine that runs. Each warning names its host
// in the summary, because Terraform folds equal summaries. It returns what overwrites the disk.
func (m model) price(ctx context.Context, state, config model, d host.Defaults, goal host.Goal, diags *diag.Diagnostics) []string {
	name := m.label()
	reasons := m.reprovision(ctx, state, config, d, diags)

	switch {
	case len(reasons) > 0:
		m.priceOfDisk(ctx, state, reasons, diags)
	case state.lost() || state.IronicState.IsNull() && goal == host.ExternallyProvisioned:
		diags.AddWarning("Host "+name+" will be enrolled again", "Its node is gone from Ironic. It is registered under the same UUID and adopted; the disk is not touched.")
	case goal == host.Available && state.isProvisioned() && !m.left(ctx, state, diags):
		if a, _ := state.appliedOf(ctx, diags); a.ConfigSHA256 == "" && a.Image != nil {
			diags.AddAttributeError(pathImage, "Host "+name+" was not deployed by this provider", "The configuration has no image, and something runs on the machine. "+
				"A machine that somebody else deployed is not undeployed; give the image that runs, or set externally_provisioned = true.")

			return nil
		}

		if m.Reprovision.ValueString() == "deny" {
			diags.AddAttributeError(path.Root("reprovision"), "Host "+name+" may not be undeployed", "The image was taken out of the configuration, and reprovision is \"deny\".")

			return nil
		}

		diags.AddWarning("Host "+name+" will be undeployed", "The image was taken out of the configuration: the machine is cleaned (automated_cleaning_mode = \""+m.AutomatedCleaningMode.ValueString()+"\") and becomes available.")
	case goal == host.Provisioned && state.ExternallyProvisioned.ValueBool():
		diags.AddWarning("Host "+name+" is taken over as provisioned", "externally_provisioned was true. What runs on the machine is recorded as the image in the configuration; nothing is deployed.")
	case goal == host.Provisioned && !state.isProvisioned():
		diags.AddWarning("Host "+name+" will be deployed", "It is "+first(state.ProvisioningState.ValueString(), "not known")+" and becomes provisioned; its disk is overwritten.")
	}

	m.priceOfData(state, reasons, diags)

	if !m.RebootTrigger.Equal(state.RebootTrigger) && !m.RebootTrigger.IsNull() && m.Online.ValueBool() && len(reasons) == 0 {
		diags.AddWarning("Host "+name+" will be rebooted", "reboot_trigger changed; the reboot is "+m.RebootMode.ValueString()+".")
	}

	if !m.InspectTrigger.Equal(state.InspectTrigger) && !m.InspectTrigger.IsNull() && !state.isProvisioned() {
		diags.AddWarning("Host "+name+" will be inspected again", "inspect_trigger changed; the machine boots a ramdisk.")
	}

	return reasons
}

func (m model) priceOfDisk(ctx context.Context, state model, reasons []string, diags *diag.Diagnostics) {
	name := m.label()
	why := "changed: " + strings.Join(reasons, ", ")
	a, _ := state.appliedOf(ctx, diags)

	switch {
	case m.Reprovision.ValueString() == "deny":
		diags.AddAttributeError(path.Root("reprovision"), "Disk of host "+name+" may not be overwritten", "This change would deploy the host again ("+why+"), and reprovision is \"deny\".")
	case a.ConfigSHA256 == "" && !slices.Contains(reasons, "reprovision_triggers"):
		diags.AddAttributeError(pathImage, "Image of host "+name+" was not deployed by this provider", "The configuration has another image than the one that runs ("+why+
			"). A machine that somebody else deployed is overwritten only when reprovision_triggers asks for it; else give the image that runs.")
	default:
		diags.AddWarning("Disk of host "+name+" will be overwritten", "The host is deployed again in place ("+why+"; reprovision_method = \""+m.ReprovisionMethod.ValueString()+"\").")
	}
}

// priceOfData says that a change of what only a deployment uses waits for the next one.
func (m model) priceOfData(state model, reasons []string, diags *diag.Diagnostics) {
	if !state.isProvisioned() || len(reasons) > 0 || state.Applied.IsNull() {
		return
	}

	var late []string

	for name, changed := range map[string]bool{
		"user_data":    !m.UserData.Equal(state.UserData) && !state.UserData.IsNull() || !m.UserDataWOVersion.Equal(state.UserDataWOVersion) && !state.UserDataWOVersion.IsNull(),
		"network_data": !m.NetworkData.Equal(state.NetworkData) && !state.NetworkData.IsNull(), "vendor_data": !m.VendorData.Equal(state.VendorData) && !state.VendorData.IsNull(),
		"meta_data": !m.MetaData.Equal(state.MetaData) && !state.MetaData.IsNull(), "root_device_hints": !m.RootDeviceHints.Equal(state.RootDeviceHints), "boot_mode": !m.BootMode.Equal(state.BootMode),
		"instance_uuid": !m.InstanceUUID.Equal(state.InstanceUUID),
	} {
		if changed {
			late = append(late, name)
		}
	}

	if slices.Sort(late); len(late) > 0 {
		diags.AddWarning("Change of host "+m.label()+" waits for its next deployment", strings.Join(late, ", ")+" is used only when the host is deployed. To deploy it now, name it in reprovision_on or change reprovision_triggers.")
	}
}

// refuse refuses transitions that upstream refuses, too. It is asked at plan, and at apply
// again for what was not known then.
func (m model) refuse(ctx context.Context, state model, diags *diag.Diagnostics) {
	now, before := m.ExternallyProvisioned.ValueBool(), state.ExternallyProvisioned.ValueBool()

	a, _ := state.appliedOf(ctx, diags)
	others := a.ConfigSHA256 == "" && !state.Applied.IsNull() // deployed by somebody else: it may as well be called so

	if now && !before && !others && state.ProvisioningState.ValueString() != string(host.PhaseAvailable) && state.ProvisioningState.ValueString() != string(host.PhaseExternallyProvisioned) {
		diags.AddAttributeError(path.Root("externally_provisioned"), "Host "+m.label()+" cannot become externally provisioned", "That is possible only for a host that is available; this one is "+first(state.ProvisioningState.ValueString(), "gone")+".")
	}

	if before && !now && !m.ExternallyProvisioned.IsUnknown() && m.Image.IsNull() && m.CustomDeploy.IsNull() {
		diags.AddAttributeError(path.Root("externally_provisioned"), "Host "+m.label()+" would be wiped", "Without an image, a host that is no longer externally provisioned would be undeployed and cleaned. Give the image that runs on it, or delete the host with deletion_policy = \"detach\" and register it anew.")
	}

	if !m.InspectTrigger.Equal(state.InspectTrigger) && value.Known(m.InspectTrigger) && state.isProvisioned() {
		diags.AddAttributeError(path.Root("inspect_trigger"), "Host "+m.label()+" is provisioned", "A machine that runs cannot be inspected: that would boot a ramdisk on it.")
	}
}
