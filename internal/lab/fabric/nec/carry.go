// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nec

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// begin begins a step at the time up to which its job is done. A step that cannot be begun
// fails at that time: the manager takes any order, and finds out only now.
func (c *call) begin(j *job, s *step) error {
	at := j.Cursor
	s.Status, s.Began, s.Until = InProgress, at, at

	if j.Armed.Status != "" && s == j.Steps[0] {
		s.Code, s.Fails = http.StatusInternalServerError, cmp.Or(j.Armed.Reason, "internal server error")
		s.Until = at.Add(c.Hardware.AddTime)

		if s.Operation == opDisconnect {
			s.Until = at.Add(c.Hardware.RemoveTime)
		}

		if !j.Armed.Applied {
			return nil
		}
	}

	switch s.Operation {
	case opConnect:
		return c.connect(s, at)
	case opDisconnect:
		return c.disconnect(s, at)
	default:
		return c.power(s, at)
	}
}

func (s *step) fail(code int, reason string) error {
	s.Code, s.Fails = code, reason

	return nil
}

func (c *call) connect(s *step, at time.Time) error {
	m, found, err := c.machineOf(s.Source, at)
	if err != nil {
		return err
	}

	if !found {
		return s.fail(http.StatusNotFound, "the device does not exist: "+s.Source)
	}

	d, found, err := hardware.Load(c.tx, at, s.Device)

	switch {
	case err != nil:
		return err
	case !found:
		return s.fail(http.StatusNotFound, "the device does not exist: "+s.Device)
	case !d.Free():
		return s.fail(http.StatusConflict, "the device is connected already: "+s.Device)
	case d.Fabric != m.Fabric:
		return s.fail(http.StatusBadRequest, "the device is behind another switch: "+s.Device)
	}

	if d.FailAdd != "" {
		s.Code, s.Fails = http.StatusInternalServerError, d.FailAdd
		d.Bounce = true // no phases here: what could not be connected is in the pool again

		if err := hardware.Save(c.tx, d); err != nil {
			return err
		}
	}

	s.Until = at.Add(c.Hardware.AddTime)
	_, err = hardware.Attach(c.tx, at, m.Name, hardware.PickID(d.ID), c.Hardware.AddTime)

	return err
}

func (c *call) disconnect(s *step, at time.Time) error {
	m, found, err := c.machineOf(s.Source, at)
	if err != nil {
		return err
	}

	if !found {
		return s.fail(http.StatusNotFound, "the device does not exist: "+s.Source)
	}

	d, found, err := hardware.Load(c.tx, at, s.Device)

	switch {
	case err != nil:
		return err
	case !found:
		return s.fail(http.StatusNotFound, "the device does not exist: "+s.Device)
	case d.Machine != m.Name:
		return s.fail(http.StatusConflict, "the device is not connected: "+s.Device)
	}

	if d.FailRemove != "" {
		s.Code, s.Fails = http.StatusInternalServerError, d.FailRemove
	}

	s.Until = at.Add(c.Hardware.RemoveTime)

	err = hardware.Detach(c.tx, at, d.ID, c.Hardware.RemoveTime)
	if errors.Is(err, hardware.ErrNotThere) {
		return s.fail(http.StatusConflict, "the device is not connected: "+s.Device)
	}

	return err
}

// power switches a machine on or off.
func (c *call) power(s *step, at time.Time) error {
	m, found, err := machine.ByID(c.tx, strings.ToLower(s.Device))
	if err != nil {
		return err
	}

	if !found {
		return s.fail(http.StatusNotFound, "the device does not exist: "+s.Device)
	}

	kind := "ForceOff"
	if s.Operation == opBoot {
		kind = "On"
	}

	m.SetPower(kind, at, m.PowerDelay)
	s.Until = at.Add(m.PowerDelay)

	return machine.Save(c.tx, m)
}

// machineOf is the machine that an order names: by its CPU, or by the fabric's adapter.
func (c *call) machineOf(source string, at time.Time) (hardware.Machine, bool, error) {
	source = strings.ToLower(source)

	if !c.o.Product {
		m, found, err := hardware.MachineByID(c.tx, at, source)

		return m, found && !m.Deleted, err
	}

	all, err := hardware.Machines(c.tx, at)

	for _, m := range all {
		if _, destination := adapters(m.ID); destination == source && !m.Deleted {
			return m, true, err
		}
	}

	return hardware.Machine{}, false, err
}
