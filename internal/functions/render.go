// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// render is a function that renders a data template.
type render struct {
	name, summary, description string
	of                         func(datatemplate.Template, datatemplate.Vars) (types.String, error)
}

// NewRenderMetaData returns the function render_meta_data.
func NewRenderMetaData() function.Function {
	return render{
		name: "render_meta_data", summary: "Render the metadata of a data template",
		description: "Renders the metadata of a data template for one machine, as a cluster does, into JSON: for a `metal3_baremetal_host` that belongs to no cluster. " +
			"`providerid` is always in it.",
		of: metaData,
	}
}

// NewRenderNetworkData returns the function render_network_data.
func NewRenderNetworkData() function.Function {
	return render{
		name: "render_network_data", summary: "Render the network data of a data template",
		description: "Renders the network data of a data template for one machine, as a cluster does, into JSON (`network_data.json` of a config drive): for a " +
			"`metal3_baremetal_host` that belongs to no cluster. Null where the template has no network data.",
		of: networkData,
	}
}

func metaData(t datatemplate.Template, v datatemplate.Vars) (types.String, error) {
	rendered, err := datatemplate.RenderMetaData(t, v)
	if err != nil {
		return types.StringNull(), err
	}

	document, err := json.Marshal(rendered)
	if err != nil {
		return types.StringNull(), fmt.Errorf("metadata: %w", err)
	}

	return types.StringValue(string(document)), nil
}

func networkData(t datatemplate.Template, v datatemplate.Vars) (types.String, error) {
	document, err := datatemplate.NetworkDataJSON(t, v)
	if err != nil || document == nil {
		return types.StringNull(), err
	}

	return types.StringValue(string(document)), nil
}

// Metadata names the function.
func (r render) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = r.name
}

// Definition describes the function.
func (r render) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary:             r.summary,
		MarkdownDescription: r.description,
		Parameters: []function.Parameter{
			function.DynamicParameter{
				Name:                "template",
				MarkdownDescription: "The template: `json` of the data source `metal3_data_template`, or an object with its arguments `meta_data` and `network_data`.",
			},
			function.DynamicParameter{
				Name: "vars",
				MarkdownDescription: "The machine and its host, an object with `host` (its name) and, where the template uses them: `namespace` (default: `default`), `machine` (default: the host), " +
					"`index`, `boot_mac`, `interfaces` (MAC addresses by name), `host_labels`, `host_annotations`, `machine_labels`, `machine_annotations`, and `addresses`: by name of the pool " +
					"objects with `address`, `prefix`, `gateway` and `dns`, such as `ip_at` returns.",
			},
		},
		Return: function.StringReturn{},
	}
}

// Run calls the function.
func (r render) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var given, about types.Dynamic

	if resp.Error = req.Arguments.Get(ctx, &given, &about); resp.Error != nil {
		return
	}

	t, failed := argument(0, given, template)
	vars, failedVars := argument(1, about, variables)

	if failed = function.ConcatFuncErrors(failed, failedVars); failed != nil {
		resp.Error = failed

		return
	}

	rendered, err := r.of(t, vars)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(1, err.Error())

		return
	}

	resp.Error = resp.Result.Set(ctx, rendered)
}

// argument reads an argument that may be any object.
func argument[T any](position int64, v types.Dynamic, read func([]byte) (T, error)) (T, *function.FuncError) {
	var out T

	document, err := value.PlainJSON(v)
	if err == nil {
		out, err = read(document)
	}

	if err != nil {
		return out, function.NewArgumentFuncError(position, err.Error())
	}

	return out, nil
}

func template(document []byte) (datatemplate.Template, error) {
	t, err := datatemplate.Parse(document)
	if err != nil {
		return t, err
	}

	return t, errors.Join(t.Validate()...)
}

func variables(document []byte) (datatemplate.Vars, error) {
	v, err := datatemplate.ParseVars(document)
	if err != nil {
		return v, err
	}

	if v.Host == "" {
		return v, errors.New("host is missing: the name of the host")
	}

	if v.Namespace == "" {
		v.Namespace = "default"
	}

	if v.Machine == "" {
		v.Machine = v.Host
	}

	return v, nil
}
