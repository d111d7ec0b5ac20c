// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephmaintenance is the action metal3_ceph_maintenance: takes a host of a Ceph cluster
// out of service for a while, or back.
package cephmaintenance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/maintenance"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

var _ action.ActionWithConfigure = (*maintenanceAction)(nil)

// What mode may say.
const (
	modeEnter = "enter"
	modeExit  = "exit"
)

// defaultTimeout is as long as Rook waits for a drained failure domain.
const defaultTimeout = 30 * time.Minute

type maintenanceAction struct{ far cephvalue.Far }

// model is the action as Terraform sees it.
type model struct {
	ClusterID  types.String `tfsdk:"cluster_id"`
	Connection types.Object `tfsdk:"cluster_connection"`
	Host       types.String `tfsdk:"host"`
	Mode       types.String `tfsdk:"mode"`
	Timeout    types.String `tfsdk:"timeout"`
}

// NewAction returns the action.
func NewAction() action.Action { return &maintenanceAction{} }

// Metadata names the action.
func (a *maintenanceAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ceph_maintenance"
}

// Configure takes over what the provider offers.
func (a *maintenanceAction) Configure(_ context.Context, req action.ConfigureRequest, resp *action.ConfigureResponse) {
	value.Offered("The action metal3_ceph_maintenance", req.ProviderData, &a.far, &resp.Diagnostics)
}

// Schema is what users write.
func (a *maintenanceAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Takes a host of a Ceph cluster out of service for a while (`enter`), or back (`exit`). To enter, all OSDs and monitors of the host must be dispensable together, and for each active MDS on it another one must stand by elsewhere: " +
			"otherwise the action fails, names the placement groups or the file system, and changes nothing. While the host is in maintenance its OSDs stay in when they are down (`noout`), so that no data moves. " +
			"Stopping and starting daemons or the host is not part of it. To exit, the OSDs of the host must come up, and all placement groups must become clean.",
		Attributes: map[string]schema.Attribute{
			"cluster_id":         schema.StringAttribute{Required: true, Validators: []validator.String{cephvalue.ID()}, MarkdownDescription: cephvalue.AboutClusterID},
			"cluster_connection": cephvalue.ActionConnection(cephvalue.AboutConnection),
			"host": schema.StringAttribute{
				Required: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}, MarkdownDescription: "Name of the host, as CRUSH and `uname -n` have it.",
			},
			"mode": schema.StringAttribute{
				Required: true, Validators: []validator.String{stringvalidator.OneOf(modeEnter, modeExit)}, MarkdownDescription: "`enter` or `exit`.",
			},
			"timeout": schema.StringAttribute{
				Optional: true, Validators: []validator.String{value.Duration()}, MarkdownDescription: "How long it may take, such as `10m`. Default: `30m`.",
			},
		},
	}
}

// Invoke takes the host out of service, or back.
func (a *maintenanceAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	defer value.Guard(ctx, "invocation", "Ceph maintenance", &resp.Diagnostics)

	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	limit := defaultTimeout
	if d, err := value.ParseDuration(m.Timeout.ValueString()); err == nil { // the validator has spoken
		limit = d
	}

	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the action's timeout of %s is over", limit))
	defer cancel()

	reach := cephvalue.Reach(ctx, a.far, m.ClusterID, m.Connection, &resp.Diagnostics)
	if reach == nil {
		return
	}

	say := func(format string, args ...any) {
		resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
	}

	name := m.Host.ValueString()

	if m.Mode.ValueString() == modeExit {
		if err := maintenance.Exit(ctx, reach.Cluster, name, say); err != nil {
			resp.Diagnostics.AddError("Maintenance of "+name+" did not end well", value.Sentence(err))
		}

		return
	}

	switch err := maintenance.Enter(ctx, reach.Cluster, name, say); {
	case errors.Is(err, maintenance.ErrNotNow):
		resp.Diagnostics.AddError("Host "+name+" cannot be spared now", value.Sentence(err)+" Nothing was changed. Wait until the cluster is whole, or give its pools more copies and its file systems MDS on more hosts.")
	case err != nil:
		resp.Diagnostics.AddError("Host "+name+" did not enter maintenance", value.Sentence(err))
	}
}
