// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephfilesystem

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/fs"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// Create implements [resource.Resource].
func (r *fsResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer value.Guard(ctx, "create", "Ceph file system", &resp.Diagnostics)

	var plan model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)

	ctx, cancel := timeouts.Limit(ctx, plan.Timeouts, "create")
	defer cancel()

	plan.validate(ctx, &resp.Diagnostics)

	reach := cephvalue.Reach(ctx, r.Far, plan.ClusterID, plan.Connection, &resp.Diagnostics)
	if reach == nil {
		return
	}

	wanted := plan.wanted(ctx, &resp.Diagnostics)
	wanted.Hosts = r.hosts(ctx, plan, reach.Hosts, &resp.Diagnostics)

	if resp.Diagnostics.HasError() {
		return
	}

	seen, made, err := fs.Create(ctx, reach, wanted)
	stopped := value.Interrupted(ctx)
	ctx = context.WithoutCancel(ctx)

	cephvalue.Remark(plan.label(), seen.Warnings, &resp.Diagnostics)

	switch {
	case err == nil:
	case errors.Is(err, fs.ErrExists):
		resp.Diagnostics.AddAttributeError(path.Root("name"), plan.label()+" is already there", value.Sentence(err)+" To manage it, "+cephvalue.ImportIt(plan.ClusterID, plan.Name))

		return
	case !made:
		resp.Diagnostics.AddError(plan.label()+" could not be created", value.Sentence(err)+" There is no file system of this name; pools that were made for it are empty, and the next apply takes them.")

		return
	case stopped:
		resp.Diagnostics.AddWarning(plan.label()+" is not finished", "The run was interrupted. The file system stands, and may not be served yet.")
	default:
		resp.Diagnostics.AddError(plan.label()+" could not be finished", value.Sentence(err)+" The file system stands, and is not served as wanted. Terraform marks it as tainted: the next apply deletes it "+
			"(nothing is in it) and creates it anew. To go on in place instead, run `terraform untaint` with the address shown above, and change something in mds, then apply.")
	}

	setLeft(ctx, resp.Private, nil, &resp.Diagnostics) // of one that this one replaces
	plan.fill(seen, reach.Location.FSID, false)
	plan.record(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
}

// Read implements [resource.Resource].
func (r *fsResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer value.Guard(ctx, "refresh", "Ceph file system", &resp.Diagnostics)

	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	filesystems.Identify(ctx, resp.Identity, state.ClusterID, state.Name, &resp.Diagnostics)

	reach := cephvalue.Refresh(ctx, r.Far, state.ClusterID, state.Connection, state.label(), &resp.Diagnostics)
	if reach == nil {
		return
	}

	seen, err := fs.Look(ctx, reach.Cluster, state.Name.ValueString())

	pools := left(ctx, req.Private, &resp.Diagnostics)

	switch {
	case errors.Is(err, fs.ErrNoFS) && len(pools) > 0:
		resp.Diagnostics.AddWarning(state.label()+" is gone, and its pools are not", "A deletion was not finished: "+names(pools)+". It stays in the state, so that the next destroy deletes them; "+
			"an apply deletes them, too, and then creates it anew.")
		state.record(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	case errors.Is(err, fs.ErrNoFS):
		resp.Diagnostics.AddWarning(state.label()+" is gone", value.Sentence(err)+" It is taken out of the state; the next apply creates it anew.")
		resp.State.RemoveResource(ctx)
	case err != nil:
		cephvalue.NotRead(state.label(), err, &resp.Diagnostics)
	default:
		setLeft(ctx, resp.Private, nil, &resp.Diagnostics)
		setClosed(ctx, resp.Private, !seen.Joinable, &resp.Diagnostics)
		state.follow(ctx, seen, reach.Location.FSID, &resp.Diagnostics)
		state.record(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	}
}

// Update implements [resource.Resource]. It never taints: after a failure the state says what
// was reached.
func (r *fsResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer value.Guard(ctx, "update", "Ceph file system", &resp.Diagnostics)

	var plan, state model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	if !resp.Diagnostics.HasError() && plan.idle(state) {
		plan.record(ctx, &resp.State, resp.Identity, &resp.Diagnostics)

		return
	}

	ctx, cancel := timeouts.Limit(ctx, plan.Timeouts, "update")
	defer cancel()

	plan.validate(ctx, &resp.Diagnostics)

	reach := cephvalue.Reach(ctx, r.Far, plan.ClusterID, plan.Connection, &resp.Diagnostics)
	if reach == nil {
		return
	}

	wanted := plan.wanted(ctx, &resp.Diagnostics)
	wanted.Hosts = r.hosts(ctx, plan, reach.Hosts, &resp.Diagnostics)
	wanted.Former = r.former(ctx, plan, state, reach, &resp.Diagnostics)
	wanted.Drop = plan.dropped(ctx, state, &resp.Diagnostics)

	if resp.Diagnostics.HasError() {
		return
	}

	seen, err := fs.Update(ctx, reach, wanted, plan.AllowDeleteWithData.ValueBool())
	ctx = context.WithoutCancel(ctx)

	cephvalue.Remark(plan.label(), seen.Warnings, &resp.Diagnostics)

	if err != nil {
		// The old settings stay in the state, so that the next plan shows all that is left to do.
		resp.Diagnostics.AddError(plan.label()+" could not be changed", value.Sentence(err)+" The next apply goes on in place.")

		return
	}

	setClosed(ctx, resp.Private, !seen.Joinable, &resp.Diagnostics)
	plan.fill(seen, reach.Location.FSID, false)
	plan.record(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
}

// former are the hosts that had an MDS before.
func (r *fsResource) former(ctx context.Context, plan, state model, reach *ceph.Reach, diags *diag.Diagnostics) []ceph.Host {
	was := reach.Hosts

	if !plan.ClusterID.Equal(state.ClusterID) || !plan.Connection.Equal(state.Connection) {
		old, err := cephvalue.Open(ctx, r.Far, state.ClusterID, state.Connection, diags)
		if err != nil {
			diags.AddWarning("Former hosts of "+state.label()+" are not looked at", value.Sentence(err)+" An MDS on a host that is no longer named goes on.")

			return nil
		}

		was = old.Hosts
	}

	return r.hosts(ctx, state, was, diags)
}

// Delete implements [resource.Resource].
func (r *fsResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer value.Guard(ctx, "delete", "Ceph file system", &resp.Diagnostics)

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

	hosts := r.hosts(ctx, state, reach.Hosts, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	keep := context.WithoutCancel(ctx)

	warnings, err := fs.Delete(ctx, reach, fs.Removal{
		Name: state.Name.ValueString(), Hosts: hosts, WithData: state.AllowDeleteWithData.ValueBool(), Left: left(ctx, req.Private, &resp.Diagnostics),
		Note: func(left []pool.Which) { setLeft(keep, resp.Private, left, &resp.Diagnostics) },
	})
	cephvalue.Remark(state.label(), warnings, &resp.Diagnostics)

	switch {
	case err == nil:
	case errors.Is(err, pool.ErrHoldsData):
		resp.Diagnostics.AddError(state.label()+" holds data", value.Sentence(err)+" Nothing was deleted. Delete the files, or apply allow_delete_with_data = true and then destroy it.")
	default:
		resp.Diagnostics.AddError(state.label()+" could not be deleted", value.Sentence(err))
	}
}
