// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Read implements [resource.Resource]. It costs no request of its own: all hosts of a
// refresh are answered from one list.
func (r *hostResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state model

	resp.Diagnostics.Append(load(ctx, req.State, req.State.Schema.Type(), req.State.Raw, &state)...)
	// Whatever way this ends without an error: a client without identities gives none to keep.
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{state.ID})...)

	timeout, diags := state.Timeouts.Read(ctx, readTimeout)
	resp.Diagnostics.Append(diags...)

	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	far, err := r.far.Hosts(ctx)
	if errors.Is(err, host.ErrUnknown) {
		resp.Diagnostics.AddWarning("Hosts are not refreshed", sentence(err)+" The state is kept as it is until apply.")

		return
	}

	if err != nil {
		resp.Diagnostics.AddError("Ironic cannot be reached", sentence(err))

		return
	}

	// Whatever this read finds, the mark of an earlier one says nothing of it.
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, MarkKey, nil)...)

	seen, err := far.Refresh(ctx, state.ID.ValueString())

	switch {
	case errors.Is(err, host.ErrGone):
		r.gone(ctx, far, &state, resp)

		return
	case err != nil:
		resp.Diagnostics.AddError("Host "+state.label()+" could not be read", sentence(err)+" The state is kept as it is.")

		return
	}

	r.follow(ctx, far, &state, seen, &resp.Diagnostics)
	r.refreshHardware(ctx, far, &state, seen, &resp.Diagnostics)
	state.remark(seen, &resp.Diagnostics)
	if raw, ok := state.encode(ctx, resp.State.Schema.Type()); ok {
		resp.State.Raw = raw
	} else {
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	}

	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{state.ID})...)
	resp.Diagnostics.Append(r.mark(ctx, resp.Private, state, seen, far.Endpoint())...)
}

// follow brings a state in line with a look; one that an import began is made from it.
func (r *hostResource) follow(ctx context.Context, far host.Backend, m *model, seen host.Seen, diags *diag.Diagnostics) {
	imported := m.Name.IsNull()
	if imported {
		m.adopt(ctx, seen, r.far.HostDefaults(), diags)
	} else {
		m.drift(ctx, seen, diags)
	}

	m.fill(ctx, seen, far.Endpoint(), true, diags)

	if imported {
		m.drift(ctx, seen, diags)
	}
}

// refreshHardware reads the inventory where the state has none yet although there is one,
// and each time where the user asks for it.
func (r *hostResource) refreshHardware(ctx context.Context, far host.Backend, m *model, seen host.Seen, diags *diag.Diagnostics) {
	full := m.RefreshDepth.ValueString() == "full"
	pending := m.Hardware.IsNull() && !seen.Node.InspectionFinishedAt.IsZero() && (seen.Journal.InventorySHA256 != "" || !seen.Journal.Known())

	if !full && !pending {
		return
	}

	raw, err := far.Inventory(ctx, m.ID.ValueString())

	switch {
	case errors.Is(err, host.ErrGone):
	case err != nil && full:
		diags.AddError("Inventory of host "+m.label()+" could not be read", sentence(err))
	case err == nil:
		m.fillHardware(raw, true)
	}
}

// remark warns of what a person should look at; nothing of it plans a change by itself.
func (m *model) remark(seen host.Seen, diags *diag.Diagnostics) {
	n := seen.Node

	switch {
	case n.ParentNode != "" && n.ParentNode == n.UUID:
		diags.AddWarning("Host "+m.label()+" is its own parent in Ironic", "A fault of Ironic 29.0.5-0+deb13u3 made the node its own parent_node: lists hide it, and its power cannot be switched off. Upgrade Ironic.")
	case n.Fault != "":
		diags.AddWarning("Host "+m.label()+" has a fault", fmt.Sprintf("Ironic reports %q: %s", n.Fault, sentenceOf(first(n.MaintenanceReason, n.LastError, "no reason given"))))
	case n.Maintenance:
		diags.AddWarning("Host "+m.label()+" is in maintenance", "Somebody put the node into maintenance: "+sentenceOf(first(n.MaintenanceReason, "no reason given"))+" The provider ends that only where a step needs it.")
	case host.Failed(n.ProvisionState):
		diags.AddWarning("Host "+m.label()+" is in state "+string(n.ProvisionState), "Ironic says: "+sentenceOf(first(n.LastError, "no reason given")))
	}
}

// gone decides what a definite "not found" means.
func (r *hostResource) gone(ctx context.Context, far host.Backend, state *model, resp *resource.ReadResponse) {
	name := state.label()

	if value.Known(state.Endpoint) && state.Endpoint.ValueString() != far.Endpoint() {
		resp.Diagnostics.AddError("Host "+name+" is not in this Ironic", fmt.Sprintf("The host was last seen in Ironic %s; the provider now asks %s, which does not know it. "+
			"This looks like another Ironic. The state is kept; correct the provider's configuration, or take the host out with `terraform state rm`.", state.Endpoint.ValueString(), far.Endpoint()))

		return
	}

	if far.Missing() > 1 {
		all, err := far.All(ctx)
		if err != nil {
			resp.Diagnostics.AddError("Host "+name+" could not be read", sentence(err)+" The state is kept as it is.")

			return
		}

		if !anyOurs(all, r.far.HostDefaults().OwnerID) {
			resp.Diagnostics.AddError("Host "+name+" is not in this Ironic", fmt.Sprintf("Several hosts of the state are missed at once in Ironic %s, and it shows none that this provider manages. "+
				"This looks like another Ironic, or one that lost its database. The state is kept; restore it, or take the hosts out with `terraform state rm`.", far.Endpoint()))

			return
		}
	}

	if !state.Applied.IsNull() || state.ExternallyProvisioned.ValueBool() {
		// A machine that runs: making it anew would re-image it.
		state.IronicState, state.ProvisioningState = types.StringNull(), types.StringNull()
		state.OperationalStatus = types.StringValue("error")
		state.ErrorType = types.StringValue("provisioned registration error")
		state.ErrorMessage = types.StringValue("the node is gone from Ironic")
		resp.Diagnostics.AddWarning("Host "+name+" is gone from Ironic", "The machine had been provisioned, so it stays in the state. The next apply enrolls it again under the same UUID and adopts it; its disk is not touched.")
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)

		return
	}

	resp.Diagnostics.AddWarning("Host "+name+" is gone from Ironic", "It had not been provisioned, so it is taken out of the state; the next apply registers it anew.")
	resp.State.RemoveResource(ctx)
}

func anyOurs(all []host.Seen, owner string) bool {
	for _, s := range all {
		if s.Journal.Ours(owner) {
			return true
		}
	}

	return false
}

// label names the host to people.
func (m model) label() string { return first(m.Name.ValueString(), m.ID.ValueString()) }
