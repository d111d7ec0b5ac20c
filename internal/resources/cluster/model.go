// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// model is the resource in Go. Nested objects stay framework values, because at plan a whole
// object may be unknown; the structs of parts.go read them once they are known.
type model struct {
	Name          types.String `tfsdk:"name"`
	Namespace     types.String `tfsdk:"namespace"`
	Endpoint      types.Object `tfsdk:"control_plane_endpoint"`
	CloudProvider types.Bool   `tfsdk:"cloud_provider_enabled"`
	AdoptExisting types.Bool   `tfsdk:"adopt_existing"`

	HostPool       types.Object `tfsdk:"host_pool"`
	FailureDomains types.Map    `tfsdk:"failure_domains"`
	DomainPolicy   types.String `tfsdk:"failure_domain_policy"`
	IPPools        types.Map    `tfsdk:"ip_pools"`

	ControlPlane types.Object `tfsdk:"control_plane"`
	Workers      types.Map    `tfsdk:"workers"`
	Bootstrap    types.Object `tfsdk:"bootstrap"`
	WorkloadAPI  types.Object `tfsdk:"workload_api"`
	NameFormat   types.String `tfsdk:"machine_name_format"`

	Wait        types.Object `tfsdk:"wait"`
	Parallelism types.Object `tfsdk:"parallelism"`
	Remediation types.Object `tfsdk:"remediation"`
	Timeouts    types.Object `tfsdk:"timeouts"`

	DeletionProtection types.Bool   `tfsdk:"deletion_protection"`
	MaxDeprovision     types.Int64  `tfsdk:"max_deprovision_per_apply"`
	DeleteMachines     types.Set    `tfsdk:"delete_machines"`
	OnInsufficient     types.String `tfsdk:"on_insufficient_hosts"`
	OnHostError        types.String `tfsdk:"on_host_error"`
	HostRetries        types.Int64  `tfsdk:"host_retries"`
	OnCreateFailure    types.String `tfsdk:"on_create_failure"`
	LabelPrefixes      types.Set    `tfsdk:"label_sync_prefixes"`
	RolloutOrder       types.List   `tfsdk:"rollout_order"`

	ID     types.String `tfsdk:"id"`
	Ironic types.String `tfsdk:"endpoint"`

	moving
}

// moving is what an apply can change, and what moves by itself.
type moving struct {
	Machines   types.Map    `tfsdk:"machines"`
	Ready      types.Bool   `tfsdk:"ready"`
	State      types.String `tfsdk:"state"`
	Conditions types.List   `tfsdk:"conditions"`
	Drift      types.List   `tfsdk:"drift"`
	Kubeconfig types.String `tfsdk:"kubeconfig"`
	ClusterCA  types.String `tfsdk:"cluster_ca"`
}

const (
	controlPlanePool = cluster.ControlPlanePool
	roleControlPlane = "control_plane" // the attribute, and its name in rollout_order
)

var (
	pathControlPlane = path.Root("control_plane")
	pathWorkers      = path.Root("workers")
	pathIPPools      = path.Root("ip_pools")
	pathHostPool     = path.Root("host_pool")
	pathBootstrap    = path.Root("bootstrap")
	pathWorkload     = path.Root("workload_api")
)

// label names the cluster to people.
func (m model) label() string {
	if !value.Known(m.Name) {
		return "Cluster"
	}

	return "Cluster " + m.Name.ValueString()
}

// role is one pool of machines, with what it is called and where it stands.
type role struct {
	roleModel

	controlPlane controlPlaneModel // of the control plane alone
	pool         string
	isControl    bool
	at           path.Path
}

// roles reads the pools that are known, the control plane first, then workers by name; all is
// false where some pool is not known yet.
func (m model) roles(ctx context.Context, diags *diag.Diagnostics) (out []role, all bool) {
	all = !m.ControlPlane.IsUnknown() && !m.Workers.IsUnknown()

	if cp, ok := value.Object[controlPlaneModel](ctx, m.ControlPlane, diags); ok {
		out = append(out, role{roleModel: cp.roleModel, controlPlane: cp, pool: controlPlanePool, isControl: true, at: pathControlPlane})
	}

	if !value.Known(m.Workers) {
		return out, all
	}

	for _, name := range sorted(m.Workers.Elements()) {
		one, ok := value.Object[roleModel](ctx, m.Workers.Elements()[name], diags)
		if !ok {
			all = false

			continue
		}

		out = append(out, role{roleModel: one, pool: name, at: pathWorkers.AtMapKey(name)})
	}

	return out, all
}

// title names a pool to people.
func (r role) title() string {
	if r.isControl {
		return "the control plane"
	}

	return "worker pool " + r.pool
}

// objects reads a list of objects; those that are not known as a whole are left out.
func objects[T any](ctx context.Context, l types.List, diags *diag.Diagnostics) (all []T) {
	if !value.Known(l) {
		return nil
	}

	for _, v := range l.Elements() {
		if one, ok := value.Object[T](ctx, v, diags); ok {
			all = append(all, one)
		}
	}

	return all
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
