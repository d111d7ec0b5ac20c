// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hardwarevalue"
)

// ModifyPlan implements [resource.ResourceWithModifyPlan]: the plan tells the state that
// apply will reach, and the price.
func (r *hostResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if r.far == nil {
		return
	}

	var plan, config, state model

	if req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
		state.planDelete(ctx, &resp.Diagnostics)

		return
	}

	kind := req.Plan.Schema.Type()
	resp.Diagnostics.Append(load(ctx, req.Plan, kind, req.Plan.Raw, &plan)...)
	resp.Diagnostics.Append(load(ctx, req.Config, kind, req.Config.Raw, &config)...)

	if resp.Diagnostics.HasError() {
		return
	}

	d := r.far.HostDefaults()

	if req.State.Raw.IsNull() {
		plan.planNames(config, d, r.far.UnknownDefaults())
		plan.planCreate(ctx, config, d, r.far.UnknownDefaults(), &resp.Diagnostics)
	} else {
		resp.Diagnostics.Append(load(ctx, req.State, kind, req.State.Raw, &state)...)

		if resp.Diagnostics.HasError() {
			return
		}

		plan.planUpdate(ctx, state, config, d, &resp.Diagnostics)
	}

	if resp.Diagnostics.HasError() {
		return
	}

	if raw, ok := plan.encode(ctx, kind); ok {
		resp.Plan.Raw = raw
	} else {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	}
}

// planNames plans what follows from name and namespace as soon as both are known.
func (m *model) planNames(config model, d host.Defaults, unknown []string) {
	if config.Namespace.IsNull() && !slices.Contains(unknown, "namespace") {
		m.Namespace = types.StringValue(first(d.Namespace, "metal3"))
	}

	if !value.Known(m.Name) || !value.Known(m.Namespace) {
		return
	}

	m.NodeName = types.StringValue(host.NodeName(m.Namespace.ValueString(), m.Name.ValueString()))

	if config.InstanceUUID.IsNull() {
		m.InstanceUUID = types.StringValue(host.Claim(m.Namespace.ValueString(), m.Name.ValueString()))
	}
}

// planCreate refuses at plan what can be known then.
func (m *model) planCreate(ctx context.Context, config model, d host.Defaults, unknown []string, diags *diag.Diagnostics) {
	if value.Known(m.Online) && !m.Online.ValueBool() && (value.Known(m.Image) || value.Known(m.CustomDeploy)) {
		diags.AddAttributeWarning(path.Root("online"), "Host "+m.label()+" will not be deployed", "online is false, and a machine that is to be off is not provisioned; it becomes available only.")
	}

	if value.HasUnknown(config.BMC) || slices.ContainsFunc(unknown, func(s string) bool { return strings.HasPrefix(s, "bmc") }) || unresolved(*m) {
		return // checked at apply, before any request
	}

	copied := *m
	copied.check(ctx, config, d, diags)
}

// planDelete tells what a destroy does to the machine.
func (m *model) planDelete(ctx context.Context, diags *diag.Diagnostics) {
	if m.DeletionProtection.ValueBool() {
		diags.AddAttributeError(path.Root("deletion_protection"), "Host "+m.label()+" is protected", protectedAdvice)

		return
	}

	if m.consumed(ctx, diags) && !m.ForceDestroy.ValueBool() {
		c, _ := read[consumerModel](ctx, m.Consumer, diags)

		// A cluster that goes in the same run is destroyed first, where it names its hosts. Whether it
		// is gone is looked at when the host's turn comes.
		if c.Kind.ValueString() == host.KindMachine {
			diags.AddWarning("Host "+m.label()+" is in use", "It is claimed by machine "+c.Name.ValueString()+". It is destroyed only if that has left it by then.")

			return
		}

		diags.AddError("Host "+m.label()+" is in use", "It is claimed by "+c.Kind.ValueString()+" "+first(c.Name.ValueString(), c.ID.ValueString())+"; remove that first, or set force_destroy.")

		return
	}

	if m.isProvisioned() && m.DeletionPolicy.ValueString() == host.PolicyDeprovision {
		diags.AddWarning("Host "+m.label()+" will be undeployed", "Its disk is cleaned (automated_cleaning_mode = \""+m.AutomatedCleaningMode.ValueString()+"\"), the machine powered off and its node deleted.")
	}
}

