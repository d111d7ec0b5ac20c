// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Deadlines of the verbs where the user names none.
const (
	createTimeout = 150 * time.Minute
	updateTimeout = 150 * time.Minute
	deleteTimeout = 90 * time.Minute
	readTimeout   = 2 * time.Minute
)

// Create implements [resource.Resource].
func (r *hostResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan, config model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	timeout, diags := plan.Timeouts.Create(ctx, createTimeout)
	resp.Diagnostics.Append(diags...)

	far, ok := r.reach(ctx, &resp.Diagnostics)
	if !ok {
		return
	}

	plan.complete(r.far.HostDefaults())
	plan.check(ctx, config, r.far.HostDefaults(), &resp.Diagnostics)

	w := plan.wanted(ctx, &config, r.far.HostDefaults(), &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	w.ID = uuid.NewString()
	w.Reprovision.Consent = true // a create deploys; what runs on a foreign host is never taken over

	ctx, budget, cancel := wait.WithBudget(ctx, timeout)
	defer cancel()

	run := &host.Run{Backend: far, Wanted: w, Goal: plan.goal(), Budget: budget, Log: logStep}
	try := attempt{verb: "create", name: plan.Name.ValueString(), goal: run.Goal, run: run, start: time.Now(), far: far, plain: config.plainPassword(ctx)}
	try.seen, try.err = run.To(ctx, host.Seen{})

	if try.seen.Node.UUID == "" {
		try.error(ctx, "\nNothing was registered.", &resp.Diagnostics)

		return
	}

	r.finish(ctx, &plan, &try, &resp.Diagnostics)

	keep := plan.OnCreateFailure.ValueString() == "keep"
	// The context may have ended; what is known is recorded all the same.
	resp.Diagnostics.Append(resp.State.Set(context.WithoutCancel(ctx), &plan)...)
	resp.Diagnostics.Append(resp.Identity.Set(context.WithoutCancel(ctx), identity{plan.ID})...)

	switch {
	case try.err == nil:
		resp.Diagnostics.Append(r.mark(ctx, resp.Private, plan, try.seen, far.Endpoint())...)
	case interrupted(ctx, try.err):
		try.warning(ctx, "\nThe run was interrupted. The host stays in the state; the next apply goes on in place.", &resp.Diagnostics)
	case keep:
		try.warning(ctx, "\nThe host stays in the state (on_create_failure = \"keep\"); the next apply goes on in place.", &resp.Diagnostics)
	default:
		try.error(ctx, try.advice(), &resp.Diagnostics)
	}
}

// advice says what stands after a failed create, what a replacement costs and how to go on.
func (a attempt) advice() string {
	stands := "The node stays registered"

	switch host.Phase(a.seen.ProvisioningState()) {
	case host.PhaseProvisioning, host.PhaseProvisioned:
		stands += " and inspected; replacing it undeploys, cleans, inspects and deploys it anew, which can take an hour on real machines"
	case host.PhaseAvailable:
		stands += " and inspected; replacing it inspects it anew"
	default:
		stands += "; replacing it is cheap, since it was never deployed"
	}

	return "\n" + stands + ". Terraform marks the host as tainted: the next apply deletes the node and begins anew. To go on from here instead, " +
		"run `terraform untaint` with the address shown above, then apply: the plan is an update in place that resumes."
}

// finish fills what a drive found into the model, with the inventory that it took over.
func (r *hostResource) finish(ctx context.Context, m *model, try *attempt, diags *diag.Diagnostics) {
	ctx = context.WithoutCancel(ctx)

	for _, w := range try.run.Warnings {
		diags.AddWarning("Host "+try.name, sentenceOf(w))
	}

	raw := try.run.Inventory
	if raw == nil && m.Hardware.IsUnknown() && try.seen.Journal.InventorySHA256 != "" {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()

		raw, _ = try.far.Inventory(ctx, try.seen.Node.UUID) // the next refresh asks again
	}

	if raw != nil {
		for _, w := range m.fillHardware(raw, false) {
			tflog.Warn(ctx, "inventory", map[string]any{"host": try.name, "warning": w})
		}
	}

	m.fill(ctx, try.seen, try.far.Endpoint(), false, diags)
}

// complete sets what a create decides and the plan could not know: unknown values that
// depend on values which were unknown themselves.
func (m *model) complete(d host.Defaults) {
	if !value.Known(m.Namespace) {
		m.Namespace = types.StringValue(first(d.Namespace, "metal3"))
	}

	if m.InstanceUUID.IsUnknown() {
		m.InstanceUUID = types.StringValue(host.Claim(m.Namespace.ValueString(), m.Name.ValueString()))
	}

	if m.NodeName.IsUnknown() {
		m.NodeName = types.StringValue(host.NodeName(m.Namespace.ValueString(), m.Name.ValueString()))
	}
}

// reach returns the backend, or says in words why there is none.
func (r *hostResource) reach(ctx context.Context, diags *diag.Diagnostics) (host.Backend, bool) {
	if diags.HasError() {
		return nil, false
	}

	far, err := r.far.Hosts(ctx)
	if err != nil {
		diags.AddError("Ironic cannot be reached", sentence(err))

		return nil, false
	}

	return far, true
}

func logStep(ctx context.Context, msg string, fields map[string]any) { tflog.Info(ctx, msg, fields) }

// check repeats at apply, before any request, what validation could not see while values
// were unknown.
func (m *model) check(ctx context.Context, config model, d host.Defaults, diags *diag.Diagnostics) {
	m.validate(ctx, diags)

	w := m.wanted(ctx, &config, d, diags)
	if diags.HasError() || w.BMC.Access.Driver == "fake-hardware" {
		return
	}

	switch {
	case strings.TrimSpace(w.BMC.Username) == "":
		diags.AddAttributeError(pathUsername, "Host "+w.Name+" has no BMC user name", "Set bmc.username, or the provider's bmc settings.")
	case strings.TrimSpace(w.BMC.Password) == "":
		diags.AddAttributeError(pathPassword, "Host "+w.Name+" has no BMC password", "Set bmc.password_wo with bmc.password_wo_version (or bmc.password), or the provider's bmc settings.")
	}
}

// unresolved names required values that are still unknown; for the plan.
func unresolved(m model) bool { return value.HasUnknown(m.BMC) || m.Name.IsUnknown() }
