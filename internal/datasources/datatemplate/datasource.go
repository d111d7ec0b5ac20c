// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package datatemplate is the data source metal3_data_template: what machines find on their config
// drive, written once for all of them. It asks nobody.
package datatemplate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

var _ datasource.DataSourceWithValidateConfig = (*templateDataSource)(nil)

type templateDataSource struct{}

// NewDataSource returns the data source.
func NewDataSource() datasource.DataSource { return &templateDataSource{} }

// model is the data source as Terraform sees it.
type model struct {
	MetaData    types.Object `tfsdk:"meta_data"`
	NetworkData types.Object `tfsdk:"network_data"`
	JSON        types.String `tfsdk:"json"`
	Pools       types.List   `tfsdk:"pools"`
}

// Metadata names the data source.
func (d *templateDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_data_template"
}

// ValidateConfig judges what is known. A part in which something is not known yet is judged when the
// data source is read.
func (d *templateDataSource) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	for name, part := range m.parts() {
		if _, err := template(map[string]attr.Value{name: part}, &resp.Diagnostics); err != nil && !errors.Is(err, value.ErrUnknown) {
			resp.Diagnostics.AddAttributeError(path.Root(name), summary, err.Error())
		}
	}
}

// Read writes the template in its one form.
func (d *templateDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	t, err := template(m.parts(), &resp.Diagnostics)
	if err != nil {
		resp.Diagnostics.AddError(summary, err.Error())
	}

	if resp.Diagnostics.HasError() {
		return
	}

	m.JSON = types.StringValue(string(t.JSON()))
	m.Pools = value.StringListOrEmpty(t.Pools())
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

const summary = "Invalid data template"

func (m model) parts() map[string]attr.Value {
	return map[string]attr.Value{metaData: m.MetaData, networkData: m.NetworkData}
}

// The parts of a template.
const (
	metaData    = "meta_data"
	networkData = "network_data"
)

// template makes a template of the parts of a configuration. What is wrong with it goes to the part.
func template(parts map[string]attr.Value, diags *diag.Diagnostics) (datatemplate.Template, error) {
	plain := map[string]any{}

	for name, part := range parts {
		one, err := value.Plain(part)
		if err != nil {
			return datatemplate.Template{}, err
		}

		if fields, ok := one.(map[string]any); ok {
			plain[name] = fields
		}
	}

	if err := open(plain); err != nil {
		return datatemplate.Template{}, err
	}

	document, err := json.Marshal(plain)
	if err != nil {
		return datatemplate.Template{}, fmt.Errorf("the template has no JSON form: %w", err)
	}

	t, err := datatemplate.Parse(document)
	if err != nil {
		return datatemplate.Template{}, err
	}

	for _, name := range []string{metaData, networkData} {
		part := datatemplate.Template{MetaData: t.MetaData}
		if name == networkData {
			part = datatemplate.Template{NetworkData: t.NetworkData}
		}

		for _, err := range part.Validate() {
			diags.AddAttributeError(path.Root(name), summary, err.Error())
		}
	}

	return t, nil
}

// open puts JSON in place of the texts that hold it: the values of a bond's parameters, which keep
// their type, and raw network data, which may be written as jsonencode(…).
func open(plain map[string]any) error {
	network := fields(plain[networkData])

	bonds, _ := fields(network["links"])["bonds"].([]any)
	for _, bond := range bonds {
		parameters, _ := fields(bond)["parameters"].([]any)
		for _, one := range parameters {
			if text, ok := fields(one)["value"].(string); ok {
				fields(one)["value"] = datatemplate.Literal(text)
			}
		}
	}

	text, ok := network["raw"].(string)
	if !ok {
		return nil
	}

	raw, err := value.ParseDocument(text)
	if err != nil {
		return fmt.Errorf("network_data.raw: %w", err)
	}

	network["raw"] = raw

	return nil
}

// fields returns those of an object, none of what is no object.
func fields(v any) map[string]any {
	out, _ := v.(map[string]any)

	return out
}
