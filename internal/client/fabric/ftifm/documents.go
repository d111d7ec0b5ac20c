// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ftifm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/fti"
)

// spec is what an order is about.
type spec struct {
	Type  string `json:"res_type"`
	UUID  string `json:"res_uuid,omitempty"`
	Count int    `json:"res_num"`
	Terms *terms `json:"res_spec,omitempty"`
}

type terms struct {
	Condition []term `json:"condition"`
}

// term demands a value of a column.
type term struct {
	Column   string `json:"column"`
	Operator string `json:"operator"`
	Value    string `json:"value"`
}

func (m *Manager) term(model string) term { return term{m.Column, "eq", strings.TrimSpace(model)} }

// String is the JSON that a query takes.
func (t term) String() string {
	var b bytes.Buffer

	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(t) // three strings

	return strings.TrimSpace(b.String())
}

// body wraps a specification as the update of a machine.
func body(tenant, machine string, s spec) any {
	type (
		resource struct {
			Specs []spec `json:"res_specs"`
		}
		mach struct {
			UUID      string     `json:"mach_uuid"`
			Resources []resource `json:"resources"`
		}
		tenants struct {
			UUID     string `json:"tenant_uuid"`
			Machines []mach `json:"machines"`
		}
	)

	return struct {
		Tenants tenants `json:"tenants"`
	}{tenants{tenant, []mach{{machine, []resource{{[]spec{s}}}}}}}
}

// machineDoc is a machine as FM shows it, as far as it concerns us.
type machineDoc struct {
	FabricUUID fabric.Text `json:"fabric_uuid"`
	FabricID   fabric.Text `json:"fabric_id"`
	UUID       fabric.Text `json:"mach_uuid"`
	Name       fabric.Text `json:"mach_name"`
	Status     fabric.Text `json:"mach_status"`
	Detail     fabric.Text `json:"mach_status_detail"`
	OpStatus   fabric.Text `json:"mach_op_status"`
	Owner      fabric.Text `json:"mach_owner"`

	LANPorts fabric.List[struct {
		MAC fabric.Text `json:"mac_address"`
	}] `json:"lanports"`
	Resources fabric.List[deviceDoc] `json:"resources"`
}

type deviceDoc struct {
	UUID     fabric.Text `json:"res_uuid"`
	Type     fabric.Text `json:"res_type"`
	OpStatus fabric.Text `json:"res_op_status"`
	Serial   fabric.Text `json:"res_serial_num"`

	// The production FM is known to misspell the name in answers to GET.
	Spec     fabric.Maybe[specDoc] `json:"res_spec"`
	Misspelt fabric.Maybe[specDoc] `json:"res_spcec"`
}

type specDoc struct {
	Condition fabric.List[fti.Condition] `json:"condition"`
}

// machinesOf are the machines of an answer. The second result says why there are none.
func machinesOf(raw []byte) ([]machineDoc, string) {
	var answer struct {
		Data fabric.Maybe[struct {
			Machines fabric.List[machineDoc] `json:"machines"`
		}] `json:"data"`
	}

	if json.Unmarshal(raw, &answer) != nil {
		return nil, "the answer is no JSON object"
	}

	list := answer.Data.Value.Machines

	switch {
	case list.Odd > 0 || list.Nulls > 0:
		return nil, "the list of machines in the answer cannot be read"
	case !list.Present && !list.Null:
		return nil, "the answer has no data.machines"
	}

	return list.Items, ""
}

// one is the machine of an answer that should hold only that one.
func (m *Manager) one(raw []byte, id string) (fabric.Machine, string) {
	docs, why := machinesOf(raw)
	if why != "" {
		return fabric.Machine{}, why
	}

	for _, doc := range docs {
		if !strings.EqualFold(doc.UUID.Trim(), id) {
			continue
		}

		seen := doc.machine(m.Column)

		// What has no devices says so with an empty list: a machine that lost the list would
		// look like one that lost its devices.
		if why := doc.unreadable(); why != "" && seen.State != fabric.Gone {
			return seen, why
		}

		return seen, ""
	}

	return fabric.Machine{}, "machine not found in answer"
}

// unreadable says why the devices cannot be relied on; empty: they can.
func (d machineDoc) unreadable() string {
	if !d.Resources.Whole() {
		return "the answer has no (whole) list of the machine's devices"
	}

	for _, r := range d.Resources.Items {
		typ := strings.ToLower(r.Type.Trim())
		if r.nameless() && (typ == "" || slices.Contains(types, typ)) {
			return "a device of the machine has no id"
		}
	}

	return ""
}

// nameless reports whether nobody could name the device.
func (d deviceDoc) nameless() bool { return d.UUID.Trim() == "" && d.Serial.Trim() == "" }

func (d machineDoc) machine(column string) fabric.Machine {
	m := fabric.Machine{ID: d.UUID.Trim(), Name: d.Name.Trim(), OpStatus: d.OpStatus.Trim(), Owner: d.Owner.Trim()}
	m.Status, m.State, m.Power = fti.Status(d.Status, d.Detail)

	if m.FabricID = d.FabricUUID.Trim(); m.FabricID == "" {
		m.FabricID = d.FabricID.Trim()
	}

	for _, port := range d.LANPorts.Items {
		if mac := port.MAC.Trim(); mac != "" {
			m.MACs = append(m.MACs, mac)
		}
	}

	for _, r := range d.Resources.Items {
		if r.nameless() {
			continue
		}

		m.Devices = append(m.Devices, r.device(m.ID, column))
	}

	return m
}

func (d deviceDoc) device(machine, column string) fabric.Device {
	out := fabric.Device{
		FabricID: d.UUID.Trim(), DeviceID: d.Serial.Trim(), Serial: d.Serial.Trim(), Type: strings.ToLower(d.Type.Trim()),
		Health: fti.Health(d.OpStatus), HealthRaw: string(d.OpStatus), Phase: fabric.Attached, MachineID: machine,
	}

	spec := d.Spec
	if !spec.Present {
		spec = d.Misspelt
	}

	if models := fti.Models(spec.Value.Condition, column); len(models) > 0 {
		out.Model = models[0]
	}

	return out
}

// countIn looks for the count of free devices: mocks answer it at the top, and everything
// else of FM is below data.
func countIn(doc any, depth int) (int, bool) {
	const name, deepest = "reserved_res_num_per_fabric", 5

	if depth > deepest {
		return 0, false
	}

	switch v := doc.(type) {
	case map[string]any:
		if raw, ok := v[name]; ok {
			text, err := json.Marshal(raw)
			n := fabric.Number{}

			_ = n.UnmarshalJSON(text) // takes everything

			return max(n.Int, 0), err == nil && n.Known && n.Int >= 0
		}

		for _, key := range slices.Sorted(maps.Keys(v)) {
			if n, ok := countIn(v[key], depth+1); ok {
				return n, true
			}
		}
	case []any:
		for _, below := range v {
			if n, ok := countIn(below, depth+1); ok {
				return n, true
			}
		}
	}

	return 0, false
}
