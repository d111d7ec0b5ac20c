// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fm

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Order is what the body of a PATCH or a DELETE orders.
type Order struct {
	Machine string
	Type    string
	Device  string // of a detach
	Column  string // of an attach
	Model   string // likewise
	Count   int
}

type body struct {
	Tenants struct {
		Tenant   string `json:"tenant_uuid"`
		Machines []struct {
			Machine   string `json:"mach_uuid"`
			Resources []struct {
				Specs []spec `json:"res_specs"`
			} `json:"resources"`
		} `json:"machines"`
	} `json:"tenants"`
}

type spec struct {
	Type  string `json:"res_type"`
	UUID  string `json:"res_uuid"`
	Count int    `json:"res_num"`
	Spec  *struct {
		Condition []condition `json:"condition"`
	} `json:"res_spec"`
}

type condition struct {
	Column   string `json:"column"`
	Operator string `json:"operator"`
	Value    string `json:"value"`
}

func (c condition) valid(column string) bool {
	return c.Column == column && c.Operator == "eq" && c.Value != ""
}

func known(typ string) bool { return typ == hardware.GPU || typ == hardware.CXL }

// ParseAttach reads the body of a PATCH: one specification with one condition.
func ParseAttach(raw []byte) (Order, error) {
	o, s, err := parse(raw)

	switch {
	case err != nil:
		return Order{}, err
	case s.UUID != "":
		return Order{}, errors.New("res_uuid: an attach names no device")
	case s.Spec == nil || len(s.Spec.Condition) != 1:
		return Order{}, errors.New("res_spec: want one condition")
	}

	c := s.Spec.Condition[0]
	o.Column, o.Model = c.Column, c.Value

	if !c.valid(c.Column) {
		return Order{}, errors.New("condition: want column, eq, value")
	}

	return o, nil
}

// ParseDetach reads the body of a DELETE: one device.
func ParseDetach(raw []byte) (Order, error) {
	o, s, err := parse(raw)

	switch {
	case err != nil:
		return Order{}, err
	case s.UUID == "" || o.Count != 1:
		return Order{}, errors.New("want a res_uuid, and a res_num of 1")
	case s.Spec != nil:
		return Order{}, errors.New("res_spec: a detach has none")
	}

	o.Device = s.UUID

	return o, nil
}

func parse(raw []byte) (Order, spec, error) {
	var b body
	if err := face.Body(bytes.NewReader(raw), &b); err != nil {
		return Order{}, spec{}, err
	}

	if b.Tenants.Tenant != hardware.Tenant {
		return Order{}, spec{}, errors.New("tenant_uuid: another tenant")
	}

	if len(b.Tenants.Machines) != 1 || len(b.Tenants.Machines[0].Resources) != 1 || len(b.Tenants.Machines[0].Resources[0].Specs) != 1 {
		return Order{}, spec{}, errors.New("want one machine with one resource with one specification")
	}

	m := b.Tenants.Machines[0]
	s := m.Resources[0].Specs[0]

	if !known(s.Type) || s.Count < 1 || m.Machine == "" {
		return Order{}, spec{}, fmt.Errorf("mach_uuid %q, res_type %q, res_num %d", m.Machine, s.Type, s.Count)
	}

	return Order{Machine: m.Machine, Type: s.Type, Count: s.Count}, s, nil
}

// attach orders devices for a machine.
func (s service) attach(w http.ResponseWriter, r *http.Request) {
	tune := s.env.Tuned()

	o, err := read(r, ParseAttach)
	if err == nil && o.Column != tune.ModelColumn {
		err = face.Refuse(http.StatusBadRequest, CodeInvalid, "condition: unknown column "+o.Column)
	}

	if err != nil {
		face.Fail(w, err)

		return
	}

	var got []hardware.Device

	err = s.refuseBusy(o.Machine, s.env.Update(func(tx store.Tx, now time.Time) error {
		m, err := takes(tx, now, o.Machine)
		if err != nil {
			return err
		}

		got, err = hardware.AttachN(tx, now, m.Name, hardware.Pick(o.Type, o.Model), o.Count, s.env.Hardware.AddTime)
		if errors.Is(err, hardware.ErrNoFree) {
			return face.Refuse(http.StatusNotFound, CodeCapacity, "insufficient resources")
		}

		return errors.Join(err, bounce(tx, got))
	}))
	if err != nil {
		face.Fail(w, err)

		return
	}

	if tune.AsyncStatus == 0 && !face.Wait(r, s.env.Hardware.AddTime) {
		panic(http.ErrAbortHandler) // nobody waits for the answer
	}

	s.answerAttach(w, o, got)
}

// bounce lets devices go back to the pool whose link does not come up: FM knows no device
// that is there and failed.
func bounce(tx store.Tx, all []hardware.Device) error {
	for _, d := range all {
		d.Bounce = true
		if err := hardware.Save(tx, d); err != nil {
			return err
		}
	}

	return nil
}

func (s service) answerAttach(w http.ResponseWriter, o Order, got []hardware.Device) {
	tune := s.env.Tuned()

	var doc map[string]any

	err := s.env.View(func(tx store.Tx, now time.Time) error {
		m, err := find(tx, now, o.Machine)
		if err != nil {
			return err
		}

		show := m.Devices
		if !tune.AnswerAll {
			show = slices.DeleteFunc(slices.Clone(show), func(d hardware.Device) bool {
				return !slices.ContainsFunc(got, func(g hardware.Device) bool { return g.ID == d.ID })
			})
		}

		doc = s.machine(m, show)

		if tune.AsyncStatus == 0 && !tune.AnswerAll && len(show) < len(got) {
			return face.Refuse(http.StatusInternalServerError, CodeHardware, "the device did not come up")
		}

		return nil
	})
	s.answer(w, tune.Status(), []any{doc}, err)
}

// detach orders a device away.
func (s service) detach(w http.ResponseWriter, r *http.Request) {
	tune := s.env.Tuned()

	o, err := read(r, ParseDetach)
	if err != nil {
		face.Fail(w, err)

		return
	}

	err = s.refuseBusy(o.Machine, s.env.Update(func(tx store.Tx, now time.Time) error {
		m, err := takes(tx, now, o.Machine)
		if err != nil {
			return err
		}

		d, ok, err := hardware.Load(tx, now, o.Device)
		if err != nil {
			return err
		}

		if !ok || d.Machine != m.Name || d.Type != o.Type {
			return face.Refuse(http.StatusNotFound, CodeDevice, "the machine has no such resource")
		}

		return hardware.Detach(tx, now, d.ID, s.env.Hardware.RemoveTime)
	}))
	if err != nil {
		face.Fail(w, err)

		return
	}

	if tune.AsyncStatus == 0 && !face.Wait(r, s.env.Hardware.RemoveTime) {
		panic(http.ErrAbortHandler) // nobody waits for the answer
	}

	doc, err := s.load(o.Machine)
	s.answer(w, tune.Status(), []any{doc}, err)
}
