// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fabricdevices is the data source metal3_fabric_devices: the devices that a fabric has attached to machines.
package fabricdevices

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/fabricvalue"
)

var _ datasource.DataSourceWithConfigure = (*devicesDataSource)(nil)

// services is the part of the provider that this data source needs.
type services interface {
	Devices(ctx context.Context) (*device.Desk, error)
}

type devicesDataSource struct{ services services }

// NewDataSource returns the data source.
func NewDataSource() datasource.DataSource { return &devicesDataSource{} }

// Metadata names the data source.
func (d *devicesDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_fabric_devices"
}

// Configure takes over what the provider offers.
func (d *devicesDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	value.Offered("The data source metal3_fabric_devices", req.ProviderData, &d.services, &resp.Diagnostics)
}

// Read lists the attached devices and keeps those that the filter lets through.
func (d *devicesDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	machines, err := d.machines(ctx, fabric.MachineID(m.MachineID.ValueString()))
	if err != nil {
		resp.Diagnostics.Append(fabricvalue.Failure("Devices of the fabric", err))

		return
	}

	m.Devices = fabricvalue.Devices(m.keep(machines))
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// machines reads one machine, or all.
func (d *devicesDataSource) machines(ctx context.Context, id string) ([]fabric.Machine, error) {
	if d.services == nil {
		return nil, device.ErrUnknown
	}

	desk, err := d.services.Devices(ctx)
	if err != nil {
		return nil, err
	}

	return desk.Machines(ctx, id)
}
