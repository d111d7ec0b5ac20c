// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hintsvalue"
)

// drift brings the attributes that users set in line with what the far side says, so that
// a plan shows what was changed by hand. What only the user knows stays.
func (m *model) drift(ctx context.Context, s host.Seen, diags *diag.Diagnostics) {
	n, j := s.Node, s.Journal

	if j.Known() {
		m.Labels = follow(m.Labels, j.Labels)
		m.Annotations = follow(m.Annotations, j.Annotations)
		m.FailureDomain = value.String(j.FailureDomain)
	}

	m.Description = value.String(n.Description)

	// A node that was renamed by hand, or moved to another name.
	if m.NodeName.ValueString() != n.Name && n.Name != "" {
		m.Namespace, m.Name = splitName(n.Name, m.Namespace)
	}

	if t, lent := s.Tenancy(); n.AutomatedClean != nil && (!lent || t.CleaningMode == "") {
		m.AutomatedCleaningMode = types.StringValue(map[bool]string{true: "metadata", false: "disabled"}[*n.AutomatedClean])
	}

	if n.DisablePowerOff != nil {
		m.DisablePowerOff = types.BoolValue(*n.DisablePowerOff)
	}

	m.driftBMC(ctx, s, diags)
	m.Interfaces = followKeys(m.Interfaces, n.Interfaces)
	m.Properties = followKeys(m.Properties, stringsOf(n.Properties))
	m.driftBootMode(n)
	m.driftPower(ctx, s, diags)
	m.driftImage(ctx, s, diags)
}

// follow keeps an empty map of the user's as it is where the far side has nothing.
func follow(have types.Map, far map[string]string) types.Map {
	if len(far) == 0 && len(value.GoMap(have)) == 0 {
		return have
	}

	return value.StringMap(far)
}

// followKeys compares only the keys that the user names.
func followKeys(have types.Map, far map[string]string) types.Map {
	keys := value.GoMap(have)
	if len(keys) == 0 {
		return have
	}

	out := map[string]string{}

	for key := range keys {
		if v, ok := far[key]; ok && v != "" {
			out[key] = v
		}
	}

	if maps.Equal(out, keys) {
		return have
	}

	return value.StringMapOrEmpty(out)
}

func stringsOf(m map[string]any) map[string]string {
	out := map[string]string{}

	for key, v := range m {
		if s, ok := v.(string); ok {
			out[key] = s
		}
	}

	return out
}

// splitName is namespace and name of a node's name; a plain name leaves the namespace alone.
func splitName(node string, namespace types.String) (types.String, types.String) {
	if ns, name, ok := strings.Cut(node, "~"); ok {
		return types.StringValue(ns), types.StringValue(name)
	}

	return namespace, types.StringValue(node)
}

// driftBMC compares the address by what Ironic was told, so that spelling makes no difference.
func (m *model) driftBMC(ctx context.Context, s host.Seen, diags *diag.Diagnostics) {
	b, ok := read[bmcModel](ctx, m.BMC, diags)
	if !ok {
		return
	}

	n, before := s.Node, b
	a, err := access.Parse(b.Address.ValueString())

	if err != nil || a.Driver != n.Driver || !sameInfo(a.DriverInfo, n.DriverInfo) {
		if address, err := access.Address(n.Driver, n.Interfaces["boot"], n.DriverInfo); err == nil {
			b.Address = types.StringValue(address)
		}
	}

	for key, v := range n.DriverInfo {
		if user, ok := v.(string); ok && strings.HasSuffix(key, "_username") && value.Known(b.Username) {
			b.Username = value.String(user)
		}
	}

	info := followKeys(b.DriverInfo, stringsOf(withoutMasks(n.DriverInfo, value.GoMap(b.DriverInfo))))
	b.DriverInfo = info

	if !b.Address.Equal(before.Address) || !b.Username.Equal(before.Username) || !info.Equal(before.DriverInfo) {
		m.BMC = object(ctx, m.BMC, b, diags)
	}
}

