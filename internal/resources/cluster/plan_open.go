// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// This file tells what is surely made anew from what may be: a value that another resource gives is
// not known before that is made, and most often turns out to be the one that was.

// outlook says whether a machine was surely made from something else than its role says now, and
// what is not known yet of what it is made from. Surely means: whatever is not known is taken for
// unchanged, and the rest differs all the same.
func (p *planner) outlook(ctx context.Context, r role, m cluster.Machine) (changed bool, open []string) {
	if open = p.unknown(ctx, r, m.Name); len(open) == 0 {
		return p.differs(m), nil
	}

	b := p.settled(ctx)
	if was, ok := b.roles[m.Pool]; !ok || len(b.unknown(ctx, was, m.Name)) > 0 {
		return false, open
	}

	return b.differs(m), open
}

// differs reports whether a machine was made from something else than its role says.
func (p *planner) differs(m cluster.Machine) bool {
	return slices.ContainsFunc(p.wanted.Pools, func(one cluster.Pool) bool {
		return one.Name == m.Pool && m.TemplateHash != p.wanted.TemplateHash(one, m.Name)
	})
}

// anew reports whether a machine that stays is made anew, or may be.
func (p *planner) anew(name string) bool { return p.remade[name] || len(p.maybe[name]) > 0 }

// settled is the plan with what is not known yet as the state has it.
func (p *planner) settled(ctx context.Context) *planner {
	if p.before != nil {
		return p.before
	}

	var ignored diag.Diagnostics // the plan itself says what is wrong

	m := *p.plan
	m.ControlPlane, _ = settle(ctx, m.ControlPlane, p.state.ControlPlane).(types.Object)
	m.Workers, _ = settle(ctx, m.Workers, p.state.Workers).(types.Map)
	m.Bootstrap, _ = settle(ctx, m.Bootstrap, p.state.Bootstrap).(types.Object)

	p.before = &planner{plan: &m, wanted: m.wanted(ctx, p.config, p.far.HostDefaults(), &ignored), roles: map[string]role{}}

	roles, _ := m.roles(ctx, &ignored)
	for _, r := range roles {
		p.before.roles[r.pool] = r
	}

	return p.before
}

// settle is a value in which what is not known is as it was, as far as that is there.
func settle(ctx context.Context, now, was attr.Value) attr.Value {
	if was == nil || was.IsNull() && !now.IsUnknown() {
		return now
	}

	if now.IsUnknown() {
		return was
	}

	each := func(all, before map[string]attr.Value) map[string]attr.Value {
		for name, v := range all {
			all[name] = settle(ctx, v, before[name])
		}

		return all
	}

	switch now := now.(type) {
	case types.Object:
		if before, ok := was.(types.Object); ok && !now.IsNull() {
			return types.ObjectValueMust(now.AttributeTypes(ctx), each(now.Attributes(), before.Attributes()))
		}
	case types.Map:
		if before, ok := was.(types.Map); ok && !now.IsNull() {
			return types.MapValueMust(now.ElementType(ctx), each(now.Elements(), before.Elements()))
		}
	}

	return now
}

// unknown names what is not known yet of what a machine is made from, as [cluster.Wanted.TemplateHash]
// has it.
func (p *planner) unknown(ctx context.Context, r role, machine string) []string {
	var out []string

	note := func(at path.Path, v attr.Value) {
		if value.HasUnknown(v) {
			out = append(out, at.String())
		}
	}

	for name, v := range map[string]attr.Value{
		"boot_mode": r.BootMode, "image": r.Image, "custom_deploy": r.CustomDeploy, "root_device_hints": r.RootHints, "meta_data": r.MetaData,
		"user_data": r.UserData, "user_data_template": r.UserDataTemplate, "user_data_wo_version": r.UserDataWOVersion,
		"data_template": r.DataTemplate, "failure_domain_data_templates": r.DomainDataTemplates, "network_data_json": r.NetworkDataJSON,
		"init_user_data": r.controlPlane.InitUserData, "init_user_data_template": r.controlPlane.InitUserDataTemplate,
		"join_user_data": r.controlPlane.JoinUserData, "join_user_data_template": r.controlPlane.JoinUserDataTemplate,
	} {
		note(r.at.AtName(name), v)
	}

	at := r.at.AtName("machine_overrides")

	switch own, ok := r.Overrides.Elements()[machine].(types.Object); {
	case r.Overrides.IsUnknown():
		note(at, r.Overrides)
	case ok && own.IsUnknown():
		note(at.AtMapKey(machine), own)
	case ok:
		note(at.AtMapKey(machine).AtName("user_data"), own.Attributes()["user_data"])
	}

	if b, ok := value.Object[bootstrapModel](ctx, p.plan.Bootstrap, &diag.Diagnostics{}); ok && !b.Kubeadm.IsUnknown() {
		for name, v := range b.Kubeadm.Attributes() {
			if !slices.Contains(notMade, name) && (r.isControl || !slices.Contains(notMadeOfWorkers, name)) {
				note(pathBootstrap.AtName("kubeadm").AtName(name), v)
			}
		}
	} else {
		note(pathBootstrap, p.plan.Bootstrap)
	}

	slices.Sort(out)

	return out
}

// What no machine is made from, and what no worker is; see [bootstrap.Kubeadm.SourceHash].
var (
	notMade          = []string{"pki", "pki_wo_version", "token_lifetime", "allow_etcd_member_loss"}
	notMadeOfWorkers = []string{
		"pod_subnet", "service_subnet", "dns_domain", "cert_sans", "encryption_algorithm", "image_repository", "bind_port", "kube_vip", "keepalived",
	}
)
