// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package remedyvalue is the remediation of a cluster's machine as users write it: what the resource
// metal3_remediation and the action metal3_remediate have in common.
package remedyvalue

import (
	"cmp"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/clustervalue"
	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// About describes both rooms.
const About = "A host in maintenance and machines of another `owner_id` are not touched. Of the control plane one machine is healed at a time, none that is well while another is not, " +
	"and the only one is neither rebuilt nor replaced. How far it has come is noted on the machine's host before each step: after an interruption the next apply goes on there."

// What counts where the configuration says nothing.
const (
	defaultRetries = 1
	mostRetries    = 10
	defaultTimeout = "10m"
)

// Arguments are what users write.
type Arguments struct {
	ClusterID  types.String `tfsdk:"cluster_id"`
	Machine    types.String `tfsdk:"machine"`
	Strategy   types.String `tfsdk:"strategy"`
	RetryLimit types.Int64  `tfsdk:"retry_limit"`
	Timeout    types.String `tfsdk:"timeout"`
	Fence      types.String `tfsdk:"fence"`
	OnFailure  types.String `tfsdk:"on_failure"`
	Workload   types.Object `tfsdk:"workload_api"`
}

// Attributes are the attributes of [Arguments].
func Attributes() map[string]schema.Attribute {
	another := []planmodifier.String{stringplanmodifier.RequiresReplace()}

	return map[string]schema.Attribute{
		"cluster_id": schema.StringAttribute{Required: true, PlanModifiers: another, Validators: []validator.String{clustervalue.ID()}, MarkdownDescription: clustervalue.AboutID},
		"machine": schema.StringAttribute{
			Required: true, PlanModifiers: another, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}, MarkdownDescription: "Name of the machine, a key of `machines` of the `metal3_cluster`.",
		},
		"strategy": at.Choice(cluster.RemedyReboot, "`reboot` (default): power off, fence, power on, wait until its node is ready. `power_cycle`: the same without fencing. "+
			"`rebuild`: its image anew on the same host. `replace`: it moves to another host, and the one that it leaves is marked unhealthy and stays off. "+
			"What a machine is made from is in the configuration of its cluster: `rebuild` and `replace` leave a note on the machine, and the next apply of the `metal3_cluster` does it.",
			cluster.RemedyReboot, cluster.RemedyPowerCycle, cluster.RemedyRebuild, cluster.RemedyReplace),
		"retry_limit": at.Number(defaultRetries, 0, mostRetries, "How often it is tried again when the node is not ready in time. Default `1`."),
		"timeout":     at.Duration(defaultTimeout, "How long one attempt may take from power on to a node that is ready. Default `10m`."),
		"fence": at.Choice(cluster.FenceAuto, "`auto` (default): while the machine is off, what ran on its node is ended so that it can start elsewhere: by the out-of-service taint, before Kubernetes 1.28 by deleting the node. "+
			"That takes at most five minutes; the machine is switched on in any case. A machine without a node and the only one of a control plane are not fenced. `never`: no fencing.",
			cluster.FenceAuto, cluster.FenceNever),
		"on_failure": at.Choice(cluster.AfterFail, "What follows when no attempt helped. `fail` (default): an error. `replace`: the next apply of the `metal3_cluster` moves the machine to another host. `none`: a warning.",
			cluster.AfterFail, cluster.AfterReplace, cluster.AfterNone),
		"workload_api": clustervalue.WorkloadAttribute("Without it nothing is fenced and no node is waited for: the machine is switched off and on."),
	}
}

// how is the remediation that is asked for.
func (a Arguments) how() cluster.Remediation {
	out := cluster.Remediation{
		Strategy: cmp.Or(a.Strategy.ValueString(), cluster.RemedyReboot), RetryLimit: defaultRetries,
		Fence: cmp.Or(a.Fence.ValueString(), cluster.FenceAuto), OnFailure: cmp.Or(a.OnFailure.ValueString(), cluster.AfterFail),
	}

	if value.Known(a.RetryLimit) {
		out.RetryLimit = int(a.RetryLimit.ValueInt64())
	}

	out.Timeout, _ = time.ParseDuration(cmp.Or(a.Timeout.ValueString(), defaultTimeout)) // the validator has spoken

	return out
}

// Label names the machine to people.
func (a Arguments) Label() string {
	return "Machine " + a.Machine.ValueString() + " of cluster " + a.ClusterID.ValueString()
}
