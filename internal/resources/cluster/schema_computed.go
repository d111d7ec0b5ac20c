// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/clustervalue"
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
			Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: clustervalue.MachineAttributes()},
			MarkdownDescription: "Machines by name. Names, roles, indexes, claims and addresses that follow from the index are known at plan.",
		},
		"ready":      at.Shown("Whether all machines are as configured and as far as `wait.level` asks. For a `postcondition`."),
		"state":      at.Said("`pending`, `provisioning`, `ready`, `degraded` or `deleting`."),
		"kubeconfig": schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "Kubeconfig of an administrator, where `bootstrap` makes one; valid for a year, renewed by the first apply after half of it."},
		"cluster_ca": at.Said("Certificate (PEM) of the cluster's CA, where it is known."),
		"drift":      schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "What is not as configured, and the next apply mends."},
		"conditions": schema.ListNestedAttribute{
			Computed: true, MarkdownDescription: "Conditions, named as upstream does.",
			NestedObject: schema.NestedAttributeObject{Attributes: clustervalue.ConditionAttributes()},
		},
	}
}