// planUpdate plans the goal, says what it costs, and leaves open what may move on the way.
func (m *model) planUpdate(ctx context.Context, state, config model, d host.Defaults, diags *diag.Diagnostics) {
	renamed := !m.Name.Equal(state.Name) || !m.Namespace.Equal(state.Namespace)
	if renamed {
		m.NodeName, m.InstanceUUID = types.StringUnknown(), state.InstanceUUID
		if value.Known(config.InstanceUUID) {
			m.InstanceUUID = config.InstanceUUID
		}

		if value.Known(m.Name) && value.Known(m.Namespace) {
			m.NodeName = types.StringValue(host.NodeName(m.Namespace.ValueString(), m.Name.ValueString()))
		}

		diags.AddAttributeWarning(path.Root("name"), "Host "+state.label()+" is renamed in Ironic only", "The host name in a deployed operating system stays as it is.")
	}

	goal := m.goalNow(ctx, state, diags)
	if !m.left(ctx, state, diags) && !m.Online.IsUnknown() && !m.ExternallyProvisioned.IsUnknown() {
		m.ProvisioningState = types.StringValue(string(host.PhaseOf(goal)))
	}

	m.OperationalStatus = types.StringValue("OK")

	reasons := m.price(ctx, state, config, d, goal, diags)
	m.refuse(ctx, state, diags)
	m.open(ctx, state, config, len(reasons) > 0)
}

// open marks as unknown what an update may move; a plan without changes shows none of it.
func (m *model) open(ctx context.Context, state, config model, deploys bool) {
	if m.same(state) {
		// The framework opens computed values once anything differs from the configuration's
		// point of view; where nothing does, they are what they were.
		m.Conditions = state.Conditions

		return
	}

	m.ErrorType, m.ErrorMessage, m.Health, m.IronicState = types.StringUnknown(), types.StringUnknown(), types.StringUnknown(), types.StringUnknown()
	m.PoweredOn = types.BoolUnknown()
	m.Conditions = types.MapUnknown(types.StringType)

	if deploys || !m.ProvisioningState.Equal(state.ProvisioningState) || !m.ReprovisionTriggers.Equal(state.ReprovisionTriggers) {
		m.Applied = types.ObjectUnknown(state.Applied.AttributeTypes(ctx))
		m.Consumer = types.ObjectUnknown(state.Consumer.AttributeTypes(ctx))
	}

	if !m.BMC.Equal(state.BMC) || state.IronicState.IsNull() {
		m.Driver = types.StringUnknown()
	}

	if !m.InspectTrigger.Equal(state.InspectTrigger) || state.Hardware.IsNull() {
		m.Hardware = hardwarevalue.Unknown()
		m.openUntold(config)
	}

	if (!m.BootMACAddress.Equal(state.BootMACAddress) || m.Hardware.IsUnknown()) && config.Ports.IsNull() {
		m.Ports = types.ListUnknown(state.Ports.ElementType(ctx))
	}
}

// openUntold marks as unknown what an inspection is still to tell: an earlier apply that
// was cut short left it null.
func (m *model) openUntold(config model) {
	if config.BootMACAddress.IsNull() && m.BootMACAddress.IsNull() {
		m.BootMACAddress = value.UnknownMAC()
	}

	for to, given := range map[*types.String]types.String{&m.Architecture: config.Architecture, &m.FabricMachineID: config.FabricMachineID} {
		if given.IsNull() && to.IsNull() {
			*to = types.StringUnknown()
		}
	}
}

// same reports whether plan and state differ in nothing but what is computed anew anyway.
func (m model) same(state model) bool {
	a, b := m, state
	a.Conditions, b.Conditions = types.Map{}, types.Map{}

	return equal(a, b)
}

// equal compares two models attribute by attribute.
func equal(a, b model) bool {
	x, y := a.values(), b.values()

	for i := range x {
		if !x[i].Equal(y[i]) {
			return false
		}
	}

	return true
}

// values lists what a change shows in: all attributes but the volatile ones.
func (m model) values() []attr.Value {
	return []attr.Value{
		m.ID, m.Name, m.Namespace, m.NodeName, m.InstanceUUID, m.Description, m.Labels, m.Annotations, m.FailureDomain, m.FabricMachineID,
		m.BMC, m.Interfaces, m.BootMACAddress, m.Ports, m.BootMode, m.Architecture, m.Online, m.DisablePowerOff, m.AutomatedCleaningMode,
		m.InspectionMode, m.InspectTrigger, m.PreNetworkData, m.DeployImage, m.ConductorGroup, m.ResourceClass, m.Owner, m.Traits, m.Properties,
		m.ExternallyProvisioned, m.Image, m.CustomDeploy, m.RootDeviceHints, m.UserData, m.UserDataWOVersion, m.VendorData, m.NetworkData, m.MetaData,
		m.Reprovision, m.ReprovisionOn, m.ReprovisionTriggers, m.ReprovisionMethod, m.RebootTrigger, m.RebootMode, m.DeletionPolicy,
		m.DeletionProtection, m.ForceDestroy, m.PowerOffOnDestroy, m.OnCreateFailure, m.ProvisioningAttempts, m.RefreshDepth, m.QueueTimeout,
		m.PhaseTimeouts, m.ProvisioningState, m.OperationalStatus, m.Timeouts,
	}
}
