// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/user"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// limit bounds every verb: each is a handful of commands.
const limit = 3 * time.Minute

// Create implements [resource.Resource].
func (r *clientResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer value.Guard(ctx, "create", "Ceph client", &resp.Diagnostics)

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	var plan model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)

	reach := cephvalue.Reach(ctx, r.Far, plan.ClusterID, plan.Connection, &resp.Diagnostics)
	if reach == nil {
		return
	}

	u, adopted, err := user.Create(ctx, reach.Cluster, plan.Entity.ValueString(), value.GoMap(plan.Caps))

	switch {
	case errors.Is(err, user.ErrOtherCaps):
		resp.Diagnostics.AddAttributeError(path.Root("entity"), plan.label()+" is already there", value.Sentence(err)+" Nothing was changed. To manage it, "+cephvalue.ImportIt(plan.ClusterID, plan.Entity))
	case err != nil:
		resp.Diagnostics.AddError(plan.label()+" could not be created", value.Sentence(err)+" If it was made all the same, the next apply takes it as it is.")
	default:
		if adopted {
			resp.Diagnostics.AddWarning(plan.label()+" was there already", "It has the same caps, and keeps its key. From now on it is managed here: a destroy deletes it, also where others use it.")
		}

		plan.follow(u, reach.Location.FSID)
		plan.record(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	}
}

// Read implements [resource.Resource].
func (r *clientResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer value.Guard(ctx, "refresh", "Ceph client", &resp.Diagnostics)

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	users.Identify(ctx, resp.Identity, state.ClusterID, state.Entity, &resp.Diagnostics)

	reach := cephvalue.Refresh(ctx, r.Far, state.ClusterID, state.Connection, state.label(), &resp.Diagnostics)
	if reach == nil {
		return
	}

	u, err := user.Look(ctx, reach.Cluster, state.Entity.ValueString())

	switch {
	case errors.Is(err, user.ErrNoUser):
		resp.Diagnostics.AddWarning(state.label()+" is gone", "The cluster has no such user any more. It is taken out of the state; the next apply creates it anew, with another key.")
		resp.State.RemoveResource(ctx)
	case err != nil:
		cephvalue.NotRead(state.label(), err, &resp.Diagnostics)
	default:
		state.follow(u, reach.Location.FSID)
		state.record(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	}
}

// Update implements [resource.Resource].
func (r *clientResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer value.Guard(ctx, "update", "Ceph client", &resp.Diagnostics)

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	var plan, state model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	reach := cephvalue.Reach(ctx, r.Far, plan.ClusterID, plan.Connection, &resp.Diagnostics)
	if reach == nil {
		return
	}

	u, err := user.Update(ctx, reach.Cluster, plan.Entity.ValueString(), value.GoMap(plan.Caps), plan.rekeys(state))
	if err != nil {
		resp.Diagnostics.AddError(plan.label()+" could not be changed", value.Sentence(err)+" The next apply tries again.")

		return
	}

	plan.follow(u, reach.Location.FSID)
	plan.record(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
}

// Delete implements [resource.Resource].
func (r *clientResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer value.Guard(ctx, "delete", "Ceph client", &resp.Diagnostics)

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	reach := cephvalue.Reach(ctx, r.Far, state.ClusterID, state.Connection, &resp.Diagnostics)
	if reach == nil {
		return
	}

	if err := user.Delete(ctx, reach.Cluster, state.Entity.ValueString()); err != nil {
		resp.Diagnostics.AddError(state.label()+" could not be deleted", value.Sentence(err))
	}
}

// ModifyPlan implements [resource.ResourceWithModifyPlan]: it opens what a change moves.
func (r *clientResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	defer value.Guard(ctx, "plan", "Ceph client", &resp.Diagnostics)

	if req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return
	}

	var plan, state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)

	if resp.Diagnostics.HasError() || !cephvalue.SameCluster(plan.ClusterID, state.ClusterID) || !plan.Entity.Equal(state.Entity) {
		return // of another user, the framework has opened all
	}

	plan.ID = cephvalue.JoinID(plan.ClusterID, plan.Entity)

	rekeys := plan.rekeys(state)
	maybe := plan.KeyVersion.IsUnknown() && !state.KeyVersion.IsNull()

	switch {
	case rekeys:
		resp.Diagnostics.AddAttributeWarning(path.Root("key_version"), plan.label()+" gets another key",
			fmt.Sprintf("key_version changes from %d to %d. The key that is in use ends at once: whoever has it must get the new one.", state.KeyVersion.ValueInt64(), plan.KeyVersion.ValueInt64()))
	case maybe:
		resp.Diagnostics.AddAttributeWarning(path.Root("key_version"), plan.label()+" may get another key",
			fmt.Sprintf("key_version is %d, and is not known yet. With another number, the key that is in use ends at once.", state.KeyVersion.ValueInt64()))
	}

	switch {
	case rekeys || maybe || !plan.StoreKey.Equal(state.StoreKey):
		plan.Key = types.StringUnknown()
	default:
		plan.Key = state.Key
	}

	if !plan.StoreKey.IsUnknown() && !plan.StoreKey.ValueBool() {
		plan.Key = types.StringNull()
	}

	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// rekeys reports whether the user gets another key. That ends the one in use: it takes two numbers
// that differ. The first one that is written, such as after an import, is none of that.
func (m model) rekeys(state model) bool {
	return value.Known(m.KeyVersion) && value.Known(state.KeyVersion) && !m.KeyVersion.Equal(state.KeyVersion)
}
