// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clustervalue

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// userAgent is who the API of a cluster is asked by.
const userAgent = "terraform-provider-metal3"

// workload is how a room that is no metal3_cluster reaches the API of one.
type workload struct {
	Kubeconfig types.String `tfsdk:"kubeconfig"`
	Path       types.String `tfsdk:"kubeconfig_path"`
	Context    types.String `tfsdk:"context"`
	CA         types.String `tfsdk:"ca"`
	Insecure   types.Bool   `tfsdk:"insecure"`
}

// WorkloadAttribute is the attribute workload_api, with what happens where it is left out.
func WorkloadAttribute(otherwise string) schema.SingleNestedAttribute {
	one := stringvalidator.ExactlyOneOf(path.MatchRelative().AtParent().AtName("kubeconfig"), path.MatchRelative().AtParent().AtName("kubeconfig_path"))

	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "How the API of the cluster is reached. " + otherwise,
		Attributes: map[string]schema.Attribute{
			"kubeconfig":      at.Secret("Kubeconfig. Where there is a state it is in it; `kubeconfig_path` keeps it out.", one),
			"kubeconfig_path": at.Text("File with a kubeconfig on the machine that runs Terraform."),
			"context":         at.Text("Context of the kubeconfig. Default: its current one."),
			"ca":              at.Text("CA certificate (PEM) of the API, instead of the kubeconfig's.", stringvalidator.ConflictsWith(path.MatchRelative().AtParent().AtName("insecure"))),
			"insecure":        schema.BoolAttribute{Optional: true, MarkdownDescription: "Do not verify the API's certificate."},
		},
	}
}

// Access reads the attribute workload_api.
func Access(ctx context.Context, o types.Object, diags *diag.Diagnostics) cluster.Access {
	w, _ := value.Object[workload](ctx, o, diags)

	return cluster.Access{
		Kubeconfig: []byte(w.Kubeconfig.ValueString()), Path: w.Path.ValueString(), Context: w.Context.ValueString(),
		CA: w.CA.ValueString(), Insecure: w.Insecure.ValueBool(), UserAgent: userAgent,
	}
}
