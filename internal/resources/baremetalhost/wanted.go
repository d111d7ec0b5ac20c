// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hintsvalue"
)

// wanted says what the user wants. Plan holds the values, config the write-only ones (null
// where there is no configuration: in Read and Delete), d the provider's defaults.
func (m model) wanted(ctx context.Context, config *model, d host.Defaults, diags *diag.Diagnostics) host.Wanted {
	w := host.Wanted{
		ID: m.ID.ValueString(), Namespace: m.Namespace.ValueString(), Name: m.Name.ValueString(), NodeName: m.NodeName.ValueString(), OwnerID: d.OwnerID,
		Description: m.Description.ValueString(), Labels: value.GoMap(m.Labels), Annotations: value.GoMap(m.Annotations),
		FailureDomain: m.FailureDomain.ValueString(), FabricMachineID: m.FabricMachineID.ValueString(),
		BMC:        m.bmc(ctx, config, d, diags),
		Interfaces: value.GoMap(m.Interfaces), BootMAC: m.BootMACAddress.Canonical(), Ports: m.ports(ctx, config, diags),
		BootMode: m.BootMode.ValueString(), Architecture: m.Architecture.ValueString(),
		CleaningMode: m.AutomatedCleaningMode.ValueString(), InspectionMode: m.InspectionMode.ValueString(), InspectTrigger: m.InspectTrigger.ValueString(),
		NetworkData: documentOf(m.PreNetworkData, diags), DeployImage: m.deployImage(ctx, d, diags), Properties: value.GoMap(m.Properties),
		Online: m.Online.ValueBool(), RebootTrigger: m.RebootTrigger.ValueString(), RebootMode: m.RebootMode.ValueString(),
		External: m.ExternallyProvisioned.ValueBool(), Image: m.image(ctx, diags), CustomDeploy: m.customDeploy(ctx, diags), RootHints: m.hints(ctx, diags),
		Config:       host.ConfigData{UserData: m.UserData.ValueString(), VendorData: documentOf(m.VendorData, diags), NetworkData: documentOf(m.NetworkData, diags), MetaData: value.GoMap(m.MetaData)},
		InstanceUUID: strings.ToLower(m.InstanceUUID.ValueString()),
		Reprovision: host.Reprovision{
			On: value.GoStrings(m.ReprovisionOn), TriggersSHA256: host.TriggersHash(value.GoMap(m.ReprovisionTriggers)),
			Method: m.ReprovisionMethod.ValueString(), Deny: m.Reprovision.ValueString() == "deny",
		},
		Deletion: host.Deletion{
			Policy: m.DeletionPolicy.ValueString(), Force: m.ForceDestroy.ValueBool(),
			PowerOff: m.PowerOffOnDestroy.ValueBool() && !m.DisablePowerOff.ValueBool(),
		},
		ProvisionAttempts: int(m.ProvisioningAttempts.ValueInt64()), PhaseTimeouts: phases(m.PhaseTimeouts),
		QueueTimeout: duration(m.QueueTimeout), ProvisioningLimit: d.ProvisioningLimit,
	}

	w.DisablePowerOff = m.DisablePowerOff.ValueBoolPointer()
	w.ConductorGroup, w.ResourceClass, w.Owner = optional(m.ConductorGroup), optional(m.ResourceClass), optional(m.Owner)

	if value.Known(m.Traits) {
		w.Traits = value.GoStrings(m.Traits)
	}

	if config != nil {
		if value.Known(config.UserDataWO) {
			w.Config.UserData = config.UserDataWO.ValueString()
		}

		if i, ok := read[imageModel](ctx, config.Image, diags); ok {
			w.PullSecret = i.PullSecretWO.ValueString()
		}
	}

	return w
}

// optional is nil where the user said nothing.
func optional(s types.String) *string {
	if !value.Known(s) {
		return nil
	}

	return s.ValueStringPointer()
}

func (m model) bmc(ctx context.Context, config *model, d host.Defaults, diags *diag.Diagnostics) host.BMC {
	b, ok := read[bmcModel](ctx, m.BMC, diags)
	if !ok {
		return host.BMC{}
	}

	out := host.BMC{
		Username: b.Username.ValueString(), Password: b.Password.ValueString(),
		DisableCertificateVerification: b.DisableVerify.ValueBool(), VerifyCA: b.VerifyCA.ValueString(), DriverInfo: value.GoMap(b.DriverInfo),
	}

	a, err := access.Parse(b.Address.ValueString())
	if err != nil && value.Known(b.Address) {
		diags.AddAttributeError(pathAddress, "Invalid BMC address", sentence(err))
	}

	out.Access = a

	if config != nil {
		if c, ok := read[bmcModel](ctx, config.BMC, diags); ok && value.Known(c.PasswordWO) {
			out.Password = c.PasswordWO.ValueString()
		}
	}

	fallback := d.Credentials[strings.ToLower(a.Host)]
	if out.Username == "" {
		out.Username = d.UsernameFor(b.Address.ValueString())
	}

	if out.Password == "" && (fallback.Username == "" || fallback.Username == out.Username) {
		out.Password = first(fallback.Password, d.Password)
	}

	return out
}

