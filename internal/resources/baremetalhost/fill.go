// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hardwarevalue"
)

// put sets a computed value. After an apply only what was planned as unknown may change:
// Terraform calls anything else inconsistent. In a refresh everything follows the far side.
func put[T attr.Value](refresh bool, to *T, v T) {
	if refresh || (*to).IsUnknown() {
		*to = v
	}
}

// fill copies what the far side says into the computed attributes.
func (m *model) fill(ctx context.Context, s host.Seen, endpoint string, refresh bool, diags *diag.Diagnostics) {
	n, j := s.Node, s.Journal

	if n.UUID != "" {
		put(refresh, &m.ID, types.StringValue(n.UUID))
	}

	put(refresh, &m.NodeName, value.String(n.Name))
	put(refresh, &m.Endpoint, value.String(endpoint))
	put(refresh, &m.ProvisioningState, value.String(s.ProvisioningState()))
	put(refresh, &m.OperationalStatus, value.String(s.OperationalStatus()))
	put(refresh, &m.ErrorType, value.String(s.ErrorType()))
	put(refresh, &m.ErrorMessage, value.String(s.ErrorMessage()))
	put(refresh, &m.PoweredOn, value.Bool(s.PoweredOn()))
	put(refresh, &m.Health, value.String(n.Health))
	put(refresh, &m.IronicState, value.String(string(n.ProvisionState)))
	put(refresh, &m.Driver, value.String(n.Driver))
	put(refresh, &m.Unhealthy, value.String(j.UnhealthyReason()))
	put(refresh, &m.Conditions, value.StringMap(s.Conditions()))
	put(refresh, &m.Applied, m.applied(ctx, s, diags))
	put(refresh, &m.Consumer, m.consumer(ctx, s, diags))
	put(refresh, &m.ConductorGroup, value.String(n.ConductorGroup))
	put(refresh, &m.ResourceClass, value.String(n.ResourceClass))
	put(refresh, &m.Owner, value.String(n.Owner))
	put(refresh, &m.Traits, value.StringSet(n.Traits))
	put(refresh && !value.Known(m.InstanceUUID), &m.InstanceUUID, value.String(n.InstanceUUID))

	if !value.Known(m.InstanceUUID) {
		m.InstanceUUID = types.StringValue(host.Claim(m.Namespace.ValueString(), m.Name.ValueString()))
	}

	cpu, _ := n.Properties["cpu_arch"].(string)
	put(refresh, &m.Architecture, value.String(cpu))
	// Without one of the user's it is what the inventory said, which the journal does not repeat.
	put(refresh && j.FabricMachineID != "", &m.FabricMachineID, value.String(j.FabricMachineID))
	m.fillPorts(ctx, s, refresh, diags)

	if m.Hardware.IsUnknown() {
		m.Hardware = hardwarevalue.Null()
	}
}

// fillHardware takes over an inventory, and what follows from it where the user says nothing.
func (m *model) fillHardware(raw []byte, force bool) []string {
	h, warnings := hardware.Decode(raw)
	put(force, &m.Hardware, hardwarevalue.Object(h))

	if !value.Known(m.BootMACAddress) && h.BootMAC() != "" {
		m.BootMACAddress = value.NewMAC(h.BootMAC())
	}

	if !value.Known(m.FabricMachineID) {
		m.FabricMachineID = value.String(h.SystemUUID)
	}

	if !value.Known(m.Architecture) {
		m.Architecture = value.String(h.CPU.Arch)
	}

	return warnings
}

func (m *model) applied(ctx context.Context, s host.Seen, diags *diag.Diagnostics) types.Object {
	a := s.Applied()
	if a.Image == nil && a.CustomDeploy == "" {
		return types.ObjectNull(m.Applied.AttributeTypes(ctx))
	}

	kinds := m.Applied.AttributeTypes(ctx)
	imageKinds := kinds["image"].(types.ObjectType).AttrTypes //nolint:forcetypeassert // our own schema

	img := types.ObjectNull(imageKinds)
	if a.Image != nil {
		img = object(ctx, img, appliedImageModel{
			value.String(a.Image.URL), value.String(a.Image.Checksum), value.String(a.Image.ChecksumType), value.String(a.Image.Format),
		}, diags)
	}

	hints := map[string]string{}
	for key, v := range a.RootHints {
		hints[key] = fmt.Sprint(v)
	}

	return object(ctx, m.Applied, appliedModel{
		Image: img, CustomDeploy: value.String(a.CustomDeploy), BootMode: value.String(a.BootMode), RootHints: value.StringMap(hints),
		UserData: value.String(a.UserData), NetworkData: value.String(a.NetworkData), MetaData: value.String(a.MetaData),
		Config: value.String(a.ConfigSHA256), Triggers: value.String(s.Journal.TriggersSHA256),
	}, diags)
}

