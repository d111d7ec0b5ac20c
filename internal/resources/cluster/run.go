// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// errNoMachines says that the far side cannot do what a cluster needs.
var errNoMachines = errors.New("the service behind the hosts knows no claims, which machines of a cluster need")

// life checks a configuration once more, now that all of it is known, and returns the verbs of
// its cluster. Config is nil where there is none: in Read and Delete.
func (r *clusterResource) life(ctx context.Context, m model, config *model, pki bootstrap.PKI, diags *diag.Diagnostics) (*cluster.Run, bool) {
	if diags.HasError() {
		return nil, false
	}

	if config != nil {
		var again diag.Diagnostics

		config.validate(ctx, &again)
		diags.Append(again.Errors()...) // the warnings were in the plan
	}

	w := m.wanted(ctx, config, r.far.HostDefaults(), diags)
	if w.Bootstrap != nil {
		w.Bootstrap.PKI = pki
	}

	run := &cluster.Run{Wanted: w, Access: m.access(ctx, pki, diags), Dial: r.far.ClusterDial(), Log: progress(m.label())}
	run.ReadFile = r.files(ctx, m, run.Wanted.Reach, diags)
	run.Etcd = etcdOf(pki, run)

	roles, _ := m.roles(ctx, diags)
	run.Hook = r.hook(ctx, roles, run.Wanted.Reach, diags)

	if diags.HasError() {
		return nil, false
	}

	far, err := r.hosts(ctx)
	if err != nil {
		diags.AddError("Ironic cannot be reached", value.Sentence(err))

		return nil, false
	}

	run.Far = far

	return run, true
}

func (r *clusterResource) hosts(ctx context.Context) (cluster.Far, error) {
	backend, err := r.far.Hosts(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says all
	}

	far, ok := backend.(cluster.Far)
	if !ok {
		return nil, errNoMachines
	}

	return far, nil
}

// complete sets what a create decides and the plan could not know.
func (m *model) complete(d host.Defaults) {
	if !value.Known(m.Namespace) {
		m.Namespace = types.StringValue(d.Namespace)
	}

	if !value.Known(m.ID) {
		m.ID = types.StringValue(m.Namespace.ValueString() + "/" + m.Name.ValueString())
	}
}

// record writes state and identity. The context may have ended; what is known is recorded all
// the same.
func record(ctx context.Context, m model, state *tfsdk.State, id *tfsdk.ResourceIdentity, diags *diag.Diagnostics) {
	ctx = context.WithoutCancel(ctx)
	diags.Append(state.Set(ctx, &m)...)

	if id != nil && value.Known(m.ID) {
		diags.Append(id.Set(ctx, identity{m.ID})...)
	}
}

// bounded is a run with a budget of time.
func bounded(run *cluster.Run, budget *wait.Budget) *cluster.Run {
	run.Budget = budget

	return run
}
