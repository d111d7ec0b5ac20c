// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusternodes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// crew is the machines whose Nodes are looked after.
type crew struct {
	wants    []nodes.Want
	existing func(machine string) bool // nil where nobody knows which machines there are
}

// crew gathers the machines: those that are configured, else all of the cluster that are deployed.
func (r *nodesResource) crew(ctx context.Context, m model, diags *diag.Diagnostics) (crew, error) {
	found, existing, err := r.found(ctx, m.ClusterID.ValueString())
	if err != nil {
		return crew{}, err
	}

	machines := found

	if !m.Machines.IsNull() {
		machines = map[string]nodes.Want{}
	}

	for name, v := range m.Machines.Elements() {
		one, ok := value.Object[machineModel](ctx, v, diags)
		if !ok {
			continue
		}

		machines[name] = one.over(ctx, name, m.namespace(), found[name], diags)
	}

	taints, _ := m.taints(ctx, diags)
	c := crew{existing: existing}

	for _, name := range slices.Sorted(maps.Keys(machines)) {
		w := machines[name]
		own := w.Labels

		w.Labels = maps.Clone(value.GoMap(m.Labels))
		if w.Labels == nil {
			w.Labels = map[string]string{}
		}

		maps.Copy(w.Labels, own)

		w.Annotations, w.Taints, w.SyncPrefixes = value.GoMap(m.Annotations), taints, value.GoStrings(m.Prefixes)
		w.CloudProvider, w.Ready = !m.ProviderIDs.ValueBool(), m.WaitReady.ValueBool()
		c.wants = append(c.wants, w)
	}

	return c, nil
}

// namespace is that of the cluster.
func (m model) namespace() string {
	namespace, _, _ := strings.Cut(m.ClusterID.ValueString(), "/")

	return namespace
}

// over is a configured machine on top of what was found of it.
func (one machineModel) over(ctx context.Context, name, namespace string, w nodes.Want, diags *diag.Diagnostics) nodes.Want {
	w.Machine = name
	set := func(to *string, from string) {
		if from != "" {
			*to = from
		}
	}

	set(&w.Host, one.HostName.ValueString())
	set(&w.HostID, one.HostID.ValueString())
	set(&w.ClaimID, one.ClaimID.ValueString())

	if w.ProviderID == "" && namespace != "" && w.Host != "" {
		w.ProviderID = nodes.ProviderID(namespace, w.Host, name)
	}

	set(&w.ProviderID, one.ProviderID.ValueString())

	if value.Known(one.HostLabels) {
		w.HostLabels = value.GoMap(one.HostLabels)
	}

	if len(one.Addresses.Elements()) > 0 {
		w.Addresses = nil
	}

	for _, v := range one.Addresses.Elements() {
		if a, ok := value.Object[addressModel](ctx, v, diags); ok && a.Address.ValueString() != "" {
			w.Addresses = append(w.Addresses, a.Address.ValueString())
		}
	}

	w.Addresses = sorted(w.Addresses)
	w.Labels = value.GoMap(one.Labels)

	return w
}

// errNoMachines says that a cluster has none.
var errNoMachines = errors.New("no machine of the cluster is deployed")

// found looks the machines of a cluster up in Ironic, in the list that all readers share.
func (r *nodesResource) found(ctx context.Context, clusterID string) (map[string]nodes.Want, func(string) bool, error) {
	if clusterID == "" {
		return nil, nil, nil
	}

	if r.far == nil {
		return nil, nil, host.ErrUnknown
	}

	backend, err := r.far.Hosts(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("machines of cluster %s: %w", clusterID, err)
	}

	all, err := backend.All(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("machines of cluster %s: %w", clusterID, err)
	}

	machines, known := map[string]nodes.Want{}, map[string]bool{}

	for _, s := range all {
		t, ok := s.Tenancy()
		if !ok || t.Namespace+"/"+t.Cluster != clusterID || t.Machine == "" {
			continue
		}

		known[t.Machine] = true

		if s.Node.ProvisionState != ironic.Active {
			continue
		}

		name := choose.Name(s)
		machines[t.Machine] = nodes.Want{
			Machine: t.Machine, Host: name, HostID: s.Node.UUID, ClaimID: t.ID, ProviderID: nodes.ProviderID(t.Namespace, name, t.Machine),
			Addresses: sorted(slices.Collect(maps.Values(t.Addresses))), HostLabels: choose.Labels(s),
		}
	}

	// Without any machine this may be another Ironic: then nobody knows what exists.
	if len(known) == 0 {
		return machines, nil, nil
	}

	return machines, func(machine string) bool { return known[machine] }, nil
}