// appliedOf is the way back, for the plan.
func (m model) appliedOf(ctx context.Context, diags *diag.Diagnostics) (a host.Applied, triggers string) {
	v, ok := read[appliedModel](ctx, m.Applied, diags)
	if !ok {
		return a, ""
	}

	if i, ok := read[appliedImageModel](ctx, v.Image, diags); ok {
		a.Image = &host.AppliedImage{URL: i.URL.ValueString(), Checksum: i.Checksum.ValueString(), ChecksumType: i.ChecksumType.ValueString(), Format: i.Format.ValueString()}
	}

	a.CustomDeploy, a.BootMode = v.CustomDeploy.ValueString(), v.BootMode.ValueString()
	a.UserData, a.NetworkData, a.MetaData = v.UserData.ValueString(), v.NetworkData.ValueString(), v.MetaData.ValueString()
	a.ConfigSHA256 = v.Config.ValueString()

	if hints := value.GoMap(v.RootHints); len(hints) > 0 {
		a.RootHints = map[string]any{}
		for key, h := range hints {
			a.RootHints[key] = h
		}
	}

	return a, v.Triggers.ValueString()
}

func (m *model) consumer(ctx context.Context, s host.Seen, diags *diag.Diagnostics) types.Object {
	c := s.ConsumerOf()
	if c == nil {
		return types.ObjectNull(m.Consumer.AttributeTypes(ctx))
	}

	// A claim that the user chose is this host's own, too.
	if c.Kind == "instance" && m.InstanceUUID.ValueString() == c.ID {
		c = &host.Consumer{Kind: "host", Name: m.Namespace.ValueString() + "/" + m.Name.ValueString(), ID: c.ID}
	}

	return object(ctx, m.Consumer, consumerModel{value.String(c.Kind), value.String(c.Name), value.String(c.ID)}, diags)
}

// fillPorts shows the ports in the user's order where the user lists them, else by address.
func (m *model) fillPorts(ctx context.Context, s host.Seen, refresh bool, diags *diag.Diagnostics) {
	if s.Ports == nil && value.Known(m.Ports) {
		return
	}

	if !refresh && !m.Ports.IsUnknown() && !m.BootMACAddress.IsUnknown() {
		return
	}

	var old []portModel
	if value.Known(m.Ports) {
		diags.Append(m.Ports.ElementsAs(ctx, &old, false)...)
	}

	order := func(mac string) int {
		return slices.IndexFunc(old, func(p portModel) bool { return p.MAC.Canonical() == mac })
	}

	ports := slices.Clone(s.Ports)
	slices.SortFunc(ports, func(a, b ironic.Port) int {
		if x, y := order(a.Address), order(b.Address); x >= 0 && y >= 0 && x != y {
			return x - y
		}

		return strings.Compare(a.Address, b.Address)
	})

	list := make([]portModel, 0, len(ports))
	for _, p := range ports {
		one := portModel{
			MAC: value.NewMAC(p.Address), PXEEnabled: types.BoolValue(p.PXEEnabled),
			PhysicalNetwork: value.String(p.PhysicalNetwork), LocalLink: value.StringMap(p.LocalLink),
		}

		if i := order(p.Address); i >= 0 {
			one.MAC = old[i].MAC // the user's spelling
		}

		list = append(list, one)
	}

	v, d := types.ListValueFrom(ctx, m.Ports.ElementType(ctx), list)
	diags.Append(d...)
	put(refresh, &m.Ports, v)

	if value.Known(m.BootMACAddress) && !refresh {
		return
	}

	m.fillBootMAC(ports)
}

// fillBootMAC follows a port that was changed by hand; where several boot, the known one stays.
func (m *model) fillBootMAC(ports []ironic.Port) {
	first := ""

	for _, p := range ports {
		if p.Address == m.BootMACAddress.Canonical() {
			return
		}

		if p.PXEEnabled && first == "" {
			first = p.Address
		}
	}

	switch {
	case first != "":
		m.BootMACAddress = value.NewMAC(first)
	case m.BootMACAddress.IsUnknown():
		m.BootMACAddress = value.NullMAC()
	}
}
