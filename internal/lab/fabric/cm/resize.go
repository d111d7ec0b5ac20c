// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cm

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Resize is what the body of a resize orders.
type Resize struct {
	Spec    string
	Count   int      // of devices that are to be there
	Devices []string // that are to go; empty: devices are to come
}

type change struct {
	Spec    string   `json:"spec_uuid"`
	Count   *int     `json:"device_count"`
	Devices []string `json:"devices"`
}

// ParseResize reads the body of a resize: more devices, or less.
func ParseResize(raw []byte) (Resize, error) {
	var b struct {
		More *change `json:"increase_resource_count"`
		Less *change `json:"remove_resources"`
	}

	if err := face.Body(bytes.NewReader(raw), &b); err != nil {
		return Resize{}, err
	}

	c := b.More
	if c == nil {
		c = b.Less
	}

	switch {
	case c == nil || b.More != nil && b.Less != nil:
		return Resize{}, errors.New("want increase_resource_count or remove_resources")
	case c.Spec == "" || c.Count == nil || *c.Count < 0:
		return Resize{}, errors.New("want a spec_uuid, and a device_count")
	case b.More != nil && c.Devices != nil:
		return Resize{}, errors.New("devices: an increase names none")
	case b.Less != nil && (len(c.Devices) == 0 || slices.Contains(c.Devices, "")):
		return Resize{}, errors.New("devices: want at least one")
	}

	return Resize{Spec: c.Spec, Count: *c.Count, Devices: c.Devices}, nil
}

var errBusy = errors.New("busy")

func (s service) resize(w http.ResponseWriter, r *http.Request) {
	err := s.order(r)

	if errors.Is(err, errBusy) {
		err = errors.Join(face.Refuse(http.StatusConflict, CodeBusy, "a resize of the machine is running"),
			s.env.Update(func(tx store.Tx, now time.Time) error {
				m, err := find(tx, now, r.PathValue("mach"))

				return errors.Join(err, hardware.Refuse(tx, now, m.Name))
			}))
	}

	if err != nil {
		face.Fail(w, err)

		return
	}

	face.JSON(w, http.StatusOK, map[string]any{"status": "success"})
}

func (s service) order(r *http.Request) error {
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return face.Refuse(http.StatusUnsupportedMediaType, CodeInvalid, "Content-Type "+kind)
	}

	raw, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return face.Refuse(http.StatusBadRequest, CodeInvalid, err.Error())
	}

	o, err := ParseResize(raw)
	if err != nil {
		return face.Refuse(http.StatusBadRequest, CodeInvalid, err.Error())
	}

	return s.env.Update(func(tx store.Tx, now time.Time) error {
		m, err := find(tx, now, r.PathValue("mach"))
		if err != nil {
			return err
		}

		code := m.Code()
		moving := code == hardware.AddingDevice || code == hardware.DeletingDevice

		if m.Status != 0 || moving && s.env.Tuned().RefuseBusy {
			return errBusy
		}

		all, err := specifications(tx, now, m)
		if err != nil {
			return err
		}

		i := slices.IndexFunc(all, func(spec specification) bool { return spec.id == o.Spec })
		if i < 0 {
			return face.Refuse(http.StatusNotFound, CodeNotFound, "resource specification not found")
		}

		if len(o.Devices) > 0 {
			return s.remove(tx, now, all[i], o)
		}

		return s.increase(tx, now, m, all[i], o)
	})
}

// increase adds as many devices as the target is above what is to be there. The same target
// again adds none: two writers that read the same count lose one device.
func (s service) increase(tx store.Tx, now time.Time, m hardware.Machine, spec specification, o Resize) error {
	more := o.Count - spec.target()

	switch {
	case more < 0:
		return face.Refuse(http.StatusBadRequest, CodeInvalid, "device_count is less than there are")
	case o.Count > s.env.Tuned().MaxCount:
		return face.Refuse(http.StatusBadRequest, CodeLimit, "device_count is above max_resspec_count")
	}

	_, err := hardware.AttachN(tx, now, m.Name, hardware.Pick(spec.typ, spec.model), more, s.env.Hardware.AddTime)
	if errors.Is(err, hardware.ErrNoFree) {
		return face.Refuse(http.StatusNotFound, CodeCapacity, "insufficient resources")
	}

	return err
}

// remove removes the devices that are named. The count must fit, whichever of the two counts
// the caller goes by.
func (s service) remove(tx store.Tx, now time.Time, spec specification, o Resize) error {
	left := spec.target() - len(o.Devices)

	if o.Count != left && o.Count != max(spec.actual()-len(o.Devices), 0) {
		return face.Refuse(http.StatusBadRequest, CodeInvalid, "device_count does not fit the devices")
	}

	if left < s.env.Tuned().MinCount {
		return face.Refuse(http.StatusBadRequest, CodeLimit, "device_count is below min_resspec_count")
	}

	ids := make([]string, 0, len(o.Devices))

	for _, id := range o.Devices {
		d, ok := spec.find(id)
		if !ok || d.Phase == hardware.Adding || slices.Contains(ids, d.ID) {
			return face.Refuse(http.StatusBadRequest, CodeInvalid, "device "+id+" cannot be removed")
		}

		if d.Phase != hardware.Removing { // asked again: it goes already
			ids = append(ids, d.ID)
		}
	}

	return hardware.DetachN(tx, now, ids, s.env.Hardware.RemoveTime)
}
