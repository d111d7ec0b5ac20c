// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// Create implements [resource.Resource].
func (r *poolResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer value.Guard(ctx, "create", "Ceph pool", &resp.Diagnostics)

	var plan model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)

	ctx, cancel := timeouts.Limit(ctx, plan.Timeouts, "create")
	defer cancel()

	plan.validate(ctx, &resp.Diagnostics)

	wanted := plan.wanted(ctx, &resp.Diagnostics)

	reach := cephvalue.Reach(ctx, r.Far, plan.ClusterID, plan.Connection, &resp.Diagnostics)
	if reach == nil {
		return
	}

	seen, made, err := pool.Create(ctx, reach.Cluster, wanted)
	stopped := value.Interrupted(ctx)
	ctx = context.WithoutCancel(ctx)

	if !made && errors.Is(err, pool.ErrUnsure) {
		seen, made = r.stands(ctx, plan)
	}

	cephvalue.Remark(plan.label(), seen.Warnings, &resp.Diagnostics)

	switch {
	case err == nil:
	case errors.Is(err, pool.ErrExists):
		resp.Diagnostics.AddAttributeError(pathName, plan.label()+" is already there", value.Sentence(err)+" To manage it, "+cephvalue.ImportIt(plan.ClusterID, plan.Name))

		return
	case !made && errors.Is(err, pool.ErrUnsure):
		resp.Diagnostics.AddError(plan.label()+" may stand or not", value.Sentence(err)+" If it stands, "+cephvalue.ImportIt(plan.ClusterID, plan.Name))

		return
	case !made:
		resp.Diagnostics.AddError(plan.label()+" could not be created", value.Sentence(err)+" Nothing of it stands.")

		return
	case stopped:
		resp.Diagnostics.AddWarning(plan.label()+" is not finished", "The run was interrupted. The pool stands, and the next apply goes on in place.")
	default:
		resp.Diagnostics.AddError(plan.label()+" could not be finished", value.Sentence(err)+" The pool stands, and lacks some of its settings. Terraform marks it as tainted: the next apply deletes it "+
			"(it is empty) and creates it anew. To go on in place instead, run `terraform untaint` with the address shown above, then apply.")
	}

	// Without an error the result must be as planned; the next refresh says what is not so.
	if err != nil && !stopped {
		plan.follow(seen, reach.Location.FSID)
	}

	plan.fill(seen, reach.Location.FSID)
	r.record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)
}

// stands looks over a new session for a pool whose creation was not answered.
func (r *poolResource) stands(ctx context.Context, plan model) (seen pool.Seen, made bool) {
	const enough = 2 * time.Minute

	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()

	var ignored diag.Diagnostics

	reach := cephvalue.Reach(ctx, r.Far, plan.ClusterID, plan.Connection, &ignored)
	if reach == nil {
		return pool.Seen{}, false
	}

	seen, err := pool.Look(ctx, reach.Cluster, pool.Which{Name: plan.Name.ValueString()})

	return seen, err == nil
}

// Read implements [resource.Resource].
func (r *poolResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer value.Guard(ctx, "refresh", "Ceph pool", &resp.Diagnostics)

	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	pools.Identify(ctx, resp.Identity, state.ClusterID, state.Name, &resp.Diagnostics)

	reach := cephvalue.Refresh(ctx, r.Far, state.ClusterID, state.Connection, state.label(), &resp.Diagnostics)
	if reach == nil {
		return
	}

	seen, err := pool.Look(ctx, reach.Cluster, state.which())

	switch {
	case errors.Is(err, pool.ErrNoPool):
		resp.Diagnostics.AddWarning(state.label()+" is gone", value.Sentence(err)+" It is taken out of the state; the next apply creates it anew.")
		resp.State.RemoveResource(ctx)
	case err != nil:
		cephvalue.NotRead(state.label(), err, &resp.Diagnostics)
	default:
		state.follow(seen, reach.Location.FSID)
		r.record(ctx, state, &resp.State, resp.Identity, &resp.Diagnostics)
	}
}

