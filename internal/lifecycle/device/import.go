// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Found is what an import finds.
type Found struct {
	Type, Model string
	Machine     fabric.Machine
	Devices     []Record
}

// ImportID is an id of an import: "<machine>/<type>/<model>" or "<machine>/<fabric id>[,<fabric id>…]".
type ImportID struct {
	Machine     string
	Type, Model string   // of the first form
	Devices     []string // of the second form
}

// ParseImportID reads an import id. A model may contain slashes; a Redfish path is a fabric
// id that begins with one.
func ParseImportID(id string) (ImportID, error) {
	machine, rest, ok := strings.Cut(fabric.MachineID(strings.TrimSpace(id)), "/")
	if !ok || machine == "" || rest == "" {
		return ImportID{}, errors.New("must be <machine_id>/<type>/<model> or <machine_id>/<fabric_device_id>[,<fabric_device_id>…]")
	}

	if typ, model, two := strings.Cut(rest, "/"); two && typ != "" {
		if typ != GPU && typ != CXLMemory {
			return ImportID{}, fmt.Errorf("the type %q is neither %s nor %s", typ, GPU, CXLMemory)
		}

		if model == "" {
			return ImportID{}, errors.New("the model is missing: <machine_id>/<type>/<model>")
		}

		return ImportID{Machine: machine, Type: typ, Model: model}, nil
	}

	var devices []string

	for _, one := range strings.Split(rest, ",") {
		if one = strings.TrimSpace(one); one != "" && !slices.Contains(devices, one) {
			devices = append(devices, one)
		}
	}

	if len(devices) == 0 {
		return ImportID{}, errors.New("no device is named")
	}

	return ImportID{Machine: machine, Devices: devices}, nil
}

// Import finds the devices that an import names. It fails where one is not there, or where
// they are not of one type and model.
func (d *Desk) Import(ctx context.Context, id ImportID) (Found, error) {
	var m fabric.Machine

	err := wait.Retry(ctx, wait.Quick, func(ctx context.Context) (err error) {
		m, err = d.Fabric.Machine(ctx, id.Machine)

		return err
	})

	switch {
	case err != nil:
		return Found{}, fmt.Errorf("machine %s: %w", id.Machine, err)
	case m.State == fabric.Gone:
		return Found{}, fmt.Errorf("machine %s is no more (status %s): %w", id.Machine, m.Status, fabric.ErrNotFound)
	}

	found := Found{Type: id.Type, Model: id.Model, Machine: m}
	if len(id.Devices) == 0 {
		found = FoundOn(m, id.Type, id.Model)
	}

	h := Host{MachineID: m.ID}

	for _, want := range id.Devices {
		dev, ok := m.Find(fabric.Device{FabricID: want})
		if !ok {
			return Found{}, fmt.Errorf("device %s is not on machine %s, which has: %s", want, id.Machine, inventory(m))
		}

		if len(found.Devices) > 0 && !dev.Is(found.Type, found.Model) {
			return Found{}, fmt.Errorf("device %s is a %s %s and the ones before it are %s %s: one resource has devices of one type and model",
				want, dev.Type, dev.Model, found.Type, found.Model)
		}

		if dev.Type != GPU && dev.Type != CXLMemory || dev.Model == "" {
			return Found{}, fmt.Errorf("device %s is of type %q and model %q: only %s and %s of a known model can be managed", want, dev.Type, dev.Model, GPU, CXLMemory)
		}

		found.Type, found.Model = dev.Type, dev.Model
		found.Devices = append(found.Devices, newRecord(dev, h, Online))
	}

	if len(found.Devices) == 0 {
		return Found{}, fmt.Errorf("machine %s has no %s of model %q; it has: %s", id.Machine, id.Type, id.Model, inventory(m))
	}

	Order(found.Devices)

	return found, nil
}

// FoundOn is what an import of all devices of a kind on a machine finds, where the machine is known already.
func FoundOn(m fabric.Machine, typ, model string) Found {
	found := Found{Type: typ, Model: model, Machine: m}

	for _, dev := range m.Of(typ, model) {
		found.Devices = append(found.Devices, newRecord(dev, Host{MachineID: m.ID}, Online))
	}

	Order(found.Devices)

	return found
}

// inventory lists the devices of a machine for people.
func inventory(m fabric.Machine) string {
	if len(m.Devices) == 0 {
		return "no devices"
	}

	var out []string
	for _, d := range m.Devices {
		out = append(out, fmt.Sprintf("%s %s %s", d.Type, d.Model, d.FabricID))
	}

	return strings.Join(out, ", ")
}
