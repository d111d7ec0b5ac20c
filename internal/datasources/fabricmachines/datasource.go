// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fabricmachines is the data source metal3_fabric_machines: the machines of a composable fabric.
package fabricmachines

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/fabricvalue"
)

var _ datasource.DataSourceWithConfigure = (*machinesDataSource)(nil)

// services is the part of the provider that this data source needs.
type services interface {
	Devices(ctx context.Context) (*device.Desk, error)
}

type machinesDataSource struct{ services services }

// NewDataSource returns the data source.
func NewDataSource() datasource.DataSource { return &machinesDataSource{} }

// Metadata names the data source.
func (d *machinesDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_fabric_machines"
}

// Configure takes over what the provider offers.
func (d *machinesDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	value.Offered("The data source metal3_fabric_machines", req.ProviderData, &d.services, &resp.Diagnostics)
}

// Read lists the machines and keeps those that the filter lets through.
func (d *machinesDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	all, err := d.list(ctx)
	if err != nil {
		resp.Diagnostics.Append(fabricvalue.Failure("Machines of the fabric", err))

		return
	}

	m.Machines = fabricvalue.Machines(m.keep(all))
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func (d *machinesDataSource) list(ctx context.Context) ([]fabric.Machine, error) {
	if d.services == nil {
		return nil, device.ErrUnknown
	}

	desk, err := d.services.Devices(ctx)
	if err != nil {
		return nil, err
	}

	all, err := desk.Machines(ctx, "")

	return fabricvalue.Present(all), err
}
