// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

// filter is the configuration of a list block.
type filter struct {
	MachineID types.String `tfsdk:"machine_id"`
	Type      types.String `tfsdk:"type"`
	Model     types.String `tfsdk:"model"`
}

// ListResourceConfigSchema implements [list.ListResource].
func (r *gpuResource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = listschema.Schema{
		MarkdownDescription: "Devices that are attached to machines of the fabric, one result for each machine, type and model: what an import by identity takes.",
		Attributes: map[string]listschema.Attribute{
			"machine_id": listschema.StringAttribute{Optional: true, MarkdownDescription: "Only this machine."},
			"type":       listschema.StringAttribute{Optional: true, MarkdownDescription: "Only devices of this type: `gpu` or `cxlmemory`."},
			"model":      listschema.StringAttribute{Optional: true, MarkdownDescription: "Only devices of this model."},
		},
	}
}

// List implements [list.ListResource].
func (r *gpuResource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var (
		diags diag.Diagnostics
		only  filter
	)

	diags.Append(req.Config.Get(ctx, &only)...)

	desk, ok := r.reach(ctx, &diags)
	if !ok {
		stream.Results = list.ListResultsStreamDiagnostics(diags)

		return
	}

	groups, err := only.groups(ctx, desk.Fabric)
	if err != nil {
		diags.AddError("Machines of the fabric could not be listed", sentence(err))
		stream.Results = list.ListResultsStreamDiagnostics(diags)

		return
	}

	stream.Results = func(push func(list.ListResult) bool) {
		for i, g := range groups {
			if req.Limit > 0 && int64(i) >= req.Limit {
				return
			}

			if !push(g.result(ctx, req, desk.Fabric.Endpoint())) {
				return
			}
		}
	}
}

// group is the devices of one kind on one machine.
type group struct {
	machine     fabric.Machine
	typ, model  string
	deviceCount int
}

// groups reads the machines and groups their devices, in a stable order.
func (f filter) groups(ctx context.Context, far fabric.Fabric) ([]group, error) {
	var (
		machines []fabric.Machine
		err      error
	)

	if id := fabric.MachineID(f.MachineID.ValueString()); id != "" {
		var m fabric.Machine

		m, err = far.Machine(ctx, id)
		machines = append(machines, m)
	} else {
		machines, err = far.Machines(ctx)
	}

	if err != nil {
		return nil, err //nolint:wrapcheck // the fabric's own words
	}

	var out []group

	for _, m := range machines {
		for _, d := range m.Devices {
			known := slices.IndexFunc(out, func(g group) bool { return g.machine.ID == m.ID && d.Is(g.typ, g.model) })

			switch {
			case f.Type.ValueString() != "" && !strings.EqualFold(d.Type, f.Type.ValueString()):
			case f.Model.ValueString() != "" && !d.Is(d.Type, f.Model.ValueString()):
			case d.Type != device.GPU && d.Type != device.CXLMemory || strings.TrimSpace(d.Model) == "":
				// Nothing that a configuration could ask for.
			case known >= 0:
				out[known].deviceCount++
			default:
				out = append(out, group{m, d.Type, strings.TrimSpace(d.Model), 1})
			}
		}
	}

	slices.SortStableFunc(out, func(a, b group) int { return strings.Compare(a.key(), b.key()) })

	return out, nil
}

func (g group) key() string { return g.machine.ID + "/" + g.typ + "/" + g.model }

// result is what Terraform gets of a group. It costs no further request.
func (g group) result(ctx context.Context, req list.ListRequest, endpoint string) list.ListResult {
	out := req.NewListResult(ctx)

	name := g.machine.Name
	if name == "" {
		name = g.machine.ID
	}

	out.DisplayName = fmt.Sprintf("%s: %d × %s %s", name, g.deviceCount, g.typ, g.model)
	out.Diagnostics.Append(out.Identity.Set(ctx, identity{
		types.StringValue(g.machine.ID), types.StringValue(g.typ), types.StringValue(g.model),
	})...)

	if req.IncludeResource {
		m := imported(ctx, g.key(), g.machine.ID, endpoint, device.FoundOn(g.machine, g.typ, g.model), &out.Diagnostics)
		out.Diagnostics.Append(out.Resource.Set(ctx, &m)...)
	}

	return out
}
