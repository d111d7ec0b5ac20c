// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fabricvalue is what a fabric manager shows, in the framework's words, for all who
// read it.
package fabricvalue

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// MachineAttributes are the attributes of a machine in a data source, all of them computed.
func MachineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":        text("The manager's id of the machine: `machine_id` of everything else."),
		"name":      text("Name of the machine, null where it has none."),
		"fabric_id": text("Fabric, or pool, that the machine's devices come from; null where the manager does not tell."),
		"status":    text("State of the machine as the manager spells it, such as `13 ACTIVE_PON`."),
		"op_status": text("Health of the machine as the manager spells it, null where it does not tell."),
		"power":     text("`on` or `off`, null where the manager does not tell."),
		"owner":     text("Who owns the machine, null where the manager does not tell."),
		"macs": schema.ListAttribute{
			Computed: true, ElementType: types.StringType, MarkdownDescription: "MAC addresses of the machine's network ports.",
		},
		"device_counts": schema.MapAttribute{
			Computed: true, ElementType: types.Int64Type, MarkdownDescription: "How many devices of each type are attached to the machine.",
		},
	}
}

func machineTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"id": types.StringType, "name": types.StringType, "fabric_id": types.StringType, "status": types.StringType, "op_status": types.StringType,
		"power": types.StringType, "owner": types.StringType, "macs": types.ListType{ElemType: types.StringType},
		"device_counts": types.MapType{ElemType: types.Int64Type},
	}
}

// Machines are machines as a list.
func Machines(all []fabric.Machine) types.List {
	out := make([]attr.Value, 0, len(all))
	for _, m := range all {
		out = append(out, machine(m))
	}

	return types.ListValueMust(types.ObjectType{AttrTypes: machineTypes()}, out)
}

func machine(m fabric.Machine) attr.Value {
	count := map[string]int64{}
	for _, d := range m.Devices {
		count[strings.ToLower(d.Type)]++
	}

	counts := make(map[string]attr.Value, len(count))
	for name, n := range count {
		counts[name] = types.Int64Value(n)
	}

	return types.ObjectValueMust(machineTypes(), map[string]attr.Value{
		"id": types.StringValue(m.ID), "name": value.String(m.Name), "fabric_id": value.String(m.FabricID), "status": value.String(m.Status),
		"op_status": value.String(m.OpStatus), "power": value.String(m.Power.String()), "owner": value.String(m.Owner),
		"macs": value.StringListOrEmpty(macs(m)), "device_counts": types.MapValueMust(types.Int64Type, counts),
	})
}

// macs are the addresses of a machine in one spelling. What is no address stays as it is.
func macs(m fabric.Machine) []string {
	out := make([]string, 0, len(m.MACs))

	for _, s := range m.MACs {
		if mac, err := value.ParseMAC(s); err == nil {
			s = mac
		}

		out = append(out, s)
	}

	return out
}

// HasMAC reports whether a machine has an address, in whatever spelling.
func HasMAC(m fabric.Machine, mac value.MAC) bool {
	return slices.ContainsFunc(m.MACs, mac.SameMeaning)
}

// Present are the machines that exist, by name: some managers go on to list those that were
// taken apart, and their order is their own.
func Present(all []fabric.Machine) []fabric.Machine {
	out := slices.DeleteFunc(slices.Clone(all), func(m fabric.Machine) bool { return m.State == fabric.Gone })

	slices.SortStableFunc(out, func(a, b fabric.Machine) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })

	return out
}

// Failure turns an error of the fabric into words for people.
func Failure(what string, err error) diag.Diagnostic {
	switch {
	case errors.Is(err, device.ErrUnknown):
		return diag.NewErrorDiagnostic(what+" cannot be read yet", value.Sentence(err)+
			" A data source is read while planning unless it depends on something that is still to be made: let it depend on what the "+
			"provider's configuration waits for (depends_on), or apply that first (-target).")
	case errors.Is(err, fabric.ErrNotFound):
		return diag.NewErrorDiagnostic(what+" could not be read", value.Sentence(err)+
			" The data source metal3_fabric_machines lists the machines that the manager has, with their ids.")
	default:
		return diag.NewErrorDiagnostic(what+" could not be read", value.Sentence(err))
	}
}

func text(about string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: about}
}
