// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/workload"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

type workloadModel struct {
	Kubeconfig     types.String `tfsdk:"kubeconfig"`
	KubeconfigPath types.String `tfsdk:"kubeconfig_path"`
	Context        types.String `tfsdk:"context"`
	ResourceType   types.String `tfsdk:"resource_type"`
	Namespace      types.String `tfsdk:"operator_namespace"`
}

var pathWorkload = path.Root("workload")

// workloadAttribute is the cluster that the hosts are nodes of. What a refresh and a destroy need is in
// the state, so none of it is write-only.
func workloadAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "The cluster of which the `hosts` are nodes. Its API then says which pods use a GPU, which is not taken away under them; keeps new pods from one that goes; " +
			"and its plug-ins are restarted when one came or went, until the cluster shows it or no longer does. Together with `hosts[*].node` both are asked. " +
			"A change touches no device. For `type = \"gpu\"` only.",
		Attributes: map[string]schema.Attribute{
			"kubeconfig": schemavalue.Secret("Kubeconfig, such as `metal3_cluster.x.kubeconfig`. It is in the state, because a destroy needs it; `kubeconfig_path` keeps it out. One of the two is required.",
				stringvalidator.ExactlyOneOf(path.MatchRelative().AtParent().AtName("kubeconfig_path"))),
			"kubeconfig_path": schemavalue.Text("File with a kubeconfig on the machine that runs Terraform."),
			"context":         schemavalue.Text("Context of the kubeconfig. Default: its current one."),
			"resource_type": schema.StringAttribute{
				Required: true, Validators: []validator.String{stringvalidator.OneOf(string(workload.DRA), string(workload.DevicePlugin))},
				MarkdownDescription: "How the cluster gives GPUs to pods (`DEVICE_RESOURCE_TYPE` of the composable-resource-operator). `dra`: dynamic resource allocation, where each GPU is known by name. " +
					"`device_plugin`: a number of `nvidia.com/gpu`; which pod has which GPU the API does not tell, so that a pod with any GPU of the node keeps all of them there, " +
					"unless the host has a connection, over which the GPU itself is looked at.",
			},
			"operator_namespace": schemavalue.Text("Namespace of NVIDIA's GPU operator, in which the device plug-in runs. Default `" + workload.DefaultNamespace + "`."),
		},
	}
}

// skip says whether a device may go without being asked for. With force_detach the user also
// vouches for a host that is no more: its devices would stay on the fabric for ever.
func (m model) skip() device.SkipDrain {
	skip := device.SkipDrain(m.SkipDrain.ValueString())
	if m.ForceDetach.ValueBool() && skip == device.SkipNever {
		skip = device.SkipIfUnreachable
	}

	return skip
}

// cluster makes the client of the cluster that the hosts are nodes of; nil where there is none. A kubeconfig
// that cannot be used is told when somebody needs it: a refresh goes on without.
func (r *gpuResource) cluster(ctx context.Context, m model, diags *diag.Diagnostics) workload.API {
	w, ok := value.Object[workloadModel](ctx, m.Workload, diags)
	if !ok {
		return nil
	}

	api, err := r.far.Workload(ctx, kube.Config{
		Kubeconfig: []byte(w.Kubeconfig.ValueString()), Path: w.KubeconfigPath.ValueString(), Context: w.Context.ValueString(),
	})
	if err != nil {
		return workload.Broken(fmt.Errorf("workload: %w", err))
	}

	return api
}

// inCluster makes the node of a host that is a node of a cluster.
func (m model) inCluster(ctx context.Context, h hostModel, node device.Node, api workload.API, diags *diag.Diagnostics) device.Node {
	w, ok := value.Object[workloadModel](ctx, m.Workload, diags)
	if !ok || api == nil {
		return node
	}

	return device.WorkloadNode(node, workload.New(api, h.nodeName(), workload.Mode(w.ResourceType.ValueString()), w.Namespace.ValueString()), m.skip())
}

// nodeName is what the cluster calls a host.
func (h hostModel) nodeName() string { return cmp.Or(h.NodeName.ValueString(), h.Name.ValueString()) }

// validateWorkload wants the name of each node, and no cluster for what no cluster knows.
func (m model) validateWorkload(ctx context.Context, diags *diag.Diagnostics) {
	if !value.Known(m.Workload) {
		return
	}

	if value.Known(m.Type) && m.Type.ValueString() != device.GPU {
		diags.AddAttributeError(pathWorkload, "A cluster knows nothing of "+m.Type.ValueString(), `workload is for type = "gpu": no cluster says who uses other devices. Leave it out.`)
	}

	all, ok := m.hosts(ctx, diags)
	first := map[string]int{}

	for i, h := range all {
		if !ok[i] || h.Name.IsUnknown() || h.NodeName.IsUnknown() {
			continue
		}

		at := pathHosts.AtListIndex(i).AtName("node_name")

		if h.nodeName() == "" {
			diags.AddAttributeError(at, "Host without the name of its node", fmt.Sprintf("workload is given, and hosts[%d] has neither node_name nor name: the cluster could not be asked for its node.", i))

			continue
		}

		if before, twice := first[h.nodeName()]; twice {
			diags.AddAttributeError(at, "Node "+h.nodeName()+" is named twice", fmt.Sprintf("hosts[%d] and hosts[%d] are two machines, and one node of the cluster.", before, i))
		}

		first[h.nodeName()] = i
	}
}
