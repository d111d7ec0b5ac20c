// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hardwarevalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hostvalue"
)

// model is the data source as Terraform sees it.
type model struct {
	Labels             types.Map    `tfsdk:"labels"`
	Namespace          types.String `tfsdk:"namespace"`
	ProvisioningStates types.Set    `tfsdk:"provisioning_states"`
	IronicStates       types.Set    `tfsdk:"ironic_states"`
	Driver             types.String `tfsdk:"driver"`
	ResourceClass      types.String `tfsdk:"resource_class"`
	ConductorGroup     types.String `tfsdk:"conductor_group"`
	Available          types.Bool   `tfsdk:"available"`
	Consumed           types.Bool   `tfsdk:"consumed"`
	Hardware           types.Object `tfsdk:"hardware"`
	HostSelector       types.Object `tfsdk:"host_selector"`
	Hosts              types.List   `tfsdk:"hosts"`
}

type hardwareModel struct {
	MinCPU          types.Int64 `tfsdk:"min_cpu"`
	MinRAMMebibytes types.Int64 `tfsdk:"min_ram_mebibytes"`
	MinDiskGiB      types.Int64 `tfsdk:"min_disk_gib"`
}

// filter is what is asked for; zero values let everything through.
type filter struct {
	labels                          map[string]string
	phases, states                  []string
	namespace, driver, class, group string
	available, consumed             *bool
	hardware                        *minima
}

// minima are the least that a host must have; 0 means nothing in particular.
type minima struct{ cpu, ramMebibytes, diskGiB int64 }

// listed is a host that the filter let through so far.
type listed struct {
	seen            host.Seen
	namespace, name string
	inventory       *hardware.Hardware
}

func (m model) filter(ctx context.Context) (filter, diag.Diagnostics) {
	want := filter{
		labels: value.GoMap(m.Labels), phases: value.GoStrings(m.ProvisioningStates), states: value.GoStrings(m.IronicStates),
		namespace: m.Namespace.ValueString(), driver: m.Driver.ValueString(), class: m.ResourceClass.ValueString(),
		group: m.ConductorGroup.ValueString(), available: m.Available.ValueBoolPointer(), consumed: m.Consumed.ValueBoolPointer(),
	}

	if m.Hardware.IsNull() {
		return want, nil
	}

	var h hardwareModel

	diags := m.Hardware.As(ctx, &h, basetypes.ObjectAsOptions{})
	want.hardware = &minima{h.MinCPU.ValueInt64(), h.MinRAMMebibytes.ValueInt64(), h.MinDiskGiB.ValueInt64()}

	return want, diags
}

// keep returns what the filter lets through without a look at the hardware, by name.
func (f filter) keep(all []host.Seen) []listed {
	out := make([]listed, 0, len(all))

	for _, s := range all {
		namespace, name := hostvalue.NameOf(s)
		if f.lets(s, namespace) {
			out = append(out, listed{seen: s, namespace: namespace, name: name})
		}
	}

	slices.SortFunc(out, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.seen.Node.UUID, b.seen.Node.UUID))
	})

	return out
}

func (f filter) lets(s host.Seen, namespace string) bool {
	for key, v := range f.labels {
		if got, there := s.Journal.Labels[key]; !there || got != v {
			return false
		}
	}

	n := s.Node

	return is(f.namespace, namespace) && is(f.driver, n.Driver) && is(f.class, n.ResourceClass) && is(f.group, n.ConductorGroup) &&
		among(f.phases, s.ProvisioningState()) && among(f.states, string(n.ProvisionState)) &&
		agrees(f.available, free(s)) && agrees(f.consumed, n.InstanceUUID != "")
}

// free reports whether a host can be deployed on now.
func free(s host.Seen) bool {
	n := s.Node

	return n.ProvisionState == ironic.Available && n.InstanceUUID == "" && !n.Maintenance && n.Fault == "" && !n.Retired &&
		s.Journal.Unhealthy == nil && s.Journal.Hold == nil
}

func is(want, got string) bool { return want == "" || want == got }

func among(want []string, got string) bool { return len(want) == 0 || slices.Contains(want, got) }

func agrees(want *bool, got bool) bool { return want == nil || *want == got }

// keepHardware returns what the minima let through.
func (f filter) keepHardware(all []listed) []listed {
	return slices.DeleteFunc(all, func(l listed) bool { return !f.hardware.met(l.inventory) })
}

func (m *minima) met(h *hardware.Hardware) bool {
	if m == nil || *m == (minima{}) {
		return true
	}

	return h != nil && h.CPU.Count >= m.cpu && h.RAMMebibytes >= m.ramMebibytes && largest(h.Storage)>>30 >= m.diskGiB
}

func largest(all []hardware.Storage) int64 {
	var most int64
	for _, d := range all {
		most = max(most, d.SizeBytes)
	}

	return most
}

// objectType is the type of one host: what all data sources tell, and whether a cluster would
// choose it.
var objectType = func() types.ObjectType {
	of := maps.Clone(hostvalue.Type().AttrTypes)
	of["eligible"], of["refusal"] = types.BoolType, types.StringType

	return types.ObjectType{AttrTypes: of}
}()

// objects are the hosts with what a cluster that has a selector would say of each now.
func objects(all []listed, selector choose.Selector, now time.Time) []attr.Value {
	out, ask := make([]attr.Value, 0, len(all)), choose.Request{Selectors: []choose.Selector{selector}}

	for _, l := range all {
		inventory := hardwarevalue.Null()
		if l.inventory != nil {
			inventory = hardwarevalue.Object(*l.inventory)
		}

		refusal := choose.Refusal(ask, l.seen, now)
		values := hostvalue.Values(l.seen, inventory)
		values["eligible"], values["refusal"] = types.BoolValue(refusal == ""), value.String(refusal)

		out = append(out, types.ObjectValueMust(objectType.AttrTypes, values)) // a test makes one
	}

	return out
}