func first(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}

	return ""
}

func (m model) image(ctx context.Context, diags *diag.Diagnostics) *image.Image {
	i, ok := read[imageModel](ctx, m.Image, diags)
	if !ok {
		return nil
	}

	return &image.Image{URL: i.URL.ValueString(), Checksum: i.Checksum.ValueString(), ChecksumType: i.ChecksumType.ValueString(), Format: i.Format.ValueString()}
}

func (m model) customDeploy(ctx context.Context, diags *diag.Diagnostics) *host.CustomDeploy {
	c, ok := read[customDeployModel](ctx, m.CustomDeploy, diags)
	if !ok {
		return nil
	}

	args := map[string]any{}
	for key, v := range value.GoMap(c.Args) {
		args[key] = v
	}

	return &host.CustomDeploy{Method: c.Method.ValueString(), Args: args, Priority: int(c.Priority.ValueInt64())}
}

func (m model) hints(ctx context.Context, diags *diag.Diagnostics) *image.RootHints {
	h, ok := read[hintsvalue.Model](ctx, m.RootDeviceHints, diags)
	if !ok {
		return nil
	}

	return h.Hints()
}

// ports are the ports that the user lists; nil where the list is computed.
func (m model) ports(ctx context.Context, config *model, diags *diag.Diagnostics) []ironic.Port {
	if !value.Known(m.Ports) || config == nil || config.Ports.IsNull() {
		return nil
	}

	var list []portModel

	diags.Append(m.Ports.ElementsAs(ctx, &list, false)...)

	out := make([]ironic.Port, 0, len(list))
	for _, p := range list {
		out = append(out, ironic.Port{
			Address: p.MAC.Canonical(), PXEEnabled: p.PXEEnabled.ValueBool(), PhysicalNetwork: p.PhysicalNetwork.ValueString(), LocalLink: value.GoMap(p.LocalLink),
		})
	}

	return out
}

func (m model) deployImage(ctx context.Context, d host.Defaults, diags *diag.Diagnostics) host.DeployImage {
	i, ok := read[deployImageModel](ctx, m.DeployImage, diags)
	if !ok {
		return host.DeployImage{KernelURL: d.DeployKernelURL, RamdiskURL: d.DeployRamdiskURL, ISOURL: d.DeployISOURL}
	}

	return host.DeployImage{KernelURL: i.KernelURL.ValueString(), RamdiskURL: i.RamdiskURL.ValueString(), ISOURL: i.ISOURL.ValueString(), KernelAppendParams: i.KernelAppendParams.ValueString()}
}

func documentOf(d value.Document, diags *diag.Diagnostics) map[string]any {
	if !value.Known(d) {
		return nil
	}

	o, err := d.Object()
	if err != nil {
		diags.AddError("Invalid document", sentence(err)) // refused at plan where it was known then
	}

	return o
}

// phases maps the keys of phase_timeouts to phases.
func phases(m types.Map) map[host.Phase]time.Duration {
	keys := map[string]host.Phase{
		"register": host.PhaseRegistering, "inspect": host.PhaseInspecting, "prepare": host.PhasePreparing,
		"provision": host.PhaseProvisioning, "deprovision": host.PhaseDeprovisioning, "power": "power",
	}
	out := map[host.Phase]time.Duration{}

	for key, v := range value.GoMap(m) {
		if d, err := value.ParseDuration(v); err == nil {
			out[keys[key]] = d
		}
	}

	return out
}

func duration(s types.String) time.Duration {
	d, err := value.ParseDuration(s.ValueString())
	if err != nil {
		return 0
	}

	return d
}

// goal is the state that the host is to reach, as far as the configuration says.
func (m model) goal() host.Goal {
	switch {
	case m.ExternallyProvisioned.ValueBool():
		return host.ExternallyProvisioned
	case (!m.Image.IsNull() || !m.CustomDeploy.IsNull()) && (m.Online.ValueBool() || m.isProvisioned()):
		return host.Provisioned
	default:
		return host.Available
	}
}

// isProvisioned reports whether the state says that the host runs what was deployed on it.
func (m model) isProvisioned() bool {
	return m.ProvisioningState.ValueString() == string(host.PhaseProvisioned)
}

// lost reports whether the record of a machine that runs is gone from the far side.
func (m model) lost() bool { return m.IronicState.IsNull() && !m.Applied.IsNull() }

// consumed reports whether the state says that somebody else deploys on the host.
func (m model) consumed(ctx context.Context, diags *diag.Diagnostics) bool {
	c, ok := read[consumerModel](ctx, m.Consumer, diags)

	return ok && c.Kind.ValueString() != "host" && m.Image.IsNull() && m.CustomDeploy.IsNull()
}

// plainPassword reports whether the configuration gives the BMC's password the plain way.
func (m model) plainPassword(ctx context.Context) bool {
	b, ok := read[bmcModel](ctx, m.BMC, &diag.Diagnostics{})

	return ok && !b.Password.IsNull()
}
