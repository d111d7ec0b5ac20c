// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// conditionModel is an entry of conditions.
type conditionModel struct {
	Type    types.String `tfsdk:"type"`
	Status  types.String `tfsdk:"status"`
	Reason  types.String `tfsdk:"reason"`
	Message types.String `tfsdk:"message"`
}

// record reads what a state knows of the cluster.
func (m model) record(ctx context.Context, diags *diag.Diagnostics) cluster.Record {
	r := cluster.Record{
		Machines: m.machines(ctx, diags), Ready: m.Ready.ValueBool(), State: m.State.ValueString(),
		Kubeconfig: m.Kubeconfig.ValueString(), ClusterCA: m.ClusterCA.ValueString(), Drift: value.GoStrings(m.Drift),
	}

	for _, c := range objects[conditionModel](ctx, m.Conditions, diags) {
		r.Conditions = append(r.Conditions, cluster.Condition{
			Type: c.Type.ValueString(), Status: c.Status.ValueString(), Reason: c.Reason.ValueString(), Message: c.Message.ValueString(),
		})
	}

	return r
}
