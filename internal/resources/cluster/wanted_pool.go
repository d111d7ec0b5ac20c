// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// resetCommand is what a machine of the kubeadm profile is left with where nobody says otherwise. As
// nobody asked for it, it keeps no machine from leaving.
const (
	resetCommand = "kubeadm reset -f"
	resetLimit   = 2 * time.Minute
)

// poolOf is a role as a pool of machines. Secret is write-only user data, where it is known.
func (m model) poolOf(ctx context.Context, r role, secret types.String, diags *diag.Diagnostics) cluster.Pool {
	p := cluster.Pool{
		Name: r.pool, Role: cluster.Worker, Replicas: int(r.Replicas.ValueInt64()),
		Image: r.image(ctx, diags), CustomDeploy: r.deploy(ctx, diags), RootHints: r.hints(ctx, diags),
		BootMode: r.BootMode.ValueString(), CleaningMode: r.CleaningMode.ValueString(), KeepPower: r.KeepPower.ValueBool(),
		Selector: selector(r.Selector, diags), Selection: r.Selection.ValueString(), Spread: r.Spread.ValueBool() || r.isControl,
		Domain: r.FailureDomain.ValueString(), ResourceClass: r.ResourceClass.ValueString(), Traits: value.GoStrings(r.Traits),
		MetaData: value.GoMap(r.MetaData), NodeLabels: value.GoMap(r.NodeLabels), NodeAnnotations: value.GoMap(r.NodeAnnotations),
		Reuse: cluster.Reuse(r.NodeReuse.ValueString()), ScaleIn: r.ScaleInPolicy.ValueString(), Offset: int(r.IPIndexOffset.ValueInt64()),
		UserData: bootstrap.UserData{
			Constant: r.UserData.ValueString(), Template: r.UserDataTemplate.ValueString(),
			InitConstant: r.controlPlane.InitUserData.ValueString(), InitTemplate: r.controlPlane.InitUserDataTemplate.ValueString(),
			JoinConstant: r.controlPlane.JoinUserData.ValueString(), JoinTemplate: r.controlPlane.JoinUserDataTemplate.ValueString(),
		},
	}

	if r.isControl {
		p.Role = cluster.ControlPlane
	}

	if value.Known(r.UserDataWOVersion) {
		p.UserDataMark = fmt.Sprintf("version %d", r.UserDataWOVersion.ValueInt64())
		p.UserData.Constant = secret.ValueString()
	}

	if h, ok := value.Object[hardwareModel](ctx, r.MinHardware, diags); ok {
		p.Hardware = choose.Hardware{
			CPUs: int(h.CPUs.ValueInt64()), MemoryMiB: int(h.MemoryMiB.ValueInt64()), RootGiB: int(h.RootGiB.ValueInt64()), NICs: int(h.NICs.ValueInt64()), Arch: h.Arch.ValueString(),
		}
	}

	for _, t := range objects[taintModel](ctx, r.NodeTaints, diags) {
		p.NodeTaints = append(p.NodeTaints, kube.Taint{Key: t.Key.ValueString(), Value: t.Value.ValueString(), Effect: t.Effect.ValueString()})
	}

	if s, ok := value.Object[rolloutModel](ctx, r.Rollout, diags); ok {
		p.Rollout = s.rollout()
	}

	m.templates(r, &p, diags)
	m.hooks(ctx, r, &p, diags)

	return p
}

// rollout is how a pool follows a new template.
func (s rolloutModel) rollout() cluster.Rollout {
	drain := map[string]string{drainYes: cluster.DrainBestEffort, drainNo: cluster.DrainNever, drainRequired: cluster.DrainRequired}

	return cluster.Rollout{
		Strategy: cluster.Strategy(s.Strategy.ValueString()), MaxSurge: share(s.MaxSurge), MaxUnavailable: share(s.MaxUnavailable),
		Drain: drain[s.Drain.ValueString()], DrainTimeout: span(s.DrainTimeout), Pause: span(s.PauseBetween),
	}
}

// share reads a number or a percentage that has passed validation.
func share(s types.String) cluster.Share {
	out, _ := cluster.ParseShare(s.ValueString())

	return out
}

// templates reads what goes on the config drive beside user data.
func (m model) templates(r role, p *cluster.Pool, diags *diag.Diagnostics) {
	read := func(s types.String, name string) *datatemplate.Template {
		if !value.Known(s) {
			return nil
		}

		t, err := datatemplate.Parse([]byte(s.ValueString()))
		if err != nil {
			diags.AddAttributeError(r.at.AtName(name), "Invalid data template in "+r.title()+" of "+m.inLabel(), value.Sentence(err))

			return nil
		}

		return &t
	}

	p.Template = read(r.DataTemplate, "data_template")

	for name, v := range r.DomainDataTemplates.Elements() {
		s, _ := v.(types.String)
		if t := read(s, "failure_domain_data_templates"); t != nil {
			if p.DomainTemplates == nil {
				p.DomainTemplates = map[string]*datatemplate.Template{}
			}

			p.DomainTemplates[name] = t
		}
	}

	if !value.Known(r.NetworkDataJSON) {
		return
	}

	if err := json.Unmarshal([]byte(r.NetworkDataJSON.ValueString()), &p.NetworkData); err != nil {
		diags.AddAttributeError(r.at.AtName("network_data_json"), "Invalid network data in "+r.title()+" of "+m.inLabel(), "This is no JSON object.")
	}
}

// hooks reads commands on machines. One of the kubeadm profile that can be reached is reset
// before it leaves.
func (m model) hooks(ctx context.Context, r role, p *cluster.Pool, diags *diag.Diagnostics) {
	h, ok := value.Object[hooksModel](ctx, r.Hooks, diags)
	if !ok {
		return
	}

	of := func(all types.List) []cluster.Hook {
		var out []cluster.Hook
		for _, c := range value.GoStrings(all) {
			out = append(out, cluster.Hook{Command: c})
		}

		return out
	}

	p.PostProvision, p.PreDeprovision = of(h.PostProvision), of(h.PreDeprovision)

	if h.PreDeprovision.IsNull() && !h.Connection.IsNull() && !m.Bootstrap.IsNull() {
		p.PreDeprovision = []cluster.Hook{{Command: resetCommand, Timeout: resetLimit, BestEffort: true}}
	}
}
