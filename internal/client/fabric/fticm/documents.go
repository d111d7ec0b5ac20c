// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fticm

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/fti"
)

// machineDoc is a machine as CM shows it, as far as it concerns us.
type machineDoc struct {
	UUID   fabric.Text          `json:"uuid"`
	Name   fabric.Text          `json:"name"`
	Status fabric.Text          `json:"status"`
	Reason fabric.Text          `json:"status_reason"`
	Specs  fabric.List[specDoc] `json:"resspecs"`
}

// specDoc is what a machine may have of one kind.
type specDoc struct {
	UUID     fabric.Text `json:"spec_uuid"`
	Type     fabric.Text `json:"type"`
	Selector fabric.Maybe[struct {
		Expression fabric.Maybe[struct {
			Conditions fti.Conditions `json:"conditions"`
		}] `json:"expression"`
	}] `json:"selector"`
	Min     fabric.Number          `json:"min_resspec_count"`
	Max     fabric.Number          `json:"max_resspec_count"`
	Count   fabric.Number          `json:"device_count"`
	Devices fabric.List[deviceDoc] `json:"devices"`
}

type deviceDoc struct {
	ID     fabric.Text             `json:"device_id"`
	UUID   fabric.Text             `json:"device_uuid"` // what some answers call device_id
	Status fabric.Text             `json:"status"`
	Reason fabric.Text             `json:"status_reason"`
	Detail fabric.Maybe[detailDoc] `json:"detail"`
}

type detailDoc struct {
	FabricUUID fabric.Text `json:"fabric_uuid"`
	UUID       fabric.Text `json:"res_uuid"`
	Type       fabric.Text `json:"res_type"`
	OpStatus   fabric.Text `json:"res_op_status"`
	Serial     fabric.Text `json:"res_serial_num"`
	Specs      fabric.List[struct {
		Model fabric.Text `json:"model"`
	}] `json:"resspecs"`
}

// readMachine reads an answer. The second result says what is wrong with it.
func readMachine(raw []byte, id, column string) (fabric.Machine, string) {
	var answer struct {
		Data fabric.Maybe[struct {
			Cluster fabric.Maybe[struct {
				Machine fabric.Maybe[machineDoc] `json:"machine"`
			}] `json:"cluster"`
		}] `json:"data"`
	}

	if json.Unmarshal(raw, &answer) != nil {
		return fabric.Machine{}, "the answer is no JSON object"
	}

	found := answer.Data.Value.Cluster.Value.Machine
	doc := found.Value

	switch {
	case !found.Present:
		return fabric.Machine{}, "the answer has no data.cluster.machine"
	case !strings.EqualFold(doc.UUID.Trim(), id):
		return fabric.Machine{}, "machine not found in answer"
	}

	m := fabric.Machine{ID: doc.UUID.Trim(), Name: doc.Name.Trim()}
	m.Status, m.State, m.Power = fti.Status(doc.Status, doc.Reason)

	// What has nothing says so with an empty list: a machine that lost a list would look like
	// one that lost its devices.
	if !doc.Specs.Whole() && m.State != fabric.Gone {
		return m, "the answer has no (whole) list of the machine's specifications"
	}

	for _, s := range doc.Specs.Items {
		if why := s.into(&m, column); why != "" && m.State != fabric.Gone {
			return m, why
		}
	}

	return m, ""
}

// into adds a specification and its devices to a machine. The result says what is wrong.
func (s specDoc) into(m *fabric.Machine, column string) string {
	spec := s.spec(column)
	m.Specs = append(m.Specs, spec)

	if s.ours() && !s.readable() {
		return "the devices of specification " + spec.ID + " cannot be read"
	}

	for _, d := range s.Devices.Items {
		device, ok := d.device(m.ID, spec)

		switch {
		case ok:
			m.Devices = append(m.Devices, device)
		case s.ours():
			return "a device of specification " + spec.ID + " has no id"
		}

		if m.FabricID == "" {
			m.FabricID = d.Detail.Value.FabricUUID.Trim()
		}
	}

	// A device that is counted and not shown is coming or going, or the list is not whole:
	// either way nobody may take it for gone.
	if s.ours() && spec.Current > len(s.Devices.Items) && m.State == fabric.Ready {
		m.State = fabric.Busy
	}

	return ""
}

// ours reports whether a specification may be of devices that are handed out one by one. What
// a machine is built of (cpu, memory) has its devices told in other ways, or not at all.
func (s specDoc) ours() bool {
	typ := strings.ToLower(s.Type.Trim())

	return typ == "" || slices.Contains(types, typ)
}

// readable reports whether the list of devices can be relied on. One that is left out, or
// null, means that there are none only where the manager counts none.
func (s specDoc) readable() bool {
	none := !s.Devices.Present && s.Devices.Odd == 0 && s.Count.Known && s.Count.Int == 0

	return none || s.Devices.Whole()
}

func (s specDoc) spec(column string) fabric.Spec {
	out := fabric.Spec{
		ID: s.UUID.Trim(), Type: strings.ToLower(s.Type.Trim()), Models: fti.Models(s.Selector.Value.Expression.Value.Conditions, column),
		Min: max(s.Min.Int, 0), Max: max(s.Max.Int, 0), Current: max(s.Count.Int, 0),
	}

	if !s.Count.Known {
		out.Current = len(s.Devices.Items)
	}

	return out
}

// device reads a device. A device counts as one of the model that its specification asks for:
// its own words for the model may be longer.
func (d deviceDoc) device(machine string, spec fabric.Spec) (fabric.Device, bool) {
	detail := d.Detail.Value
	out := fabric.Device{
		FabricID: detail.UUID.Trim(), DeviceID: d.ID.Trim(), Type: spec.Type, Serial: detail.Serial.Trim(),
		Health: fti.Health(detail.OpStatus), HealthRaw: string(detail.OpStatus), MachineID: machine, Spec: spec.ID,
	}

	if out.DeviceID == "" {
		out.DeviceID = d.UUID.Trim()
	}

	if out.Type == "" {
		out.Type = strings.ToLower(detail.Type.Trim())
	}

	own := ""
	if len(detail.Specs.Items) > 0 {
		own = detail.Specs.Items[0].Model.Trim()
	}

	out.Model = modelOf(own, spec.Models)
	out.Phase = phaseOf(d.Status.Trim())

	if out.Phase == fabric.AddFailed || out.Phase == fabric.RemoveFailed {
		out.Reason = d.Reason.Trim()
	}

	return out, out.FabricID != "" || out.DeviceID != ""
}

func modelOf(own string, models []string) string {
	for _, m := range models {
		if m == own {
			return own
		}
	}

	if len(models) > 0 {
		return models[0]
	}

	return own
}

// phaseOf reads a device's status. Only three are public; of all others we know only that
// something is under way.
func phaseOf(status string) fabric.Phase {
	switch status = strings.ToUpper(status); {
	case status == "ADD_COMPLETE":
		return fabric.Attached
	case status == "ADD_FAILED":
		return fabric.AddFailed
	case status == "REMOVE_FAILED":
		return fabric.RemoveFailed
	case strings.Contains(status, "REMOV"):
		return fabric.Removing
	default:
		return fabric.Adding
	}
}
