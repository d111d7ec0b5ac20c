// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Create heals the machine, or goes on where an earlier one was cut short. One that fails leaves no
// state: the next apply is a create again.
func (r *remediationResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	remedy, machine, ok := m.Heal(ctx, r.far, func(string) {}, &resp.Diagnostics)
	if !ok {
		return
	}

	m.ID = types.StringValue(m.ClusterID.ValueString() + "/" + m.Machine.ValueString())
	m.Result, m.Node = types.StringValue(string(remedy.Outcome)), value.String(remedy.Node)
	m.Attempts, m.Count = types.Int64Value(int64(remedy.Attempts)), types.Int64Value(int64(remedy.Count))
	m.HostID, m.HostName = value.String(machine.HostID), value.String(machine.HostName)

	resp.Diagnostics.Append(resp.State.Set(context.WithoutCancel(ctx), &m)...)
}

// Read looks whether the machine is still there. What was done stays done: nothing of it is read again.
func (r *remediationResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var (
		m      model
		unable diag.Diagnostics
	)

	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	m.Workload = types.ObjectNull(m.Workload.AttributeTypes(ctx)) // Nodes do not matter

	run := m.Open(ctx, r.far, &unable)
	if run == nil {
		return // other resources say that Ironic is not there
	}

	res := run.Refresh(ctx, cluster.Record{})
	if res.Err != nil {
		resp.Diagnostics.AddWarning(m.Label()+" was not looked for", value.Sentence(res.Err))

		return
	}

	if _, there := res.Record.Machines[m.Machine.ValueString()]; !there {
		resp.Diagnostics.AddWarning(m.Label()+" is not there any more", value.Sentence(errors.New("its remediation is history: remove this metal3_remediation from the configuration")))
	}
}

// Update stores what counts the next time.
func (r *remediationResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Delete does nothing: a remediation cannot be taken back.
func (r *remediationResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}