// withoutMasks puts the values that the user gave where Ironic shows only a mask.
func withoutMasks(far map[string]any, mine map[string]string) map[string]any {
	out := maps.Clone(far)
	for key, v := range mine {
		if far[key] == "******" {
			out[key] = v
		}
	}

	return out
}

func sameInfo(want, have map[string]any) bool {
	for key, v := range want {
		if !host.SameValue(v, have[key]) {
			return false
		}
	}

	return true
}

// driftBootMode reads the boot mode of a machine that does not run; one that runs has it
// from its deployment, and a change waits for the next.
func (m *model) driftBootMode(n ironic.Node) {
	list, _ := n.Properties["capabilities"].(string)
	if !strings.Contains(list, "boot_mode:") || n.ProvisionState == ironic.Active {
		return
	}

	entries := strings.Split(strings.ReplaceAll(list, " ", ""), ",")

	switch {
	case slices.Contains(entries, "boot_mode:bios"):
		m.BootMode = types.StringValue("legacy")
	case slices.Contains(entries, "secure_boot:true"):
		m.BootMode = types.StringValue("UEFISecureBoot")
	case slices.Contains(entries, "boot_mode:uefi"):
		m.BootMode = types.StringValue("UEFI")
	}
}

// driftPower shows in online what the machine's power is, in a state in which it stays.
func (m *model) driftPower(ctx context.Context, s host.Seen, diags *diag.Diagnostics) {
	on := s.PoweredOn()
	stays := s.Node.ProvisionState == ironic.Active || s.ProvisioningState() == string(host.PhaseAvailable)

	if on != nil && stays && s.Node.TargetPowerState == "" && !m.consumed(ctx, diags) {
		m.Online = types.BoolValue(*on)
	}
}

// driftImage shows an image that somebody else put on the machine.
func (m *model) driftImage(ctx context.Context, s host.Seen, diags *diag.Diagnostics) {
	i, ok := read[imageModel](ctx, m.Image, diags)
	if !ok || !s.Redeployed() {
		return // a difference to the configuration is planned by what was applied
	}

	far, ok := image.FromInstanceInfo(s.Node.InstanceInfo)
	if !ok {
		return
	}

	mine := image.Image{URL: far.URL, Checksum: i.Checksum.ValueString(), ChecksumType: i.ChecksumType.ValueString(), Format: i.Format.ValueString()}
	if image.Same(mine, far) { // only the URL differs: the rest stays as the user writes it
		far = mine
	}

	i.URL, i.Checksum, i.ChecksumType, i.Format = types.StringValue(far.URL), value.String(far.Checksum), value.String(far.ChecksumType), value.String(far.Format)
	m.Image = object(ctx, m.Image, i, diags)
}

// adopt fills a model that an import began: everything that the far side knows, and the
// schema's defaults for the rest.
func (m *model) adopt(ctx context.Context, s host.Seen, d host.Defaults, diags *diag.Diagnostics) {
	n, j := s.Node, s.Journal

	m.Namespace, m.Name = splitName(n.Name, types.StringValue(d.Namespace))
	if j.Known() && host.NodeName(j.Namespace, j.Name) == n.Name {
		m.Namespace, m.Name = types.StringValue(j.Namespace), types.StringValue(j.Name)
	}

	if m.Name.ValueString() == "" {
		m.Name = types.StringValue(n.UUID)
	}

	m.NodeName = value.String(n.Name)
	m.adoptBMC(ctx, s, d, diags)
	m.adoptDeployment(ctx, s, diags)

	for to, v := range map[*types.String]string{
		&m.BootMode: "UEFI", &m.AutomatedCleaningMode: "metadata", &m.InspectionMode: "agent", &m.Reprovision: "allow", &m.ReprovisionMethod: "redeploy",
		&m.RebootMode: "soft", &m.DeletionPolicy: host.PolicyDeprovision, &m.OnCreateFailure: "taint", &m.RefreshDepth: "list",
	} {
		*to = types.StringValue(v)
	}

	for to, v := range map[*types.Bool]bool{
		&m.Online: true, &m.DisablePowerOff: false, &m.DeletionProtection: false, &m.ForceDestroy: false, &m.PowerOffOnDestroy: true,
	} {
		*to = types.BoolValue(v)
	}

	if n.Interfaces["inspect"] == "no-inspect" && n.InspectionFinishedAt.IsZero() {
		m.InspectionMode = types.StringValue("disabled")
	}

	if n.Protected && n.ProtectedReason == host.ProtectedReason {
		m.Reprovision = types.StringValue("deny")
	}

	m.ProvisioningAttempts = types.Int64Value(2)
	m.ReprovisionOn = types.SetValueMust(types.StringType, []attr.Value{
		types.StringValue(host.OnImageURL), types.StringValue(host.OnImageChecksum), types.StringValue(host.OnImageFormat),
	})
	m.ExternallyProvisioned = types.BoolValue(s.ProvisioningState() == string(host.PhaseExternallyProvisioned))

	if len(n.NetworkData) > 0 {
		m.PreNetworkData = documentValue(n.NetworkData)
	}
}

