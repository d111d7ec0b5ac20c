// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// readTimeout bounds a refresh: one read of each machine.
const readTimeout = 2 * time.Minute

// Read implements [resource.Resource]. It asks the fabric once for each machine, whoever
// else has devices there, and no host unless refresh_node says so.
func (r *gpuResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer value.Guard(ctx, "refresh", "composable GPU resource", &resp.Diagnostics)

	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	state.identify(ctx, resp.Identity, &resp.Diagnostics)

	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()

	desk, err := r.far.Devices(ctx)

	switch {
	case errors.Is(err, device.ErrUnknown):
		resp.Diagnostics.AddWarning("Composable devices are not refreshed", sentence(err)+" The state is kept as it is until apply.")

		return
	case err != nil:
		resp.Diagnostics.AddError("Fabric cannot be reached", sentence(err))

		return
	}

	have := state.records(ctx, &resp.Diagnostics)

	seen, err := desk.Refresh(ctx, state.reading(ctx, have))
	if err != nil {
		resp.Diagnostics.AddError("Machines of "+state.label(ctx)+" could not be read", sentence(err)+" The state is kept as it is.")

		return
	}

	if len(seen.Gone) > 0 && r.gone(ctx, desk, state, seen, resp) {
		return
	}

	if state.RefreshNode.ValueBool() {
		seen.Devices = r.ask(ctx, state, seen.Devices, &resp.Diagnostics)
	}

	state.follow(ctx, have, seen, desk.Fabric.Endpoint(), &resp.Diagnostics)
	r.record(ctx, state, &resp.State, resp.Identity, &resp.Diagnostics)
}

// reading is what a refresh is about.
func (m model) reading(ctx context.Context, have []device.Record) device.Reading {
	machines, _ := m.machines(ctx)
	for i, id := range machines {
		machines[i] = spelled(id, have)
	}

	return device.Reading{Resource: m.ID.ValueString(), Type: m.Type.ValueString(), Model: m.Model.ValueString(), Machines: machines, Devices: have}
}

// gone decides what it means that machines are no more; true where the read ends with it.
func (r *gpuResource) gone(ctx context.Context, desk *device.Desk, state model, seen device.Refreshed, resp *resource.ReadResponse) bool {
	if state.elsewhere(desk) {
		state.anotherFabric(ctx, desk, seen.Gone, &resp.Diagnostics)

		return true
	}

	machines, _ := state.machines(ctx)
	if len(minus(machines, seen.Gone)) > 0 || len(seen.Devices) > 0 {
		for _, id := range seen.Gone {
			resp.Diagnostics.AddWarning("Machine "+id+" is gone from the fabric", "It is one of the hosts of "+state.label(ctx)+"; its devices, if it had any, are no longer in the state.")
		}

		return false
	}

	all, err := desk.Fabric.Machines(ctx)

	switch {
	case err != nil:
		resp.Diagnostics.AddError("Machines of "+state.label(ctx)+" could not be read", sentence(err)+" The state is kept as it is.")
	case len(all) == 0:
		resp.Diagnostics.AddError("Fabric has no machines", fmt.Sprintf("Fabric %s shows no machine at all, and %s was on it. "+
			"This looks like another fabric, or one that lost its database. The state is kept; correct that, or take the resource out with `terraform state rm`.", desk.Fabric.Endpoint(), state.label(ctx)))
	default:
		resp.Diagnostics.AddWarning("Machines of "+state.label(ctx)+" are gone from the fabric", "The fabric says that there is no machine "+strings.Join(seen.Gone, ", ")+
			" any more. The resource is taken out of the state; the next apply attaches devices anew, to the machines that hosts has then.")
		resp.State.RemoveResource(ctx)
	}

	return true
}

// anotherFabric says that "not found" comes from a fabric that never had the machine.
func (m model) anotherFabric(ctx context.Context, desk *device.Desk, machines []string, diags *diag.Diagnostics) {
	diags.AddError("Machines of "+m.label(ctx)+" are not in this fabric", fmt.Sprintf("The devices were last seen in fabric %s; the provider now asks %s, which does not know %s. "+
		"This looks like another fabric. The state is kept; correct the provider's configuration, or take the resource out with `terraform state rm`.",
		m.Endpoint.ValueString(), desk.Fabric.Endpoint(), strings.Join(machines, ", ")))
}

// follow brings a state in line with a look.
func (m *model) follow(ctx context.Context, have []device.Record, seen device.Refreshed, endpoint string, diags *diag.Diagnostics) {
	label := m.label(ctx)
	remark(label, seen.Warnings, diags)

	var lost []string
	for _, d := range seen.Lost {
		lost = append(lost, d.Label()+" of machine "+d.MachineID)
	}

	if len(lost) > 0 {
		diags.AddWarning("Devices of "+label+" are gone", "The fabric no longer shows "+strings.Join(lost, ", ")+". Somebody detached them; the next apply attaches others.")
	}

	devices := m.named(ctx, seen.Devices, diags)

	// What was short of devices before and still has the same ones is still short of them:
	// only an apply can make it Running.
	short := m.State.ValueString() == device.Degraded && online(have)

	m.State = types.StringValue(device.Running)
	if len(lost) > 0 || !online(devices) || short {
		m.State = types.StringValue(device.Degraded)
	}

	m.Size = types.Int64Value(int64(attached(devices)))
	m.Endpoint = types.StringValue(endpoint)
	m.fill(ctx, devices, seen.Unmanaged, diags)
}

// named gives devices the names that their hosts have by now.
func (m model) named(ctx context.Context, devices []device.Record, diags *diag.Diagnostics) []device.Record {
	all, ok := m.hosts(ctx, diags)

	for i, d := range devices {
		for j, h := range all {
			if ok[j] && len(minus([]string{d.MachineID}, []string{h.machine()})) == 0 {
				devices[i].HostName = h.Name.ValueString()
			}
		}
	}

	return devices
}
