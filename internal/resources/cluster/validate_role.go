// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// validateRole holds the rules of one pool of machines.
func (m model) validateRole(ctx context.Context, r role, diags *diag.Diagnostics) {
	m.validateReplicas(ctx, r, diags)
	m.validateImage(ctx, r, diags)
	m.validateUserData(r, diags)
	m.validateRollout(ctx, r, diags)
	m.validateOverrides(ctx, r, diags)
	m.validateSelector(r.at.AtName("host_selector"), r.Selector, diags)
	m.validateTaints(ctx, r, diags)
	m.validateTemplates(r, diags)

	if !value.Known(r.FailureDomain) || !value.Known(m.FailureDomains) {
		return
	}

	if _, there := m.FailureDomains.Elements()[r.FailureDomain.ValueString()]; !there {
		diags.AddAttributeError(r.at.AtName("failure_domain"), "No failure domain "+r.FailureDomain.ValueString()+" in "+m.inLabel(), "failure_domains does not have it.")
	}
}

// validateReplicas wants a number of machines that an etcd can live with.
func (m model) validateReplicas(_ context.Context, r role, diags *diag.Diagnostics) {
	if r.Replicas.IsNull() {
		diags.AddAttributeError(r.at.AtName("replicas"), "Number of machines missing in "+r.title()+" of "+m.inLabel(), "replicas is required.")
	}

	if !r.isControl || !value.Known(r.Replicas) {
		return
	}

	at, n := r.at.AtName("replicas"), r.Replicas.ValueInt64()

	switch external := r.controlPlane.ExternalEtcd; {
	case n < 1:
		diags.AddAttributeError(at, "Control plane of "+m.inLabel()+" has no machines", "replicas must be at least 1. To have workers only, leave control_plane out.")
	case n%2 == 0 && !external.IsUnknown() && !external.ValueBool():
		diags.AddAttributeError(at, "Control plane of "+m.inLabel()+" has an even number of machines", fmt.Sprintf(
			"%d members of etcd survive the loss of no more of them than %d do. Choose an odd number, or set external_etcd where etcd runs elsewhere.", n, n-1))
	}
}

// validateImage has package image look at the image and the hints.
func (m model) validateImage(ctx context.Context, r role, diags *diag.Diagnostics) {
	if r.Image.IsNull() && r.CustomDeploy.IsNull() {
		diags.AddAttributeError(r.at.AtName("image"), "Nothing to deploy in "+r.title()+" of "+m.inLabel(), "Either image or custom_deploy is required.")
	}

	if value.Known(r.Image) && !value.HasUnknown(r.Image) {
		m.checkImage(ctx, r, diags)
	}

	if !value.Known(r.RootHints) || value.HasUnknown(r.RootHints) {
		return
	}

	if h := r.hints(ctx, diags); h != nil {
		for _, p := range h.Validate() {
			diags.AddAttributeError(r.at.AtName("root_device_hints").AtName(p.Path), "Invalid root device hint in "+r.title()+" of "+m.inLabel(), sentence(p.Text))
		}
	}
}

func (m model) checkImage(ctx context.Context, r role, diags *diag.Diagnostics) {
	i := r.image(ctx, diags)
	if i == nil {
		return
	}

	for _, p := range i.Validate() {
		name := p.Path
		if name == "format" {
			name = "disk_format"
		}

		diags.AddAttributeError(r.at.AtName("image").AtName(name), "Invalid image in "+r.title()+" of "+m.inLabel(), sentence(p.Text))
	}

	if !i.IsLiveISO() {
		return
	}

	if !r.CustomDeploy.IsNull() {
		diags.AddAttributeError(r.at.AtName("custom_deploy"), "Two ways to deploy in "+r.title()+" of "+m.inLabel(), "A "+i.Format+" image and custom_deploy exclude each other.")
	}

	if r.hasUserData() {
		diags.AddAttributeWarning(r.at.AtName("image").AtName("disk_format"), "User data in "+r.title()+" of "+m.inLabel()+" has no effect", "A "+i.Format+" image gets no config drive.")
	}
}

// hasUserData reports whether a role says something about user data.
func (r role) hasUserData() bool {
	return len(given(r.userData())) > 0 || len(given(r.initData())) > 0 || len(given(r.joinData())) > 0
}

func (r role) userData() map[string]types.String {
	return map[string]types.String{"user_data": r.UserData, "user_data_template": r.UserDataTemplate, "user_data_wo": r.UserDataWO}
}

func (r role) initData() map[string]types.String {
	return map[string]types.String{"init_user_data": r.controlPlane.InitUserData, "init_user_data_template": r.controlPlane.InitUserDataTemplate}
}

func (r role) joinData() map[string]types.String {
	return map[string]types.String{"join_user_data": r.controlPlane.JoinUserData, "join_user_data_template": r.controlPlane.JoinUserDataTemplate}
}

// validateTaints wants a key and an effect of each taint.
func (m model) validateTaints(ctx context.Context, r role, diags *diag.Diagnostics) {
	for _, t := range objects[taintModel](ctx, r.NodeTaints, diags) {
		if t.Key.IsNull() || t.Effect.IsNull() {
			diags.AddAttributeError(r.at.AtName("node_taints"), "Half a taint in "+r.title()+" of "+m.inLabel(), "A taint needs key and effect.")
		}
	}
}

