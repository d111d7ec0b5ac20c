// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package hostvalue is what data sources tell of a host: the attributes, and their values
// made from one look at it. They have the names that the resource gives them.
package hostvalue

import (
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hardwarevalue"
)

var (
	portTypes = map[string]attr.Type{
		"mac": types.StringType, "pxe_enabled": types.BoolType, "physical_network": types.StringType,
		"local_link": types.MapType{ElemType: types.StringType},
	}
	consumerTypes = map[string]attr.Type{"kind": types.StringType, "name": types.StringType, "id": types.StringType}
)

// NameOf returns namespace and name of a host: from our journal, else from a node name that
// is joined as the baremetal-operator joins them, else the node's name, which has no namespace.
func NameOf(s host.Seen) (namespace, name string) {
	if s.Journal.Name != "" {
		return s.Journal.Namespace, s.Journal.Name
	}

	if before, after, joined := strings.Cut(s.Node.Name, "~"); joined {
		return before, after
	}

	return "", s.Node.Name
}

// Values are the attributes of a host. Collections are empty rather than null, so that
// expressions can go over them.
func Values(s host.Seen, hardware types.Object) map[string]attr.Value {
	namespace, name := NameOf(s)
	n, j := s.Node, s.Journal

	return map[string]attr.Value{
		"id":                 value.String(n.UUID),
		"name":               value.String(name),
		"namespace":          value.String(namespace),
		"node_name":          value.String(n.Name),
		"description":        value.String(n.Description),
		"labels":             value.StringMapOrEmpty(j.Labels),
		"annotations":        value.StringMapOrEmpty(j.Annotations),
		"failure_domain":     value.String(j.FailureDomain),
		"unhealthy":          value.String(j.UnhealthyReason()),
		"fabric_machine_id":  value.String(j.FabricMachineID),
		"provisioning_state": value.String(s.ProvisioningState()),
		"operational_status": value.String(s.OperationalStatus()),
		"error_type":         value.String(s.ErrorType()),
		"error_message":      value.String(s.ErrorMessage()),
		"conditions":         value.StringMapOrEmpty(s.Conditions()),
		"powered_on":         value.Bool(s.PoweredOn()),
		"ironic_state":       value.String(string(n.ProvisionState)),
		"maintenance":        types.BoolValue(n.Maintenance),
		"maintenance_reason": value.String(n.MaintenanceReason),
		"driver":             value.String(n.Driver),
		"health":             value.String(n.Health),
		"instance_uuid":      value.String(n.InstanceUUID),
		"resource_class":     value.String(n.ResourceClass),
		"conductor_group":    value.String(n.ConductorGroup),
		"owner":              value.String(n.Owner),
		"traits":             traits(n.Traits),
		"ports":              ports(s.Ports),
		"consumer":           consumer(s.ConsumerOf()),
		"hardware":           hardware,
	}
}

// Object is one host of a list.
func Object(s host.Seen, hardware types.Object) types.Object {
	return types.ObjectValueMust(objectTypes, Values(s, hardware)) // a test makes one
}

func traits(all []string) types.Set {
	unique := slices.Sorted(slices.Values(all))
	elements := []attr.Value{}

	for _, t := range slices.Compact(unique) {
		elements = append(elements, types.StringValue(t))
	}

	return types.SetValueMust(types.StringType, elements)
}

func ports(all []ironic.Port) types.List {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b ironic.Port) int { return strings.Compare(a.Address, b.Address) })
	elements := make([]attr.Value, 0, len(sorted))

	for _, p := range sorted {
		elements = append(elements, types.ObjectValueMust(portTypes, map[string]attr.Value{
			"mac":              value.String(p.Address),
			"pxe_enabled":      types.BoolValue(p.PXEEnabled),
			"physical_network": value.String(p.PhysicalNetwork),
			"local_link":       value.StringMapOrEmpty(p.LocalLink),
		}))
	}

	return types.ListValueMust(types.ObjectType{AttrTypes: portTypes}, elements)
}

func consumer(c *host.Consumer) types.Object {
	if c == nil {
		return types.ObjectNull(consumerTypes)
	}

	return types.ObjectValueMust(consumerTypes, map[string]attr.Value{
		"kind": value.String(c.Kind), "name": value.String(c.Name), "id": value.String(c.ID),
	})
}

// objectTypes are the types of [Values].
var objectTypes = func() map[string]attr.Type {
	out := make(map[string]attr.Type)
	for name, a := range Attributes() {
		out[name] = a.GetType()
	}

	out["hardware"] = hardwarevalue.Type()

	return out
}()

// Type is the type of [Object].
func Type() types.ObjectType { return types.ObjectType{AttrTypes: objectTypes} }