// Update implements [resource.Resource]. It never taints: after a failure the state says what
// was reached.
func (r *poolResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer value.Guard(ctx, "update", "Ceph pool", &resp.Diagnostics)

	var plan, state model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	ctx, cancel := timeouts.Limit(ctx, plan.Timeouts, "update")
	defer cancel()

	plan.validate(ctx, &resp.Diagnostics)

	wanted := plan.wanted(ctx, &resp.Diagnostics)
	wanted.Unset = removed(state.Parameters, plan.Parameters)

	reach := cephvalue.Reach(ctx, r.Far, plan.ClusterID, plan.Connection, &resp.Diagnostics)
	if reach == nil {
		return
	}

	seen, err := pool.Update(ctx, reach.Cluster, state.which(), wanted)
	stopped := value.Interrupted(ctx)
	ctx = context.WithoutCancel(ctx)

	cephvalue.Remark(plan.label(), seen.Warnings, &resp.Diagnostics)

	if err != nil {
		how := " The state says what was reached; the next apply goes on in place."
		if stopped {
			how = " The run was interrupted." + how
		}

		resp.Diagnostics.AddError(state.label()+" could not be changed", value.Sentence(err)+how)

		if seen.Name == "" {
			return // nobody could look: the old state stands
		}

		plan.follow(seen, reach.Location.FSID)
	}

	plan.fill(seen, reach.Location.FSID)
	r.record(ctx, plan, &resp.State, resp.Identity, &resp.Diagnostics)
}

// Delete implements [resource.Resource].
func (r *poolResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer value.Guard(ctx, "delete", "Ceph pool", &resp.Diagnostics)

	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	if resp.Diagnostics.HasError() || state.protected(&resp.Diagnostics) {
		return
	}

	ctx, cancel := timeouts.Limit(ctx, state.Timeouts, "delete")
	defer cancel()

	reach := cephvalue.Reach(ctx, r.Far, state.ClusterID, state.Connection, &resp.Diagnostics)
	if reach == nil {
		return
	}

	warnings, err := pool.Delete(ctx, reach.Cluster, state.which(), state.AllowDeleteWithData.ValueBool())
	cephvalue.Remark(state.label(), warnings, &resp.Diagnostics)

	switch {
	case err == nil:
	case errors.Is(err, pool.ErrHoldsData):
		resp.Diagnostics.AddError(state.label()+" holds data", value.Sentence(err)+" Nothing was deleted. Empty the pool, or apply allow_delete_with_data = true and then destroy it.")
	default:
		resp.Diagnostics.AddError(state.label()+" could not be deleted", value.Sentence(err))
	}
}

// which is the pool that the state is about.
func (m model) which() pool.Which {
	return pool.Which{ID: int(m.PoolID.ValueInt64()), Name: m.Name.ValueString()}
}

// record writes state and identity.
func (r *poolResource) record(ctx context.Context, m model, state *tfsdk.State, id *tfsdk.ResourceIdentity, diags *diag.Diagnostics) {
	diags.Append(state.Set(ctx, &m)...)
	pools.Identify(ctx, id, m.ClusterID, m.Name, diags)
}

// fill gives values to what was planned unknown, and leaves all else as planned.
func (m *model) fill(seen pool.Seen, fsid string) {
	as := *m
	as.follow(seen, fsid)

	for _, one := range []struct{ to, from *types.String }{
		{&m.ID, &as.ID}, {&m.FSID, &as.FSID}, {&m.Type, &as.Type}, {&m.Autoscale, &as.Autoscale}, {&m.CrushRule, &as.CrushRule}, {&m.Application, &as.Application},
	} {
		if one.to.IsUnknown() {
			*one.to = *one.from
		}
	}

	for _, one := range []struct{ to, from *types.Int64 }{
		{&m.PoolID, &as.PoolID}, {&m.Size, &as.Size}, {&m.MinSize, &as.MinSize}, {&m.PGs, &as.PGs}, {&m.UsedBytes, &as.UsedBytes}, {&m.Objects, &as.Objects},
	} {
		if one.to.IsUnknown() {
			*one.to = *one.from
		}
	}
}
