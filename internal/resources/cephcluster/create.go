// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Create implements [resource.Resource].
func (r *clusterResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer value.Guard(ctx, "create", "Ceph cluster", &resp.Diagnostics)

	var plan, config model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	life, ok := r.life(ctx, plan, &config, ceph.Record{}, nil, &resp.Diagnostics)
	if !ok {
		return
	}

	bounded, cancel, limit := plan.limited(ctx, func(t timeoutsModel) types.String { return t.Create }, 30*time.Minute)
	defer cancel()

	res := life.Create(bounded)
	stopped, expired := value.Interrupted(ctx), value.Reached(bounded, limit)

	// The context may have ended; what is known is recorded all the same.
	ctx = context.WithoutCancel(ctx)

	remark(plan.label(), res.Warnings, &resp.Diagnostics)

	if !res.Known && (res.Err != nil || stopped) {
		// Without an identity there is no cluster, and nothing to taint.
		failure{plan.label(), "create", res.Err, res.Stands, "Nothing is in the state; apply again when the cause is removed.", expired}.error(&resp.Diagnostics)

		return
	}

	plan.settle(ctx, res.Record, &resp.Diagnostics)

	if res.Err != nil {
		plan.notReady(res.Record.Phase)
	}

	r.record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)

	if res.Err != nil || stopped {
		plan.unfinishedCreate(ctx, failure{plan.label(), "create", res.Err, res.Stands, "", expired}, stopped, &resp.Diagnostics)
	}
}

// unfinishedCreate says what a create did not reach, as on_create_failure wants it said.
func (m model) unfinishedCreate(ctx context.Context, f failure, stopped bool, diags *diag.Diagnostics) {
	switch {
	case stopped:
		f.how = "The run was interrupted. What stands is in the state, and the next apply goes on in place"
		f.warning(diags)
	case m.OnCreateFailure.ValueString() == failureKeep:
		f.how = "The cluster stays in the state with is_ready = false (on_create_failure = \"keep\"), and the next apply goes on in place"
		f.warning(diags)
	default:
		f.how = m.advice(ctx)
		f.error(diags)
	}
}

// advice says what a replacement costs after a failed create, and how to go on instead.
func (m model) advice(ctx context.Context) string {
	var ignored diag.Diagnostics

	price := "stops the daemons, keeps all data, and creates again, which finds the identity of the cluster on its hosts and goes on with it"
	if m.cleanup(ctx, &ignored).Confirmation == ceph.Confirmation {
		price = "destroys what there is, data and all, because cleanup.confirmation is set, and creates a new cluster"
	}

	if m.DeletionProtection.ValueBool() {
		price = "is refused, because deletion_protection is set"
	}

	return "Terraform marks the resource as tainted: the next apply " + price +
		". To go on from here instead, run `terraform untaint` with the address shown above, then apply: the plan is an update in place that does only what is missing"
}

// life checks a configuration once more, now that all of it is known, and returns the verbs
// of its cluster.
func (r *clusterResource) life(ctx context.Context, m model, config *model, was ceph.Record, before *model, diags *diag.Diagnostics) (Verbs, bool) {
	if diags.HasError() {
		return nil, false
	}

	if config != nil {
		var again diag.Diagnostics

		config.validate(ctx, &again)
		diags.Append(again.Errors()...) // the warnings were in the plan
	}

	if diags.HasError() {
		return nil, false
	}

	w := m.wanted(ctx, r.far.OwnerID(), was, diags)
	w.External = m.external(ctx, config, diags)
	w.Hosts = r.specs(ctx, m, diags)

	if before != nil {
		w.Former = r.former(ctx, m, *before, diags)
	}

	if diags.HasError() {
		return nil, false
	}

	return r.far.CephRun(ceph.Run{Wanted: w, Log: progress(m.label())}), true
}

// former are the hosts that were taken out. One whose connection no longer works is told.
func (r *clusterResource) former(ctx context.Context, m, before model, diags *diag.Diagnostics) []ceph.HostSpec {
	_, now := m.hosts(ctx, diags)

	var (
		out    []ceph.HostSpec
		mishap diag.Diagnostics
	)

	for _, h := range r.specs(ctx, before, &mishap) {
		if !slices.Contains(now, h.Name) {
			out = append(out, h)
		}
	}

	for _, d := range mishap.Errors() {
		diags.AddWarning(m.label()+": a host that was taken out cannot be reached", d.Summary()+": "+d.Detail())
	}

	return out
}

// record writes state and identity.
func (r *clusterResource) record(ctx context.Context, m model, state *tfsdk.State, id *tfsdk.ResourceIdentity, diags *diag.Diagnostics) {
	diags.Append(state.Set(ctx, &m)...)
	m.identify(ctx, id, diags)
}

// identify sets the identity where there is none yet. One that is there stays, wherever the
// monitors are by now.
func (m model) identify(ctx context.Context, id *tfsdk.ResourceIdentity, diags *diag.Diagnostics) {
	if id == nil {
		return // the client knows no identities
	}

	var have identity

	if !id.Raw.IsNull() && id.Raw.IsFullyKnown() {
		diags.Append(id.Get(ctx, &have)...)
	}

	if value.Known(have.ID) || !value.Known(m.ID) {
		return
	}

	diags.Append(id.Set(ctx, identity{m.ID})...)
}
