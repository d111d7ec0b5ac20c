// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster is the data source metal3_cluster: what Ironic knows of a cluster.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	rschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/clustervalue"
	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

var _ datasource.DataSourceWithConfigure = (*clusterDataSource)(nil)

// limit bounds a read.
const limit = 3 * time.Minute

type clusterDataSource struct{ far clustervalue.Far }

// model is the data source as Terraform sees it.
type model struct {
	Namespace  types.String `tfsdk:"namespace"`
	Name       types.String `tfsdk:"name"`
	Workload   types.Object `tfsdk:"workload_api"`
	ID         types.String `tfsdk:"id"`
	Endpoint   types.String `tfsdk:"endpoint"`
	Machines   types.Map    `tfsdk:"machines"`
	Conditions types.List   `tfsdk:"conditions"`
}

// NewDataSource returns the data source.
func NewDataSource() datasource.DataSource { return &clusterDataSource{} }

// Metadata names the data source.
func (d *clusterDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_cluster"
}

// Configure takes over what the provider offers.
func (d *clusterDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	value.Offered("The data source metal3_cluster", req.ProviderData, &d.far, &resp.Diagnostics)
}

// Schema is the cluster that users name, and what there is of it.
func (d *clusterDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A cluster of machines as Ironic knows it, whoever made it: this provider, from whatever state. It costs one list of nodes and one of allocations, which all rooms share, and one of the cluster's nodes where `workload_api` is given. " +
			"What only the configuration says is not known here: `up_to_date` is null, and of addresses only the address is told.",
		Attributes: at.ForDataSource(map[string]rschema.Attribute{
			"name":         rschema.StringAttribute{Required: true, MarkdownDescription: "Name of the cluster."},
			"namespace":    rschema.StringAttribute{Optional: true, MarkdownDescription: "Namespace of the cluster. Default: the provider's `namespace`."},
			"workload_api": clustervalue.WorkloadAttribute("Without it nothing is known of nodes."),
			"id":           at.Said("`NAMESPACE/NAME`."),
			"endpoint":     at.Said("Ironic that the cluster's hosts are in."),
			"machines": rschema.MapNestedAttribute{
				Computed: true, MarkdownDescription: "Machines by name.", NestedObject: rschema.NestedAttributeObject{Attributes: clustervalue.MachineAttributes()},
			},
			"conditions": rschema.ListNestedAttribute{
				Computed: true, MarkdownDescription: "Conditions, named as upstream does, of the machines that there are: how many there should be is not known here.",
				NestedObject: rschema.NestedAttributeObject{Attributes: clustervalue.ConditionAttributes()},
			},
		}),
	}
}

// Read looks at the cluster.
func (d *clusterDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the limit of %s is over", limit))
	defer cancel()

	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	namespace := m.Namespace.ValueString()
	if namespace == "" && d.far != nil {
		namespace = d.far.HostDefaults().Namespace
	}

	m.ID = types.StringValue(namespace + "/" + m.Name.ValueString())

	run, err := clustervalue.Outside(ctx, d.far, namespace, m.Name.ValueString(), m.Workload, &resp.Diagnostics)
	if err != nil {
		resp.Diagnostics.Append(failure(err))
	}

	if resp.Diagnostics.HasError() {
		return
	}

	res := run.Refresh(ctx, cluster.Record{})
	m.Endpoint = types.StringValue(run.Far.Endpoint())

	switch {
	case res.Err != nil:
		resp.Diagnostics.AddError("Cluster "+m.ID.ValueString()+" could not be read", value.Sentence(res.Err))
	case len(res.Record.Machines) == 0:
		resp.Diagnostics.AddError("There is no cluster "+m.ID.ValueString(), "Ironic at "+m.Endpoint.ValueString()+
			" has no claim of a machine of this cluster. Where its resource is in this configuration, let the data source depend on it (depends_on).")
	default:
		m.fill(ctx, res.Record, &resp.Diagnostics)

		for _, w := range res.Warnings {
			resp.Diagnostics.AddWarning("Cluster "+m.ID.ValueString()+": "+w.Summary, value.Sentence(errors.New(w.Detail)))
		}

		resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
	}
}

// fill takes over what was seen, but for what only a configuration tells.
func (m *model) fill(ctx context.Context, r cluster.Record, diags *diag.Diagnostics) {
	all := make(map[string]clustervalue.Machine, len(r.Machines))

	for name, one := range r.Machines {
		s := clustervalue.MachineOf(one)
		s.UpToDate = types.BoolNull()
		all[name] = s
	}

	m.Machines = clustervalue.MachinesOf(ctx, all, diags)
	m.Conditions = clustervalue.ConditionsOf(slices.DeleteFunc(r.Conditions, func(c cluster.Condition) bool { return c.Type == cluster.ConditionUpToDate }))
}

// failure turns an error into words for people.
func failure(err error) diag.Diagnostic {
	if errors.Is(err, host.ErrUnknown) {
		return diag.NewErrorDiagnostic("Clusters cannot be read yet", value.Sentence(err)+
			" A data source is read while planning unless it depends on something that is still to be made: let it depend on what the "+
			"provider's configuration waits for (depends_on), or apply that first (-target).")
	}

	return diag.NewErrorDiagnostic("Clusters cannot be read", value.Sentence(err))
}
