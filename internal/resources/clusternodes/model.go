// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusternodes

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// model is the resource in Go.
type model struct {
	ClusterID           types.String   `tfsdk:"cluster_id"`
	Machines            types.Map      `tfsdk:"machines"`
	Kubeconfig          types.String   `tfsdk:"kubeconfig"`
	KubeconfigWO        types.String   `tfsdk:"kubeconfig_wo"`
	KubeconfigWOVersion types.Int64    `tfsdk:"kubeconfig_wo_version"`
	KubeconfigPath      types.String   `tfsdk:"kubeconfig_path"`
	Context             types.String   `tfsdk:"context"`
	WaitReady           types.Bool     `tfsdk:"wait_ready"`
	ProviderIDs         types.Bool     `tfsdk:"provider_ids"`
	Prefixes            types.Set      `tfsdk:"label_sync_prefixes"`
	Labels              types.Map      `tfsdk:"labels"`
	Annotations         types.Map      `tfsdk:"annotations"`
	Taints              types.List     `tfsdk:"taints"`
	Timeouts            timeouts.Value `tfsdk:"timeouts"`

	ID    types.String `tfsdk:"id"`
	Ready types.Bool   `tfsdk:"ready"`
	Drift types.List   `tfsdk:"drift"`
	Nodes types.Map    `tfsdk:"nodes"`
}

type machineModel struct {
	ProviderID types.String `tfsdk:"provider_id"`
	HostID     types.String `tfsdk:"host_id"`
	HostName   types.String `tfsdk:"host_name"`
	ClaimID    types.String `tfsdk:"claim_id"`
	Addresses  types.Map    `tfsdk:"addresses"`
	HostLabels types.Map    `tfsdk:"host_labels"`
	Labels     types.Map    `tfsdk:"labels"`
}

type addressModel struct {
	Address types.String `tfsdk:"address"`
}

type taintModel struct {
	Key    types.String `tfsdk:"key"`
	Value  types.String `tfsdk:"value"`
	Effect types.String `tfsdk:"effect"`
}

// label names the resource to people.
func (m model) label() string {
	if id := m.ClusterID.ValueString(); id != "" {
		return "Nodes of cluster " + id
	}

	return "Nodes of the cluster"
}

// clusterID checks an id of a cluster.
func clusterID() validator.String {
	return value.Check("Invalid cluster", "the id of a cluster, NAMESPACE/NAME", func(s string) error {
		if before, after, ok := strings.Cut(s, "/"); !ok || before == "" || after == "" || strings.Contains(after, "/") {
			return fmt.Errorf("%q is no id of a cluster; write NAMESPACE/NAME, such as metal3_cluster.edge.id", s)
		}

		return nil
	})
}

// client makes the client of the cluster's API; secret is a kubeconfig that is not stored. It is nil
// without an error where there is no kubeconfig at hand.
func (m model) client(secret types.String) (*kube.Client, error) {
	cfg := kube.Config{Path: m.KubeconfigPath.ValueString(), Context: m.Context.ValueString(), UserAgent: "terraform-provider-metal3"}

	switch {
	case m.Kubeconfig.ValueString() != "":
		cfg.Kubeconfig = []byte(m.Kubeconfig.ValueString())
	case secret.ValueString() != "":
		cfg.Kubeconfig = []byte(secret.ValueString())
	case cfg.Path == "":
		return nil, nil
	}

	client, err := kube.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("client of the cluster: %w", err)
	}

	return client, nil
}

// outcome is how the Nodes were when last looked at.
type outcome struct {
	nodes map[string]nodes.State // by machine
	ready bool
	drift []string
}

// fill takes over what was seen.
func (m *model) fill(o outcome, server string) {
	kinds := at.Types(nodeAttributes())
	all := make(map[string]attr.Value, len(o.nodes))

	for name, s := range o.nodes {
		ready := types.BoolNull()
		if s.Ready == "True" || s.Ready == "False" {
			ready = types.BoolValue(s.Ready == "True")
		}

		all[name] = types.ObjectValueMust(kinds, map[string]attr.Value{
			"node_name": value.String(s.Node), "provider_id": value.String(s.ProviderID), "ready": ready,
		})
	}

	m.Nodes = types.MapValueMust(types.ObjectType{AttrTypes: kinds}, all)
	m.Ready = types.BoolValue(o.ready)
	m.Drift = value.StringListOrEmpty(o.drift)

	switch {
	case m.ClusterID.ValueString() != "":
		m.ID = m.ClusterID
	case server != "":
		m.ID = types.StringValue(server)
	case m.ID.IsUnknown():
		m.ID = types.StringNull()
	}
}

// taints reads the taints; false where one is not known yet.
func (m model) taints(ctx context.Context, diags *diag.Diagnostics) ([]kube.Taint, bool) {
	known := !m.Taints.IsUnknown()

	var all []kube.Taint

	for _, v := range m.Taints.Elements() {
		t, ok := value.Object[taintModel](ctx, v, diags)
		if !ok || t.Key.IsUnknown() || t.Value.IsUnknown() || t.Effect.IsUnknown() {
			known = false

			continue
		}

		all = append(all, kube.Taint{Key: t.Key.ValueString(), Value: t.Value.ValueString(), Effect: t.Effect.ValueString()})
	}

	return all, known
}
