// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fabriccapacity is the data source metal3_fabric_capacity: what the pools of a fabric still have.
package fabriccapacity

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/fabricvalue"
)

var _ datasource.DataSourceWithConfigure = (*capacityDataSource)(nil)

// services is the part of the provider that this data source needs.
type services interface {
	Devices(ctx context.Context) (*device.Desk, error)
}

type capacityDataSource struct{ services services }

// NewDataSource returns the data source.
func NewDataSource() datasource.DataSource { return &capacityDataSource{} }

// Metadata names the data source.
func (d *capacityDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_fabric_capacity"
}

// Configure takes over what the provider offers.
func (d *capacityDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	value.Offered("The data source metal3_fabric_capacity", req.ProviderData, &d.services, &resp.Diagnostics)
}

// Read asks one machine of each fabric for what it could get, or every machine where each has counts of its own.
func (d *capacityDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	all, err := d.look(ctx, m)
	if err != nil {
		resp.Diagnostics.Append(fabricvalue.Failure("Capacity of the fabric", err))

		return
	}

	m.Capacities = capacities(all)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// look asks for every model on behalf of each machine.
func (d *capacityDataSource) look(ctx context.Context, m model) ([]capacity, error) {
	if d.services == nil {
		return nil, device.ErrUnknown
	}

	desk, err := d.services.Devices(ctx)
	if err != nil {
		return nil, err
	}

	machines, err := machines(ctx, desk, fabric.MachineID(m.MachineID.ValueString()))
	if err != nil {
		return nil, err
	}

	return ask(ctx, desk.Fabric, machines, m.kind(), m.models())
}
