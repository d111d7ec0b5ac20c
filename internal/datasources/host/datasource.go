// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package host is the data source metal3_baremetal_host: one host and all that can be read of it.
package host

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hostvalue"
)

var (
	_ datasource.DataSourceWithConfigure        = (*hostDataSource)(nil)
	_ datasource.DataSourceWithConfigValidators = (*hostDataSource)(nil)
)

// services is the part of the provider that this data source needs.
type services interface {
	Hosts(ctx context.Context) (host.Backend, error)
	HostDefaults() host.Defaults
	UnknownDefaults() []string
}

type hostDataSource struct{ services services }

// NewDataSource returns the data source.
func NewDataSource() datasource.DataSource { return &hostDataSource{} }

// Metadata names the data source.
func (d *hostDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_baremetal_host"
}

// Configure takes over what the provider offers.
func (d *hostDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	value.Offered("The data source metal3_baremetal_host", req.ProviderData, &d.services, &resp.Diagnostics)
}

// keys are the attributes by which a host is found.
var keys = map[string]string{
	"id":            "UUID of the node in Ironic.",
	"node_name":     "Name of the node in Ironic, for nodes that were not made for a host, too.",
	"name":          "Name of the host.",
	"instance_uuid": "The claim on the node: UUID of what is deployed on it.",
}

// Schema is what users write, and all that is read of a host.
func (d *hostDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := hostvalue.Attributes()

	for name, about := range keys {
		attributes[name] = schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: about + " One of the ways to name the host.",
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		}
	}

	attributes["namespace"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: "Namespace of the host, beside `name`. Default: the provider's.",
		Validators: []validator.String{
			stringvalidator.LengthAtLeast(1), stringvalidator.AlsoRequires(path.MatchRoot("name")),
		},
	}
	attributes["mac_address"] = schema.StringAttribute{
		Optional: true, CustomType: value.MACType{},
		MarkdownDescription: "MAC address of one of the host's ports, in any spelling. One of the ways to name the host.",
	}

	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads one host: what Ironic and the journal tell of it, and the inventory of its last inspection. " +
			"To read many, use `metal3_baremetal_hosts`.",
		Attributes: attributes,
	}
}

// ConfigValidators wants exactly one way to name the host.
func (d *hostDataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(
		path.MatchRoot("id"), path.MatchRoot("node_name"), path.MatchRoot("name"), path.MatchRoot("instance_uuid"), path.MatchRoot("mac_address"),
	)}
}

// query is what the user wrote.
type query struct {
	id, nodeName, name, namespace, instance types.String
	mac                                     value.MAC
}

// Read finds the host and reads it.
func (d *hostDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	q := d.query(ctx, req, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	found, err := d.look(ctx, q)
	if err != nil {
		resp.Diagnostics.Append(failure(q, err))

		return
	}

	attributes := hostvalue.Values(found.seen, found.hardware)
	attributes["mac_address"] = q.mac

	all := make(map[string]attr.Type, len(attributes))
	for name, v := range attributes {
		all[name] = v.Type(ctx)
	}

	object, diags := types.ObjectValue(all, attributes)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(resp.State.Set(ctx, object)...)
}

func (d *hostDataSource) query(ctx context.Context, req datasource.ReadRequest, diags *diag.Diagnostics) query {
	var q query

	for name, into := range map[string]any{
		"id": &q.id, "node_name": &q.nodeName, "name": &q.name, "namespace": &q.namespace, "instance_uuid": &q.instance, "mac_address": &q.mac,
	} {
		diags.Append(req.Config.GetAttribute(ctx, path.Root(name), into)...)
	}

	return q
}
