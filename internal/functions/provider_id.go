// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/function"
)

// providerID is the function provider_id.
type providerID struct{}

// NewProviderID returns the function provider_id.
func NewProviderID() function.Function { return providerID{} }

// Metadata names the function.
func (providerID) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "provider_id"
}

// Definition describes the function.
func (providerID) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Write the provider ID of a machine",
		MarkdownDescription: "Returns the provider ID that the Node of a machine has (`spec.providerID`): `metal3://<namespace>/<host>/<machine>`. " +
			"It is known before the machine runs, for the configuration of its kubelet.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "namespace", MarkdownDescription: "Namespace of the cluster."},
			function.StringParameter{Name: "host", MarkdownDescription: "Name of the host."},
			function.StringParameter{Name: "machine", MarkdownDescription: "Name of the machine."},
		},
		Return: function.StringReturn{},
	}
}

// Run calls the function.
func (providerID) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var parts [3]string

	if resp.Error = req.Arguments.Get(ctx, &parts[0], &parts[1], &parts[2]); resp.Error != nil {
		return
	}

	for i, part := range parts {
		if part == "" || strings.ContainsAny(part, "/ \t\r\n") {
			resp.Error = function.ConcatFuncErrors(resp.Error, function.NewArgumentFuncError(int64(i),
				fmt.Sprintf("%q is no name: it is empty, or holds a slash or a space.", part)))
		}
	}

	if resp.Error == nil {
		resp.Error = resp.Result.Set(ctx, "metal3://"+strings.Join(parts[:], "/"))
	}
}
