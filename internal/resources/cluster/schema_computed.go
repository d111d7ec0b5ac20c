// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// computedAttributes say what there is. What moves has no plan modifier: a refresh follows it,
// and plan.go opens it in those plans that may change it.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}, MarkdownDescription: "`NAMESPACE/NAME`.",
		},
		"endpoint": at.Said("Ironic that the cluster's hosts were last seen in."),
		"machines": schema.MapNestedAttribute{
			Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: machineComputed()},
			MarkdownDescription: "Machines by name. Names, roles, indexes, claims and addresses that follow from the index are known at plan.",
		},
		"ready":      at.Shown("Whether all machines are as configured and as far as `wait.level` asks. For a `postcondition`."),
		"state":      at.Said("`pending`, `provisioning`, `ready`, `degraded` or `deleting`."),
		"kubeconfig": schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "Kubeconfig of an administrator, where `bootstrap` makes one; valid for a year, renewed by the first apply after half of it."},
		"cluster_ca": at.Said("Certificate (PEM) of the cluster's CA, where it is known."),
		"drift":      schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "What is not as configured, and the next apply mends."},
		"conditions": schema.ListNestedAttribute{
			Computed: true, MarkdownDescription: "Conditions, named as upstream does.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"type": at.Said("What it is about."), "status": at.Said("`True`, `False` or `Unknown`."), "reason": at.Said("Reason in one word."), "message": at.Said("What is going on."),
			}},
		},
	}
}

func machineComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": at.Said("Name."), "role": at.Said("`control-plane` or `worker`."), "pool": at.Said("Name of the worker pool; `cp` of the control plane."),
		"index": at.Counted("Index in its pool."), "claim_id": at.Said("Id of the claim on its host."), "claim_kind": at.Said("`allocation` or `instance_uuid`."),
		"host_id": at.Said("Id of its host."), "host_name": at.Said("Name of its host."), "failure_domain": at.Said("Failure domain of its host."),
		"provider_id": at.Said("Provider id of its node."), "node_name": at.Said("Name of its node."),
		"addresses": schema.MapNestedAttribute{
			Computed: true, MarkdownDescription: "Addresses by pool.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"address": at.Said("Address."), "prefix": at.Counted("Length of the prefix."), "gateway": at.Said("Gateway."),
				"dns": schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "DNS servers."},
			}},
		},
		"image_url": at.Said("Image that it runs."), "template_hash": at.Said("Hash of what it was made from."), "up_to_date": at.Shown("Whether that is what is configured."),
		"state":       at.Said("`planned`, `claimed`, `deploying`, `active`, `joining`, `ready`, `unhealthy`, `deprovisioning` or `error`."),
		"power_state": at.Said("`power on` or `power off`."), "node_ready": at.Shown("Whether its node is ready; null where that is not known."),
		"healthy": at.Shown("Whether it is well, as far as anybody knows."), "last_error": at.Said("What went wrong last."),
		"provisioned_at": at.Said("When it was deployed."), "remediation_count": at.Counted("How often it was mended."),
	}
}