// validateTemplates wants the pools of data templates to be there.
func (m model) validateTemplates(r role, diags *diag.Diagnostics) {
	all := map[string]types.String{"data_template": r.DataTemplate}

	for _, domain := range sorted(r.DomainDataTemplates.Elements()) {
		if s, ok := r.DomainDataTemplates.Elements()[domain].(types.String); ok {
			all["failure_domain_data_templates of "+domain] = s
		}
	}

	if m.IPPools.IsUnknown() {
		return
	}

	for _, name := range sorted(all) {
		if !value.Known(all[name]) {
			continue
		}

		t, err := datatemplate.Parse([]byte(all[name].ValueString()))
		if err != nil {
			continue // the attribute's own validator says so
		}

		for _, pool := range t.Pools() {
			if _, there := m.IPPools.Elements()[pool]; !there {
				at, _, _ := strings.Cut(name, " ")
				diags.AddAttributeError(r.at.AtName(at), "No pool "+pool+" in "+m.inLabel(), name+" of "+r.title()+" takes addresses from it, and ip_pools does not have it.")
			}
		}
	}
}

// given are the names of attributes that are not null.
func given(all map[string]types.String) []string {
	var out []string

	for _, name := range sorted(all) {
		if !all[name].IsNull() {
			out = append(out, name)
		}
	}

	return out
}

// validateUserData wants one kind of user data for each machine.
func (m model) validateUserData(r role, diags *diag.Diagnostics) {
	for _, group := range []map[string]types.String{r.userData(), r.initData(), r.joinData()} {
		if names := given(group); len(names) > 1 {
			diags.AddAttributeError(r.at.AtName(names[1]), "Two kinds of user data in "+r.title()+" of "+m.inLabel(), "Give one of "+strings.Join(names, ", ")+".")
		}
	}
}

// validateRollout holds what a control plane's rollout may be.
func (m model) validateRollout(ctx context.Context, r role, diags *diag.Diagnostics) {
	rollout, ok := value.Object[rolloutModel](ctx, r.Rollout, diags)
	if !ok || !value.Known(rollout.MaxSurge) {
		return
	}

	surge, err := cluster.ParseShare(rollout.MaxSurge.ValueString())
	if err != nil || !r.isControl {
		return
	}

	if surge.Percent || surge.Number > 1 {
		diags.AddAttributeError(r.at.AtName("rollout").AtName("max_surge"), "Control plane of "+m.inLabel()+" is rolled out one by one", "max_surge is 0 or 1 there.")
	}
}

// validateOverrides wants overrides of machines that can be.
func (m model) validateOverrides(ctx context.Context, r role, diags *diag.Diagnostics) {
	for _, name := range sorted(r.Overrides.Elements()) {
		at := r.at.AtName("machine_overrides").AtMapKey(name)

		if value.Known(m.Name) && !m.NameFormat.IsUnknown() {
			if _, ok := m.indexOf(r.pool, name); !ok {
				diags.AddAttributeError(at, "No machine "+name+" in "+r.title()+" of "+m.inLabel(), "Machines there are called "+m.machineName(r.pool, 0)+" and so on.")
			}
		}

		o, ok := value.Object[overrideModel](ctx, r.Overrides.Elements()[name], diags)
		if !ok {
			continue
		}

		m.validateSelector(at.AtName("host_selector"), o.Selector, diags)

		if m.IPPools.IsUnknown() {
			continue
		}

		for _, pool := range sorted(o.Addresses.Elements()) {
			if _, there := m.IPPools.Elements()[pool]; !there {
				diags.AddAttributeError(at.AtName("addresses").AtMapKey(pool), "No pool "+pool+" in "+m.inLabel(), "ip_pools does not have it.")
			}
		}
	}
}

// validateNames wants names of machines that are DNS labels, of which none is there twice.
func (m model) validateNames(_ context.Context, roles []role, diags *diag.Diagnostics) {
	if !value.Known(m.Name) || m.NameFormat.IsUnknown() {
		return
	}

	seen := map[string]string{}

	for _, r := range roles {
		if !value.Known(r.Replicas) || r.Replicas.ValueInt64() < 1 {
			continue
		}

		last := m.machineName(r.pool, int(r.Replicas.ValueInt64())-1)
		if err := isLabel(last, maxLabel); err != nil {
			diags.AddAttributeError(r.at, "Names of machines in "+r.title()+" of "+m.inLabel()+" are not right", sentence(fmt.Sprintf("Of the last one: %v", err)))
		}

		for i := range int(r.Replicas.ValueInt64()) {
			name := m.machineName(r.pool, i)
			if other, twice := seen[name]; twice && other != r.pool {
				diags.AddAttributeError(r.at, "Two machines of "+m.inLabel()+" would be called "+name, "One is in the pool "+other+". Choose another name for a pool, or another machine_name_format.")

				break
			}

			seen[name] = r.pool
		}
	}
}