// adoptBMC reads the way to the BMC from the record. A user name that the provider block
// gives for this BMC is no setting of the host's own.
func (m *model) adoptBMC(ctx context.Context, s host.Seen, d host.Defaults, diags *diag.Diagnostics) {
	n := s.Node

	address, err := access.Address(n.Driver, n.Interfaces["boot"], n.DriverInfo)
	if err != nil {
		diags.AddError("Host "+n.Name+" has a driver that this resource does not know", sentence(err))

		return
	}

	b := bmcModel{Address: types.StringValue(address), DriverInfo: types.MapNull(types.StringType)}

	for key, v := range n.DriverInfo {
		user, ok := v.(string)

		switch {
		case ok && strings.HasSuffix(key, "_username"):
			if user != d.UsernameFor(address) {
				b.Username = value.String(user)
			}
		case strings.HasSuffix(key, "_verify_ca") && v == false:
			b.DisableVerify = types.BoolValue(true)
		case ok && strings.HasSuffix(key, "_verify_ca"):
			b.VerifyCA = value.String(user)
		}
	}

	m.BMC = object(ctx, m.BMC, b, diags)
}

// adoptDeployment takes over what runs on an imported host. The claim is taken over, too:
// this resource is now who deploys there. A host that a cluster deploys on keeps its consumer.
func (m *model) adoptDeployment(ctx context.Context, s host.Seen, diags *diag.Diagnostics) {
	a := s.Applied()
	if s.Node.ProvisionState != ironic.Active || (s.Journal.Consumer != nil && s.Journal.Consumer.ID == s.Node.InstanceUUID) {
		return
	}

	if a.Image != nil {
		m.Image = object(ctx, m.Image, imageModel{
			URL: types.StringValue(a.Image.URL), Checksum: value.String(a.Image.Checksum), ChecksumType: value.String(a.Image.ChecksumType), Format: value.String(a.Image.Format),
		}, diags)
	}

	if a.CustomDeploy != "" && a.CustomDeploy != "unknown" {
		m.CustomDeploy = object(ctx, m.CustomDeploy, customDeployModel{Method: types.StringValue(a.CustomDeploy), Args: types.MapNull(types.StringType)}, diags)
	}

	if len(a.RootHints) > 0 {
		h, _ := image.HintsFromIronic(a.RootHints)
		m.RootDeviceHints = object(ctx, m.RootDeviceHints, hintsvalue.Model{
			DeviceName: value.String(h.DeviceName), HCTL: value.String(h.HCTL), Model: value.String(h.Model), Vendor: value.String(h.Vendor),
			SerialNumber: value.String(h.SerialNumber), MinSizeGigabytes: types.Int64PointerValue(h.MinSizeGigabytes), WWN: value.String(h.WWN),
			WWNWithExtension: value.String(h.WWNWithExtension), WWNVendorExtension: value.String(h.WWNVendorExtension), Rotational: types.BoolPointerValue(h.Rotational),
		}, diags)
	}

	if a.BootMode != "" {
		m.BootMode = types.StringValue(a.BootMode)
	}
}
