// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/selectorvalue"
)

// ValidateConfig implements [resource.ResourceWithValidateConfig].
func (r *clusterResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model

	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	if !resp.Diagnostics.HasError() {
		config.validate(ctx, &resp.Diagnostics)
	}
}

// validate holds the rules between attributes, and lists everything that is wrong at once. It
// passes over what is not known yet; the verbs ask again before their first request.
func (m model) validate(ctx context.Context, diags *diag.Diagnostics) {
	roles, all := m.roles(ctx, diags)

	if all && len(roles) == 0 {
		diags.AddError(m.label()+" has no machines", "Give it a control_plane, workers, or both.")
	}

	m.validatePools(ctx, diags)
	m.validateSelector(pathHostPool.AtName("selector"), m.poolSelector(ctx, diags), diags)
	m.validateWorkload(ctx, diags)
	m.validateReach(ctx, roles, diags)
	m.validateOrder(roles, all, diags)
	m.validateBootstrap(ctx, roles, all, diags)

	for _, one := range roles {
		m.validateRole(ctx, one, diags)
	}

	m.validateNames(ctx, roles, diags)
}

func (m model) poolSelector(ctx context.Context, diags *diag.Diagnostics) types.Object {
	p, ok := value.Object[hostPoolModel](ctx, m.HostPool, diags)
	if !ok {
		return types.ObjectNull(nil)
	}

	return p.Selector
}

// validatePools has package addresses look at each pool, and at all of them.
func (m model) validatePools(ctx context.Context, diags *diag.Diagnostics) {
	pools, all := m.ipPools(ctx, diags)
	compiled := map[string]addresses.Compiled{}

	for _, name := range sorted(pools) {
		c, wrong := addresses.Compile(name, pools[name])
		for _, err := range wrong {
			diags.AddAttributeError(pathIPPools.AtMapKey(name), "Pool "+name+" of "+m.inLabel()+" is not right", value.Sentence(err))
		}

		if len(wrong) == 0 {
			compiled[name] = c
		}
	}

	if !all && len(compiled) < 2 {
		return
	}

	for _, err := range addresses.CheckOverlap(compiled) {
		diags.AddAttributeError(pathIPPools, "Pools of "+m.inLabel()+" share addresses", value.Sentence(err))
	}
}

// inLabel names the cluster in the middle of a sentence.
func (m model) inLabel() string { return strings.Replace(m.label(), "Cluster", "cluster", 1) }

func (m model) validateSelector(at path.Path, o types.Object, diags *diag.Diagnostics) {
	if value.HasUnknown(o) {
		return
	}

	s, err := selectorvalue.Read(o)

	for _, err := range append(s.Validate(), err) {
		if err == nil {
			continue
		}

		diags.AddAttributeError(at, "Selector of "+m.inLabel()+" is not right", value.Sentence(err))
	}
}

// validateWorkload wants one way to the API, not several.
func (m model) validateWorkload(ctx context.Context, diags *diag.Diagnostics) {
	w, ok := value.Object[workloadModel](ctx, m.WorkloadAPI, diags)
	if !ok {
		return
	}

	var ways []string

	for name, given := range map[string]bool{
		"kubeconfig": !w.Kubeconfig.IsNull(), "kubeconfig_path": !w.KubeconfigPath.IsNull(), "ssh": !w.SSH.IsNull(), "from_bootstrap": w.FromBootstrap.ValueBool(),
	} {
		if given {
			ways = append(ways, name)
		}
	}

	slices.Sort(ways)

	if len(ways) > 1 {
		diags.AddAttributeError(pathWorkload, "Several ways to the API of "+m.inLabel(), "Give one of them: "+strings.Join(ways, ", ")+".")
	}

	if len(ways) == 0 && !w.FromBootstrap.IsUnknown() && m.Bootstrap.IsNull() {
		diags.AddAttributeError(pathWorkload, "No way to the API of "+m.inLabel(), "Give kubeconfig, kubeconfig_path or ssh.")
	}

	if w.FromBootstrap.ValueBool() && m.Bootstrap.IsNull() {
		diags.AddAttributeError(pathWorkload.AtName("from_bootstrap"), "Nothing makes a kubeconfig of "+m.inLabel(), "from_bootstrap needs the attribute bootstrap.")
	}

	if w.Insecure.ValueBool() {
		diags.AddAttributeWarning(pathWorkload.AtName("insecure"), "The API of "+m.inLabel()+" is not verified", "Whoever answers at its address gets the credentials. Give ca instead.")
	}
}

