// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package hosts is the data source metal3_baremetal_hosts: the hosts that a filter lets through.
package hosts

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/selectorvalue"
)

var _ datasource.DataSourceWithConfigure = (*hostsDataSource)(nil)

// services is the part of the provider that this data source needs.
type services interface {
	Hosts(ctx context.Context) (host.Backend, error)
}

type hostsDataSource struct{ services services }

// NewDataSource returns the data source.
func NewDataSource() datasource.DataSource { return &hostsDataSource{} }

// Metadata names the data source.
func (d *hostsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_baremetal_hosts"
}

// Configure takes over what the provider offers.
func (d *hostsDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	value.Offered("The data source metal3_baremetal_hosts", req.ProviderData, &d.services, &resp.Diagnostics)
}

// Read lists the hosts and keeps those that the filter lets through.
func (d *hostsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	want, diags := m.filter(ctx)
	resp.Diagnostics.Append(diags...)

	if resp.Diagnostics.HasError() {
		return
	}

	all, err := d.list(ctx, want)
	if err != nil {
		resp.Diagnostics.Append(failure(err))

		return
	}

	selector, err := selectorvalue.Read(m.HostSelector)
	if err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("host_selector"), "Invalid selector", value.Sentence(err))

		return
	}

	m.Hosts = types.ListValueMust(objectType, objects(all, selector, time.Now()))
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// list asks for the shared list, then for what only the inventories tell, where that was asked for.
func (d *hostsDataSource) list(ctx context.Context, want filter) ([]listed, error) {
	if d.services == nil {
		return nil, host.ErrUnknown
	}

	backend, err := d.services.Hosts(ctx)
	if err != nil {
		return nil, err
	}

	seen, err := backend.All(ctx)
	if err != nil {
		return nil, err
	}

	all := want.keep(seen)

	if err := withPorts(ctx, backend, all); err != nil {
		return nil, err
	}

	if want.hardware == nil {
		return all, nil
	}

	if err := inspect(ctx, backend, all); err != nil {
		return nil, err
	}

	return want.keepHardware(all), nil
}

// failure turns an error into words for people.
func failure(err error) diag.Diagnostic {
	if errors.Is(err, host.ErrUnknown) {
		return diag.NewErrorDiagnostic("Hosts cannot be listed yet", value.Sentence(err)+
			" A data source is read while planning unless it depends on something that is still to be made: let it depend on what the "+
			"provider's configuration waits for (depends_on), or apply that first (-target).")
	}

	return diag.NewErrorDiagnostic("Hosts could not be listed", value.Sentence(err))
}
