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

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// reaches reports whether the configuration says how the workload cluster is reached.
func (m model) reaches() bool { return !m.Bootstrap.IsNull() || !m.WorkloadAPI.IsNull() }

// level is how far machines are waited for.
func (m model) level(ctx context.Context, diags *diag.Diagnostics) string {
	if w, ok := value.Object[waitModel](ctx, m.Wait, diags); ok && value.Known(w.Level) {
		return w.Level.ValueString()
	}

	if m.reaches() {
		return "registered"
	}

	return "provisioned"
}

// validateReach wants a way to the API for all that needs one.
func (m model) validateReach(ctx context.Context, roles []role, diags *diag.Diagnostics) {
	m.validateWait(ctx, roles, diags)

	if m.reaches() {
		return
	}

	refuse := func(at path.Path, what string) {
		diags.AddAttributeError(at, what+" of "+m.inLabel()+" cannot be looked after", "Nodes are reached through the API of the cluster: that needs workload_api or bootstrap. "+
			"Where the kubeconfig comes from another provider, use the resource metal3_cluster_nodes.")
	}

	if l := m.level(ctx, diags); l == "registered" || l == "nodes" {
		refuse(path.Root("wait").AtName("level"), "Nodes")
	}

	if value.Known(m.LabelPrefixes) && slices.ContainsFunc(value.GoStrings(m.LabelPrefixes), func(s string) bool { return strings.TrimSpace(s) != "" }) {
		refuse(path.Root("label_sync_prefixes"), "Labels")
	}

	for _, r := range roles {
		for _, name := range r.nodeAttributes() {
			refuse(r.at.AtName(name), "Nodes in "+r.title())
		}
	}
}

// nodeAttributes are those attributes of a role about its Nodes that say something.
func (r role) nodeAttributes() []string {
	var out []string

	for name, given := range map[string]bool{
		"node_labels": len(r.NodeLabels.Elements()) > 0, "node_annotations": len(r.NodeAnnotations.Elements()) > 0, "node_taints": len(r.NodeTaints.Elements()) > 0,
	} {
		if given {
			out = append(out, name)
		}
	}

	slices.Sort(out)

	return out
}

// validateWait tells what has no effect because of how far is waited.
func (m model) validateWait(ctx context.Context, roles []role, diags *diag.Diagnostics) {
	w, ok := value.Object[waitModel](ctx, m.Wait, diags)
	if !ok || w.Level.IsUnknown() || m.Bootstrap.IsUnknown() || m.WorkloadAPI.IsUnknown() {
		return
	}

	at, level := path.Root("wait"), cluster.Level(m.level(ctx, diags))

	if value.Known(w.Settle) && level != cluster.LevelNodes {
		diags.AddAttributeWarning(at.AtName("settle"), "wait.settle of "+m.inLabel()+" has no effect",
			fmt.Sprintf("It is about Nodes that are ready, which wait.level = %q does not ask about. Set wait.level = %q.", level, cluster.LevelNodes))
	}

	if !m.reaches() || level == cluster.LevelNodes || level == cluster.LevelRegistered {
		return
	}

	var idle []string

	for _, r := range roles {
		for _, name := range r.nodeAttributes() {
			idle = append(idle, r.at.AtName(name).String())
		}

		if s, ok := value.Object[rolloutModel](ctx, r.Rollout, diags); ok && s.Drain.ValueString() == drainRequired {
			idle = append(idle, r.at.AtName("rollout").AtName("drain").String())
		}
	}

	if len(value.GoStrings(m.LabelPrefixes)) > 0 {
		idle = append(idle, "label_sync_prefixes")
	}

	if len(idle) > 0 {
		diags.AddAttributeWarning(at.AtName("level"), "Nodes of "+m.inLabel()+" are not looked after", fmt.Sprintf(
			"With wait.level = %q no apply looks at Nodes, so that these have no effect: %s. Set wait.level to %q or %q.", level, strings.Join(idle, ", "), cluster.LevelRegistered, cluster.LevelNodes))
	}
}