// validateOrder wants each pool of rollout_order to be there.
func (m model) validateOrder(roles []role, all bool, diags *diag.Diagnostics) {
	if !all {
		return
	}

	for i, name := range value.GoStrings(m.RolloutOrder) {
		if !slices.ContainsFunc(roles, func(r role) bool { return r.pool == name && !r.isControl || r.isControl && name == roleControlPlane }) {
			diags.AddAttributeError(path.Root("rollout_order").AtListIndex(i), "No pool "+name+" in "+m.inLabel(), "rollout_order has control_plane and names of worker pools.")
		}
	}
}

// validateBootstrap holds what the kubeadm profile needs of the rest.
func (m model) validateBootstrap(ctx context.Context, roles []role, all bool, diags *diag.Diagnostics) {
	k, ok := m.kubeadm(ctx, diags)
	if !ok {
		return
	}

	at := pathBootstrap.AtName("kubeadm")

	if name := k.AddressPool; value.Known(name) && !m.IPPools.IsUnknown() {
		if _, there := m.IPPools.Elements()[name.ValueString()]; !there {
			diags.AddAttributeError(at.AtName("address_pool"), "No pool "+name.ValueString()+" in "+m.inLabel(), "address_pool names a pool of ip_pools.")
		}
	}

	if b := m.Bootstrap; !value.HasUnknown(b) {
		for _, err := range k.profile(ctx, diags).Check() {
			diags.AddAttributeError(at, "kubeadm profile of "+m.inLabel()+" is not right", value.Sentence(err))
		}
	}

	if all && !slices.ContainsFunc(roles, func(r role) bool { return r.isControl }) && k.PKI.IsNull() {
		diags.AddAttributeError(at.AtName("pki"), m.label()+" has no control plane of its own", "Workers that join a cluster that is there need its CA: give pki.ca_certificate and its key.")
	}

	m.validatePKI(ctx, at, k, diags)
}

func (m model) validatePKI(ctx context.Context, at path.Path, k kubeadmModel, diags *diag.Diagnostics) {
	p, ok := value.Object[pkiModel](ctx, k.PKI, diags)
	if !ok {
		return
	}

	writeOnly := false

	for _, pair := range []struct {
		name                 string
		certificate, key, wo types.String
	}{
		{"ca", p.CACertificate, p.CAKey, p.CAKeyWO},
		{"etcd_ca", p.EtcdCACertificate, p.EtcdCAKey, p.EtcdCAKeyWO},
		{"front_proxy_ca", p.FrontCACertificate, p.FrontCAKey, p.FrontCAKeyWO},
	} {
		writeOnly = writeOnly || !pair.wo.IsNull()

		if given := !pair.key.IsNull() || !pair.wo.IsNull(); given == pair.certificate.IsNull() {
			diags.AddAttributeError(at.AtName("pki").AtName(pair.name+"_certificate"), "Half of a CA of "+m.inLabel(),
				fmt.Sprintf("%[1]s_certificate and %[1]s_private_key (or %[1]s_private_key_wo) go together.", pair.name))
		}
	}

	if (writeOnly || !p.ServiceAccountKeyWO.IsNull()) && k.PKIVersion.IsNull() {
		diags.AddAttributeError(at.AtName("pki_wo_version"), "Write-only keys of "+m.inLabel()+" have no version", "Give pki_wo_version, and increase it when a key changes.")
	}
}
