// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Create implements [resource.Resource].
func (r *gpuResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer value.Guard(ctx, "create", "composable GPU resource", &resp.Diagnostics)

	var plan model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)

	desk, ok := r.reach(ctx, &resp.Diagnostics)
	if !ok {
		return
	}

	plan.ID, plan.Endpoint = types.StringValue(uuid.NewString()), types.StringValue(desk.Fabric.Endpoint())
	plan.check(ctx, &resp.Diagnostics)

	if resp.Diagnostics.HasError() {
		return
	}

	w := r.wanted(ctx, plan, nil, true, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	label := plan.label(ctx)
	run := &device.Run{Desk: desk, Wanted: w, Log: progress(label)}
	res := run.Create(ctx)
	stopped := value.Interrupted(ctx)

	// The context may have ended; what is known is recorded all the same.
	ctx = context.WithoutCancel(ctx)

	remark(label, res.Warnings, &resp.Diagnostics)
	plan.Unmanaged = types.ListNull(types.StringType)
	plan.fill(ctx, res.Devices, res.Unmanaged, &resp.Diagnostics)
	plan.State = types.StringValue(stateOf(plan.Size.ValueInt64(), res.Devices))

	if res.Err() == nil && !stopped || plan.unfinished(ctx, res, stopped, &resp.Diagnostics) {
		r.record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)
	}
}

// unfinished says what a create did not reach, as on_create_failure wants it said. It reports
// whether the resource comes into the state.
func (m *model) unfinished(ctx context.Context, res device.Result, stopped bool, diags *diag.Diagnostics) bool {
	said := report{label: m.label(ctx), failures: res.Failures}
	m.State = types.StringValue(device.Degraded)

	switch {
	case stopped:
		said.closing = m.stands(ctx, res, "The run was interrupted. What is attached stays in the state; the next apply goes on in place.")
		said.warnings(diags)
	case m.OnCreateFailure.ValueString() == failureKeep:
		said.closing = m.stands(ctx, res, "The resource stays in the state (on_create_failure = \"keep\"); the next apply goes on in place.")
		said.warnings(diags)
	case len(res.Devices) == 0:
		// Without anything of ours on the fabric there is nothing to taint.
		said.closing = m.stands(ctx, res, "No device is ours, and nothing is in the state; apply again when the cause is removed.")
		said.errors(diags)

		return false
	default:
		said.closing = m.stands(ctx, res, advice(res.Devices))
		m.Size = types.Int64Value(int64(attached(res.Devices)))
		said.errors(diags)
	}

	return true
}

// stands is the last diagnostic of a failed verb: how many devices there are, which, and
// how to go on.
func (m model) stands(ctx context.Context, res device.Result, how string) [2]string {
	var b strings.Builder

	fmt.Fprintf(&b, "Of %s wanted, %d stand.", count(int(m.Size.ValueInt64())), len(res.Devices))

	for _, d := range res.Devices {
		fmt.Fprintf(&b, "\n%s on machine %s is %s.", d.Label(), d.MachineID, d.State)
	}

	return [2]string{"Incomplete: " + m.label(ctx), b.String() + "\n" + how}
}

// advice says what a replacement costs after a failed create, and how to go on instead.
func advice(devices []device.Record) string {
	return "Terraform marks the resource as tainted: the next apply detaches " + count(len(devices)) + " and attaches all anew, which takes the fabric " +
		"from seconds to minutes a device. To go on from here instead, run `terraform untaint` with the address shown above, then apply: the plan is an update in place that attaches only what is missing."
}

// reach returns the desk of the fabric, or says in words why there is none.
func (r *gpuResource) reach(ctx context.Context, diags *diag.Diagnostics) (*device.Desk, bool) {
	if diags.HasError() {
		return nil, false
	}

	desk, err := r.far.Devices(ctx)
	if err != nil {
		diags.AddError("Fabric cannot be reached", sentence(err))

		return nil, false
	}

	return desk, true
}

// record writes state and identity.
func (r *gpuResource) record(ctx context.Context, m model, state *tfsdk.State, id *tfsdk.ResourceIdentity, diags *diag.Diagnostics) {
	diags.Append(state.Set(ctx, &m)...)
	m.identify(ctx, id, diags)
}

// identify sets the identity where there is none yet. One that is there stays, wherever the
// devices are by now.
func (m model) identify(ctx context.Context, id *tfsdk.ResourceIdentity, diags *diag.Diagnostics) {
	if id == nil {
		return // the client knows no identities
	}

	var have identity

	if !id.Raw.IsNull() && id.Raw.IsFullyKnown() {
		diags.Append(id.Get(ctx, &have)...)
	}

	if value.Known(have.MachineID) {
		return
	}

	var ignored diag.Diagnostics

	machines, _ := m.machines(ctx)
	if devices := m.records(ctx, &ignored); len(devices) > 0 {
		machines = []string{devices[0].MachineID}
	}

	if len(machines) > 0 {
		diags.Append(id.Set(ctx, identity{types.StringValue(machines[0]), m.Type, m.Model})...)
	}
}
