// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Delete implements [resource.Resource]. It returns without an error only when Ironic itself
// says that the record is gone.
func (r *hostResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	timeout, diags := state.Timeouts.Delete(ctx, deleteTimeout)
	resp.Diagnostics.Append(diags...)

	if state.DeletionProtection.ValueBool() {
		resp.Diagnostics.AddAttributeError(path.Root("deletion_protection"), "Host "+state.label()+" is protected", protectedAdvice)
	}

	far, ok := r.reach(ctx, &resp.Diagnostics)
	if !ok {
		return
	}

	w := state.wanted(ctx, nil, r.far.HostDefaults(), &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, budget, cancel := wait.WithBudget(ctx, timeout)
	defer cancel()

	run := &host.Run{Backend: far, Wanted: w, Goal: host.Deleted, Budget: budget, Log: logStep}
	try := attempt{verb: "delete", name: state.label(), goal: host.Deleted, run: run, start: time.Now(), far: far}

	try.seen, try.err = far.Look(ctx, state.ID.ValueString())
	if errors.Is(try.err, host.ErrGone) {
		r.goneAlready(far, state, resp)

		return
	}

	if try.err == nil {
		try.seen, try.err = run.To(ctx, try.seen)
	}

	for _, warning := range run.Warnings {
		resp.Diagnostics.AddWarning("Host "+state.label(), warning)
	}

	switch {
	case try.err == nil:
		if w.Deletion.Force && run.GaveUp() {
			resp.Diagnostics.AddWarning("Host "+state.label()+" was deleted without being deprovisioned", "Undeploying failed four times and force_destroy is set. The machine may still be running, with its data.")
		}
	case interrupted(ctx, try.err):
		try.error(ctx, "\nThe run was interrupted; the host stays in the state, and the next destroy goes on.", &resp.Diagnostics)
	default:
		try.error(ctx, "\nThe host stays in the state; the next destroy goes on. To leave it to Ironic, use `terraform state rm` with the address shown above.", &resp.Diagnostics)
	}
}

// goneAlready accepts "not found" only from the Ironic that had the host.
func (r *hostResource) goneAlready(far host.Backend, state model, resp *resource.DeleteResponse) {
	if value.Known(state.Endpoint) && state.Endpoint.ValueString() != far.Endpoint() {
		resp.Diagnostics.AddError("Host "+state.label()+" is not in this Ironic", "The host was last seen in Ironic "+state.Endpoint.ValueString()+"; the provider now asks "+far.Endpoint()+
			", which does not know it. Correct the provider's configuration, or take the host out with `terraform state rm`.")
	}
}

const protectedAdvice = "deletion_protection is set. Set it to false, apply, then destroy."
