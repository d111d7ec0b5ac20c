// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusternodes

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// Schema implements [resource.Resource].
func (r *nodesResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The nodes of a cluster whose kubeconfig comes from another provider, which itself needs the machines (Talos, Rancher): " +
			"`metal3_cluster` deploys the machines with `wait = { level = \"provisioned\" }`, the other provider makes the cluster of them, and this resource waits for their nodes and sets " +
			"provider ids, labels, annotations and taints. Where `metal3_cluster` has `workload_api` or `bootstrap` it does all that itself; use one of the two for a node, not both.\n\n" +
			"A destroy leaves the nodes as they are.",
		Attributes: map[string]schema.Attribute{
			"cluster_id": at.Text("Id of the `metal3_cluster`, `NAMESPACE/NAME`. Its machines are looked up in Ironic, and so are the labels of their hosts; Nodes that earlier machines of the cluster "+
				"left are deleted. One of `cluster_id` and `machines` is required.",
				clusterID(), stringvalidator.AtLeastOneOf(path.MatchRoot("machines"))),
			"machines": schema.MapNestedAttribute{
				Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: machineAttributes()},
				Validators:          []validator.Map{mapvalidator.SizeAtLeast(1), mapvalidator.NoNullValues()},
				MarkdownDescription: "Machines by name. `metal3_cluster.NAME.machines` fits as it is, and makes a plan follow the cluster's changes. Without it, all deployed machines of `cluster_id`.",
			},
			"kubeconfig": at.Secret("Kubeconfig. It is in the state; `kubeconfig_path` keeps it out. One of the three is required.",
				stringvalidator.ExactlyOneOf(path.MatchRoot("kubeconfig_wo"), path.MatchRoot("kubeconfig_path"))),
			"kubeconfig_wo": at.WriteOnly("Kubeconfig that is never stored. A refresh cannot look at the nodes then: they are looked at when `kubeconfig_wo_version` or something else changes."),
			"kubeconfig_wo_version": schema.Int64Attribute{
				Optional: true, MarkdownDescription: "Any number; a change looks at all nodes again.",
			},
			"kubeconfig_path": at.Text("File with a kubeconfig on the machine that runs Terraform."),
			"context":         at.Text("Context of the kubeconfig. Default: its current one."),
			"wait_ready":      at.Flag(false, "Wait until all nodes are Ready, which takes a network plug-in. Default `false`: until they are registered."),
			"provider_ids":    at.Flag(true, "Set the provider id of nodes that have none. Default `true`; `false` where a cloud provider of the cluster does."),
			"label_sync_prefixes": schema.SetAttribute{
				Optional: true, ElementType: types.StringType, Validators: []validator.Set{setvalidator.NoNullValues()},
				MarkdownDescription: "Prefixes (what stands before the `/`) of labels that follow the host in both directions. `kubernetes.io`, `k8s.io` and what is below them are refused.",
			},
			"labels":      at.TextMap("Labels of all nodes, such as `node-role.kubernetes.io/worker`. What is taken away here is taken away there; labels of others stay."),
			"annotations": at.TextMap("Annotations of all nodes, likewise."),
			"taints": schema.ListNestedAttribute{
				Optional: true, MarkdownDescription: "Taints of all nodes, likewise.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"key":   schema.StringAttribute{Required: true, MarkdownDescription: "Key."},
					"value": at.TextOr("", "Value. Default: empty."),
					"effect": schema.StringAttribute{
						Required: true, MarkdownDescription: "`NoSchedule`, `PreferNoSchedule` or `NoExecute`.",
						Validators: []validator.String{stringvalidator.OneOf("NoSchedule", "PreferNoSchedule", "NoExecute")},
					},
				}},
			},
			"timeouts": timeouts.Attributes(ctx, timeouts.Opts{
				Create: true, Update: true,
				CreateDescription: "How long nodes are waited for at the first apply. Default `30m`.",
				UpdateDescription: "How long nodes are waited for at later ones. Default `30m`.",
			}),

			"id":    at.Said("`cluster_id`, else the address of the cluster's API."),
			"ready": at.Shown("Whether all machines have their nodes and, with `wait_ready`, all of these are Ready, when last looked at."),
			"drift": schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "What is not as configured, and the next apply mends."},
			"nodes": schema.MapNestedAttribute{
				Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: nodeAttributes()}, MarkdownDescription: "Nodes by the name of their machine, when last looked at.",
			},
		},
	}
}

func machineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"provider_id": at.Text("Provider id of its node. Default with `cluster_id`: `metal3://NAMESPACE/HOST/MACHINE`."),
		"host_id":     at.Text("Id of its host."),
		"host_name":   at.Text("Name of its host."),
		"claim_id":    at.Text("Id of the claim on its host."),
		"addresses": schema.MapNestedAttribute{
			Optional: true, MarkdownDescription: "Addresses of the machine alone, by which its node is found where neither provider id nor name fit.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{"address": at.Text("Address.")}},
		},
		"host_labels": at.TextMap("Labels of its host, for `label_sync_prefixes`. Default with `cluster_id`: as they are in Ironic."),
		"labels":      at.TextMap("Labels of its node, beside those of all nodes."),
	}
}

func nodeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"node_name": at.Said("Name of the node; null where there is none."), "provider_id": at.Said("Its provider id."),
		"ready": at.Shown("Whether it is Ready; null where nobody knows."),
	}
}
