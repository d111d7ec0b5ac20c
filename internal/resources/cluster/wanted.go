// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// wanted is what the model asks for, without keys of the bootstrap. Config has the write-only
// values; it is nil where there is no configuration, in Read and Delete. What is not known yet
// has no value, so that a plan can ask for what follows from the rest.
func (m model) wanted(ctx context.Context, config *model, d host.Defaults, diags *diag.Diagnostics) cluster.Wanted {
	w := cluster.Wanted{
		Namespace: m.Namespace.ValueString(), Name: m.Name.ValueString(), OwnerID: d.OwnerID, NameFormat: m.NameFormat.ValueString(),
		CloudProvider: m.CloudProvider.ValueBool(), DomainsRequired: m.DomainPolicy.ValueString() == domainsRequired,
		DeleteMachines: value.GoStrings(m.DeleteMachines),
		Partial:        m.OnInsufficient.ValueString() == insufficientPartial,
		Rollback:       m.OnCreateFailure.ValueString() == failureRollback,
		RetryOther:     m.OnHostError.ValueString() == hostErrorRetry,
		HostRetries:    int(m.HostRetries.ValueInt64()), Adopt: m.AdoptExisting.ValueBool(), ProvisioningLimit: d.ProvisioningLimit,
		Overrides: map[string]cluster.Override{},
	}

	if e, ok := value.Object[endpointModel](ctx, m.Endpoint, diags); ok {
		w.Endpoint = cluster.Endpoint{Host: e.Host.ValueString(), Port: int(e.Port.ValueInt64())}
	}

	for _, s := range value.GoStrings(m.LabelPrefixes) {
		if s = strings.TrimSpace(s); s != "" {
			w.LabelPrefixes = append(w.LabelPrefixes, s)
		}
	}

	if value.Known(m.MaxDeprovision) {
		n := int(m.MaxDeprovision.ValueInt64())
		w.MaxDeprovision = &n
	}

	m.place(ctx, &w, diags)
	m.policies(ctx, &w, diags)
	m.pools(ctx, config, &w, diags)

	if k, ok := m.kubeadm(ctx, diags); ok {
		w.Bootstrap = &cluster.Bootstrap{Kubeadm: k.profile(ctx, diags), TokenTTL: span(k.TokenLifetime)}
		w.AllowEtcdLoss = k.AllowEtcdMemberLoss.ValueBool()
	}

	return w
}

// place reads where machines and their addresses come from.
func (m model) place(ctx context.Context, w *cluster.Wanted, diags *diag.Diagnostics) {
	if p, ok := value.Object[hostPoolModel](ctx, m.HostPool, diags); ok {
		w.HostIDs, w.HostNames, w.Selector = value.GoStrings(p.HostIDs), value.GoStrings(p.HostNames), selector(p.Selector, diags)
	}

	for name, d := range value.Objects[domainModel](ctx, m.FailureDomains, diags) {
		if w.Domains == nil {
			w.Domains = map[string]cluster.Domain{}
		}

		w.Domains[name] = cluster.Domain{ControlPlane: d.ControlPlane.ValueBool(), Attributes: value.GoMap(d.Attributes)}
	}

	w.IPPools, _ = m.ipPools(ctx, diags)
}

// policies reads how things are done.
func (m model) policies(ctx context.Context, w *cluster.Wanted, diags *diag.Diagnostics) {
	w.Wait.Level = cluster.Level(m.level(ctx, diags))

	if s, ok := value.Object[waitModel](ctx, m.Wait, diags); ok {
		w.Wait.APITimeout, w.Wait.NodeTimeout, w.Wait.Settle = span(s.APITimeout), span(s.NodeTimeout), span(s.Settle)
	}

	if s, ok := value.Object[parallelismModel](ctx, m.Parallelism, diags); ok {
		w.Parallel = cluster.Parallelism{Provision: int(s.Provision.ValueInt64()), Deprovision: int(s.Deprovision.ValueInt64()), Reboot: int(s.Reboot.ValueInt64())}
	}

	if s, ok := value.Object[timeoutsModel](ctx, m.Timeouts, diags); ok {
		w.Timeouts = cluster.PhaseTimeouts{Provision: span(s.Provision), Deprovision: span(s.Deprovision), Drain: span(s.Drain)}
	}

	s, ok := value.Object[remediationModel](ctx, m.Remediation, diags)
	if !ok {
		return
	}

	w.Remediation = cluster.Remediation{
		Enabled: s.Enabled.ValueBool(), UnhealthyTimeout: span(s.UnhealthyTimeout), StartupTimeout: span(s.NodeStartupTimeout), RetryLimit: int(s.RetryLimit.ValueInt64()),
		Timeout: span(s.Timeout), Strategy: s.Strategy.ValueString(), OnFailure: s.OnFailure.ValueString(), Fence: s.Fence.ValueString(),
	}

	if value.Known(s.MaxUnhealthy) {
		limit, err := cluster.ParseShare(s.MaxUnhealthy.ValueString())
		if err != nil {
			diags.AddError("Invalid max_unhealthy of "+m.inLabel(), value.Sentence(err)) // refused at plan where it was known then
		}

		w.Remediation.MaxUnhealthy = limit
	}
}

// pools reads the pools of machines in the order of rollouts: those that rollout_order names,
// then the control plane, then the others by name.
func (m model) pools(ctx context.Context, config *model, w *cluster.Wanted, diags *diag.Diagnostics) {
	roles, _ := m.roles(ctx, diags)
	written := map[string]role{}

	if config != nil {
		all, _ := config.roles(ctx, diags)
		for _, r := range all {
			written[r.pool] = r
		}
	}

	order := value.GoStrings(m.RolloutOrder)
	rank := func(r role) int {
		name := r.pool
		if r.isControl {
			name = roleControlPlane
		}

		if at := slices.Index(order, name); at >= 0 {
			return at
		}

		return len(order)
	}

	slices.SortStableFunc(roles, func(a, b role) int { return rank(a) - rank(b) })

	for _, r := range roles {
		p := m.poolOf(ctx, r, written[r.pool].UserDataWO, diags)
		w.Pools = append(w.Pools, p)
		m.overrides(ctx, r, w, diags)

		if r.isControl {
			w.ExternalEtcd = r.controlPlane.ExternalEtcd.ValueBool()

			if s, ok := value.Object[rolloutModel](ctx, r.Rollout, diags); ok {
				w.AllowDisruption = s.AllowDisruption.ValueBool()
			}
		}
	}
}

func (m model) overrides(ctx context.Context, r role, w *cluster.Wanted, diags *diag.Diagnostics) {
	for name, o := range value.Objects[overrideModel](ctx, r.Overrides, diags) {
		one := cluster.Override{
			HostID: o.HostID.ValueString(), UserData: o.UserData.ValueString(), Domain: o.FailureDomain.ValueString(),
			Labels: value.GoMap(o.Labels), Addresses: value.GoMap(o.Addresses),
		}

		if value.Known(o.Selector) {
			s := selector(o.Selector, diags)
			one.Selector = &s
		}

		w.Overrides[name] = one
	}
}

// span reads a duration that has passed validation; 0 where there is none.
func span(s types.String) time.Duration {
	d, err := time.ParseDuration(s.ValueString())
	if err != nil {
		return 0
	}

	return d
}
