// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Update implements [resource.Resource]. It never taints: after a failure the state says
// what was reached, and the next plan shows the rest again.
func (r *hostResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, config, state model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	timeout, diags := plan.Timeouts.Update(ctx, updateTimeout)
	resp.Diagnostics.Append(diags...)

	far, ok := r.reach(ctx, &resp.Diagnostics)
	if !ok {
		return
	}

	plan.complete(r.far.HostDefaults())
	plan.validate(ctx, &resp.Diagnostics)
	plan.refuse(ctx, state, &resp.Diagnostics)

	w := plan.wantedUpdate(ctx, state, config, r.far.HostDefaults(), &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, budget, cancel := wait.WithBudget(ctx, timeout)
	defer cancel()

	run := &host.Run{Backend: far, Wanted: w, Goal: plan.goalNow(ctx, state, &resp.Diagnostics), Budget: budget, Log: logStep, Direct: r.far.DirectBMC()}
	try := attempt{verb: "update", name: plan.Name.ValueString(), goal: run.Goal, run: run, start: time.Now(), far: far, plain: config.plainPassword(ctx)}

	try.seen, try.err = now(ctx, far, state.ID.ValueString())
	if errors.Is(try.err, host.ErrGone) {
		try.seen, try.err = r.enrolAgain(ctx, run, state, &resp.Diagnostics)
	}

	if try.err == nil {
		try.seen, try.err = run.To(ctx, try.seen)
	}

	if try.err != nil && try.seen.Node.UUID == "" {
		try.error(ctx, "\nThe state is kept as it is.", &resp.Diagnostics)

		return
	}

	result := plan
	if try.err != nil && !run.Settled() {
		result = plan.unsettled(state)
	}

	r.finish(ctx, &result, &try, &resp.Diagnostics)

	if try.err != nil {
		// What was planned and not reached must differ from the plan, so that it is planned again.
		result.fill(context.WithoutCancel(ctx), try.seen, far.Endpoint(), true, &resp.Diagnostics)
		try.error(ctx, "\nThe state says what was reached; the next apply goes on in place.", &resp.Diagnostics)
	}

	resp.Diagnostics.Append(resp.State.Set(context.WithoutCancel(ctx), &result)...)
	resp.Diagnostics.Append(resp.Identity.Set(context.WithoutCancel(ctx), identity{result.ID})...)
	resp.Diagnostics.Append(r.mark(context.WithoutCancel(ctx), resp.Private, result, try.seen, far.Endpoint())...)
}

// wantedUpdate adds what only the difference to the state tells.
func (m model) wantedUpdate(ctx context.Context, state, config model, d host.Defaults, diags *diag.Diagnostics) host.Wanted {
	w := m.wanted(ctx, &config, d, diags)

	if !m.Name.Equal(state.Name) || !m.Namespace.Equal(state.Namespace) {
		w.NodeName = host.NodeName(w.Namespace, w.Name)
	}

	// A node that is not ours and was only imported is not renamed by the way.
	w.BMC.Rewrite = m.bmcChanged(ctx, state, d, diags)
	w.BMC.Untried = m.passwordIsFirstSaid(ctx, state, diags)

	reasons := m.reprovision(ctx, state, config, d, diags)
	w.Reprovision.Consent = len(reasons) > 0 || m.goal() == host.Provisioned && !state.isProvisioned() && !state.lost() || m.goal() == host.Available && state.vacating()
	w.Reprovision.Record = state.ExternallyProvisioned.ValueBool() && !m.ExternallyProvisioned.ValueBool() && w.Image != nil
	w.OnlineIgnored = m.consumed(ctx, diags)

	if m.keepsWriteOnlyData(state) {
		w.Reprovision.On = slices.DeleteFunc(slices.Clone(w.Reprovision.On), func(key string) bool { return key == host.OnUserData })
	}

	return w
}

// keepsWriteOnlyData reports whether write-only user data counts as unchanged: its version is.
func (m model) keepsWriteOnlyData(state model) bool {
	return value.Known(m.UserDataWOVersion) && m.UserDataWOVersion.Equal(state.UserDataWOVersion)
}

// bmcChanged reports whether driver_info has to be sent again and tried.
func (m model) bmcChanged(ctx context.Context, state model, d host.Defaults, diags *diag.Diagnostics) bool {
	now, ok := read[bmcModel](ctx, m.BMC, diags)
	before, had := read[bmcModel](ctx, state.BMC, diags)

	if !ok || !had {
		return ok
	}

	// A user name that moves between host and provider block stays the same one.
	user := func(b bmcModel) string {
		return first(b.Username.ValueString(), d.UsernameFor(b.Address.ValueString()))
	}

	return !now.Address.Equal(before.Address) || user(now) != user(before) || !now.PasswordWOVersion.Equal(before.PasswordWOVersion) ||
		!now.Password.Equal(before.Password) || !now.DriverInfo.Equal(before.DriverInfo)
}

// passwordIsFirstSaid reports whether nothing changes but that the configuration now has a
// password where the state had none: that of an imported host, which Ironic uses already.
func (m model) passwordIsFirstSaid(ctx context.Context, state model, diags *diag.Diagnostics) bool {
	now, ok := read[bmcModel](ctx, m.BMC, diags)
	before, had := read[bmcModel](ctx, state.BMC, diags)

	return ok && had && before.PasswordWOVersion.IsNull() && before.Password.IsNull() &&
		now.Address.Equal(before.Address) && now.Username.Equal(before.Username) && now.DriverInfo.Equal(before.DriverInfo)
}

// goalNow is the goal of an update: a host that somebody else deploys on stays as it is.
func (m model) goalNow(ctx context.Context, state model, diags *diag.Diagnostics) host.Goal {
	if m.left(ctx, state, diags) {
		return host.Available
	}

	if state.lost() { // the machine runs on without its record
		m.ProvisioningState = types.StringValue(string(host.PhaseProvisioned))
	}

	return m.goal()
}

// left reports whether the host is left to whoever deploys on it: a consumer's claim says
// so, or something runs on it although neither state nor configuration has an image.
func (m model) left(ctx context.Context, state model, diags *diag.Diagnostics) bool {
	without := m.Image.IsNull() && m.CustomDeploy.IsNull() && !m.ExternallyProvisioned.ValueBool()

	return m.consumed(ctx, diags) || state.consumed(ctx, diags) || without && state.isProvisioned() && !state.vacating()
}

// vacating reports whether the state has something of ours on the host that can be taken off.
func (m model) vacating() bool {
	p := host.Phase(m.ProvisioningState.ValueString())

	return !m.Image.IsNull() || !m.CustomDeploy.IsNull() || p == host.PhaseProvisioning || p == host.PhaseDeprovisioning
}

// unsettled is the state of an update that failed before the settings were written: what
// only the user knows stays as it was, so that the next plan shows it again.
func (m model) unsettled(state model) model {
	state.Timeouts = m.Timeouts

	for to, planned := range map[*types.String]types.String{
		&state.DeletionPolicy: m.DeletionPolicy, &state.OnCreateFailure: m.OnCreateFailure, &state.RefreshDepth: m.RefreshDepth,
		&state.QueueTimeout: m.QueueTimeout, &state.RebootMode: m.RebootMode, &state.ReprovisionMethod: m.ReprovisionMethod,
	} {
		*to = planned
	}

	for to, planned := range map[*types.Bool]types.Bool{
		&state.DeletionProtection: m.DeletionProtection, &state.ForceDestroy: m.ForceDestroy, &state.PowerOffOnDestroy: m.PowerOffOnDestroy,
	} {
		*to = planned
	}

	state.ProvisioningAttempts, state.PhaseTimeouts = m.ProvisioningAttempts, m.PhaseTimeouts

	return state
}

// enrolAgain makes the record of a machine that runs anew, under the UUID that it had, so
// that Ironic adopts the machine instead of deploying it.
func (r *hostResource) enrolAgain(ctx context.Context, run *host.Run, state model, diags *diag.Diagnostics) (host.Seen, error) {
	a, triggers := state.appliedOf(ctx, diags)
	if diags.HasError() {
		return host.Seen{}, host.ErrGone
	}

	run.Wanted.ID = state.ID.ValueString()

	return run.EnrolAgain(ctx, a, triggers)
}

// now returns the host as it is at this moment, with its ports: what is wiped or powered off
// is decided from the record itself, never from a list that others may have asked for a
// while ago.
func now(ctx context.Context, far host.Backend, id string) (host.Seen, error) {
	listed, err := far.Refresh(ctx, id)
	if err != nil {
		return host.Seen{}, err
	}

	seen, err := far.Look(ctx, id)
	seen.Ports = listed.Ports

	return seen, err
}
