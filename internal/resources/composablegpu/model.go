// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// model is the resource in Go. Nested objects stay framework values, because at plan a
// whole object may be unknown; the structs below read them once they are known.
type model struct {
	ID               types.String `tfsdk:"id"`
	Type             types.String `tfsdk:"type"`
	Model            types.String `tfsdk:"model"`
	Size             types.Int64  `tfsdk:"size"`
	AllocationPolicy types.String `tfsdk:"allocation_policy"`
	Hosts            types.List   `tfsdk:"hosts"`
	OtherSpec        types.Object `tfsdk:"other_spec"`
	Workload         types.Object `tfsdk:"workload"`

	ForceDetach     types.Bool   `tfsdk:"force_detach"`
	SkipDrain       types.String `tfsdk:"skip_drain"`
	DriverCheck     types.String `tfsdk:"driver_check"`
	WaitForVisible  types.Bool   `tfsdk:"wait_for_visible"`
	ExistingDevices types.String `tfsdk:"existing_devices"`
	OnPartial       types.String `tfsdk:"on_partial"`
	OnUnhealthy     types.String `tfsdk:"on_unhealthy"`
	OnCreateFailure types.String `tfsdk:"on_create_failure"`
	DetachFirst     types.Set    `tfsdk:"detach_first"`
	ExclusiveModels types.Set    `tfsdk:"exclusive_models"`
	RefreshNode     types.Bool   `tfsdk:"refresh_node"`
	Timeouts        types.Object `tfsdk:"timeouts"`

	Endpoint  types.String `tfsdk:"endpoint"`
	Devices   types.List   `tfsdk:"devices"`
	Unmanaged types.List   `tfsdk:"unmanaged_devices"`
	State     types.String `tfsdk:"state"`
	Placement types.Map    `tfsdk:"placement"`
}

type hostModel struct {
	MachineID types.String `tfsdk:"machine_id"`
	Name      types.String `tfsdk:"name"`
	NodeName  types.String `tfsdk:"node_name"`
	Capacity  types.Object `tfsdk:"capacity"`
	Node      types.Object `tfsdk:"node"`
}

type capacityModel struct {
	CPUMillis    types.Int64 `tfsdk:"cpu_millis"`
	MemoryBytes  types.Int64 `tfsdk:"memory_bytes"`
	StorageBytes types.Int64 `tfsdk:"storage_bytes"`
}

type specModel struct {
	MilliCPU         types.Int64 `tfsdk:"milli_cpu"`
	Memory           types.Int64 `tfsdk:"memory"`
	EphemeralStorage types.Int64 `tfsdk:"ephemeral_storage"`
	AllowedPodNumber types.Int64 `tfsdk:"allowed_pod_number"`
}

type timeoutsModel struct {
	Attach  types.String `tfsdk:"attach"`
	Visible types.String `tfsdk:"visible"`
	Drain   types.String `tfsdk:"drain"`
	Detach  types.String `tfsdk:"detach"`
}

type deviceModel struct {
	DeviceID       types.String `tfsdk:"device_id"`
	FabricDeviceID types.String `tfsdk:"fabric_device_id"`
	Type           types.String `tfsdk:"type"`
	Model          types.String `tfsdk:"model"`
	MachineID      types.String `tfsdk:"machine_id"`
	HostName       types.String `tfsdk:"host_name"`
	State          types.String `tfsdk:"state"`
	Health         types.String `tfsdk:"health"`
	HealthRaw      types.String `tfsdk:"health_raw"`
	PCIBusID       types.String `tfsdk:"pci_bus_id"`
	Serial         types.String `tfsdk:"serial"`
	AttachedAt     types.String `tfsdk:"attached_at"`
	Error          types.String `tfsdk:"error"`
}

var (
	pathHosts = path.Root("hosts")
	pathSize  = path.Root("size")
	pathSpec  = path.Root("other_spec")
)

// hosts reads the list of hosts. One that is unknown as a whole stays an unknown object, so
// a host is read from each element by itself; ok tells which ones are known.
func (m model) hosts(ctx context.Context, diags *diag.Diagnostics) (all []hostModel, ok []bool) {
	if !value.Known(m.Hosts) {
		return nil, nil
	}

	for _, v := range m.Hosts.Elements() {
		h, read := value.Object[hostModel](ctx, v, diags)
		all, ok = append(all, h), append(ok, read)
	}

	return all, ok
}

// machines are the ids of the machines in hosts, as the fabric spells them; complete is
// false where one is not known yet.
func (m model) machines(ctx context.Context) (ids []string, complete bool) {
	if !value.Known(m.Hosts) {
		return nil, false
	}

	var ignored diag.Diagnostics

	all, ok := m.hosts(ctx, &ignored)
	complete = true

	for i, h := range all {
		if !ok[i] || !value.Known(h.MachineID) {
			complete = false

			continue
		}

		ids = append(ids, h.machine())
	}

	return ids, complete
}

// sameMachines reports whether two states have the same machines in hosts, in any order and
// spelling. What is not known yet is not the same.
func (m model) sameMachines(ctx context.Context, o model) bool {
	a, all := m.machines(ctx)
	b, too := o.machines(ctx)

	return all && too && len(minus(a, b)) == 0 && len(minus(b, a)) == 0
}

// minus are the machines of a that are not in b.
func minus(a, b []string) []string {
	there := map[string]bool{}
	for _, id := range b {
		there[strings.ToLower(id)] = true
	}

	var out []string

	for _, id := range a {
		if !there[strings.ToLower(id)] {
			out = append(out, id)
		}
	}

	return out
}

// label names the resource to people: what, and where. The provider does not know its address.
func (m model) label(ctx context.Context) string {
	what := map[string]string{device.GPU: "GPU", device.CXLMemory: "CXL memory"}[m.Type.ValueString()]

	switch {
	case what == "":
		what = "Devices"
	case m.Model.ValueString() != "":
		what += " " + m.Model.ValueString()
	}

	var ignored diag.Diagnostics

	all, ok := m.hosts(ctx, &ignored)
	if len(all) == 0 || !ok[0] {
		return what
	}

	where := all[0].Name.ValueString()
	if where == "" {
		where = all[0].machine()
	}

	switch {
	case where == "":
		return what
	case len(all) > 1:
		return what + " of " + where + " and others"
	default:
		return what + " of " + where
	}
}
