// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/workload"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// wanted is what the model asks for. All its values must be known.
func (r *gpuResource) wanted(ctx context.Context, m model, have []device.Record, connect bool, diags *diag.Diagnostics) device.Wanted {
	w := device.Wanted{
		ID: m.ID.ValueString(), Type: m.Type.ValueString(), Model: m.Model.ValueString(), Size: int(m.Size.ValueInt64()),
		Policy: device.Policy(m.AllocationPolicy.ValueString()), ForceDetach: m.ForceDetach.ValueBool(),
		SkipDrain: m.skip(), DriverCheck: m.DriverCheck.ValueString() == checkRequired,
		Existing: device.Existing(m.ExistingDevices.ValueString()), OnPartial: device.Partial(m.OnPartial.ValueString()),
		OnUnhealthy: device.Unhealthy(m.OnUnhealthy.ValueString()),
		DetachFirst: value.GoStrings(m.DetachFirst), Exclusive: value.GoStrings(m.ExclusiveModels),
		OtherSpec: m.spec(ctx, diags), Limits: m.limits(ctx, diags),
		// Each host without a connection and a cluster is passed over.
		WaitVisible: m.WaitForVisible.IsNull() || m.WaitForVisible.ValueBool(),
	}

	w.Hosts = r.hosts(ctx, m, have, connect, diags)

	return w
}

// hosts makes the hosts of a model, with what is done on their operating systems where that
// is to be done at all.
func (r *gpuResource) hosts(ctx context.Context, m model, have []device.Record, connect bool, diags *diag.Diagnostics) []device.Host {
	var out []device.Host

	all, ok := m.hosts(ctx, diags)

	var api workload.API
	if connect {
		api = r.cluster(ctx, m, diags)
	}

	for i, h := range all {
		if !ok[i] {
			continue
		}

		host := device.Host{
			MachineID: spelled(h.machine(), have), Name: h.Name.ValueString(), Capacity: h.capacity(ctx, diags),
		}

		if connect {
			node := r.node(ctx, h, m.Type.ValueString(), pathHosts.AtListIndex(i).AtName("node"), diags)
			host.Node = m.inCluster(ctx, h, node, api, diags)
		}

		out = append(out, host)
	}

	return out
}

// node is nil where a host has no connection.
func (r *gpuResource) node(ctx context.Context, h hostModel, typ string, at path.Path, diags *diag.Diagnostics) device.Node {
	if !connected(ctx, h.Node, diags) {
		return nil
	}

	defaults, err := r.far.SSHDefaults(ctx)
	if err != nil {
		diags.AddAttributeError(at, "Connection to "+h.label()+" cannot be made yet", sentence(err))

		return nil
	}

	cfg, ok := connection(ctx, h.Node, defaults, at, diags)
	if !ok {
		return nil
	}

	node, err := r.far.Node(ctx, cfg, typ)
	if err != nil {
		diags.AddAttributeError(at, "Connection to "+h.label()+" cannot work", sentence(err))

		return nil
	}

	return node
}

func (h hostModel) label() string {
	if value.Known(h.Name) && h.Name.ValueString() != "" {
		return h.Name.ValueString()
	}

	return "machine " + h.machine()
}

// machine is the id of the host's machine as the fabric spells it.
func (h hostModel) machine() string { return fabric.MachineID(h.MachineID.ValueString()) }

func (h hostModel) capacity(ctx context.Context, diags *diag.Diagnostics) *device.Capacity {
	c, ok := value.Object[capacityModel](ctx, h.Capacity, diags)
	if !ok {
		return nil
	}

	return &device.Capacity{CPUMillis: c.CPUMillis.ValueInt64(), MemoryBytes: c.MemoryBytes.ValueInt64(), StorageBytes: c.StorageBytes.ValueInt64()}
}

func (m model) spec(ctx context.Context, diags *diag.Diagnostics) *device.Spec {
	s, ok := value.Object[specModel](ctx, m.OtherSpec, diags)
	if !ok {
		return nil
	}

	return &device.Spec{MilliCPU: s.MilliCPU.ValueInt64(), Memory: s.Memory.ValueInt64(), EphemeralStorage: s.EphemeralStorage.ValueInt64()}
}

// limits are the timeouts, with the defaults where the configuration says nothing.
func (m model) limits(ctx context.Context, diags *diag.Diagnostics) device.Limits {
	out := device.DefaultLimits

	t, ok := value.Object[timeoutsModel](ctx, m.Timeouts, diags)
	if !ok {
		return out
	}

	for to, text := range map[*time.Duration]types.String{&out.Attach: t.Attach, &out.Visible: t.Visible, &out.Drain: t.Drain, &out.Detach: t.Detach} {
		if !value.Known(text) {
			continue
		}

		d, err := value.ParseDuration(text.ValueString())
		if err != nil {
			diags.AddAttributeError(path.Root("timeouts"), "Invalid duration", sentence(err))

			continue
		}

		*to = d
	}

	return out
}

// records reads the devices of a state.
func (m model) records(ctx context.Context, diags *diag.Diagnostics) []device.Record {
	if !value.Known(m.Devices) {
		return nil
	}

	var all []deviceModel

	diags.Append(m.Devices.ElementsAs(ctx, &all, false)...)

	out := make([]device.Record, 0, len(all))
	for _, d := range all {
		out = append(out, d.record())
	}

	return out
}

func (d deviceModel) record() device.Record {
	r := device.Record{
		DeviceID: d.DeviceID.ValueString(), FabricID: d.FabricDeviceID.ValueString(), Type: d.Type.ValueString(), Model: d.Model.ValueString(),
		MachineID: d.MachineID.ValueString(), HostName: d.HostName.ValueString(), State: device.State(d.State.ValueString()),
		Health: health(d.Health.ValueString()), HealthRaw: d.HealthRaw.ValueString(), BusID: d.PCIBusID.ValueString(),
		Serial: d.Serial.ValueString(), Error: d.Error.ValueString(),
	}

	// A time that does not parse is one that nobody knows.
	r.AttachedAt, _ = time.Parse(time.RFC3339, d.AttachedAt.ValueString())

	return r
}

// health reads the attribute health.
func health(s string) fabric.Health {
	for _, h := range []fabric.Health{fabric.HealthOK, fabric.HealthWarning, fabric.HealthCritical} {
		if h.String() == s {
			return h
		}
	}

	return fabric.HealthUnknown
}

// spelled is the id of a machine as its devices have it: a fabric may tell upper from lower
// case, and that spelling is one that it took.
func spelled(id string, have []device.Record) string {
	for _, d := range have {
		if device.SameMachine(d.MachineID, id) {
			return d.MachineID
		}
	}

	return id
}

// count says "1 device", "3 devices".
func count(n int) string {
	if n == 1 {
		return "1 device"
	}

	return fmt.Sprintf("%d devices", n)
}
