// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// Machine implements [fabric.Fabric]. It costs the system, and of each of its blocks (or of
// the endpoints in its zones) two reads.
func (d *driver) Machine(ctx context.Context, id string) (fabric.Machine, error) {
	l := d.look("read the machine " + id)

	s, err := d.discover(ctx, l)
	if err != nil {
		return fabric.Machine{}, err
	}

	sys, err := d.system(ctx, l, s, id)
	if err != nil {
		return fabric.Machine{}, err
	}

	return full(ctx, s.way(l), sys, fabric.MachineID(id))
}

// full is a machine with its devices.
func full(ctx context.Context, w way, s system, name string) (fabric.Machine, error) {
	m := s.machine(name)

	var err error
	if m.Devices, m.FabricID, err = w.devices(ctx, s); err != nil {
		return fabric.Machine{}, err
	}

	for i := range m.Devices {
		m.Devices[i].MachineID = m.ID
	}

	return m, nil
}

// Machines implements [fabric.Fabric]. A machine goes by its UUID, as its BMC and its operating
// system know it, and by its Id where it has none.
func (d *driver) Machines(ctx context.Context) ([]fabric.Machine, error) {
	l := d.look("list the fabric's machines")

	s, err := d.discover(ctx, l)
	if err != nil {
		return nil, err
	}

	all, err := l.systems(ctx, s)
	if err != nil {
		return nil, err
	}

	w := s.way(l)
	byPath := make(map[string]system, len(all))
	paths := make([]string, 0, len(all))

	for _, sys := range all {
		byPath[sys.path] = sys
		paths = append(paths, sys.path)
	}

	return each(ctx, paths, func(ctx context.Context, path string) (fabric.Machine, error) {
		return full(ctx, w, byPath[path], "")
	})
}

// Free implements [fabric.Fabric].
func (d *driver) Free(ctx context.Context, machine, typ, model string) (fabric.FreeInfo, error) {
	l := d.look("list free devices")

	s, err := d.discover(ctx, l)
	if err != nil {
		return fabric.FreeInfo{}, err
	}

	var sys *system

	if machine != "" {
		one, err := d.system(ctx, l, s, machine)
		if err != nil {
			return fabric.FreeInfo{}, err
		}

		sys = &one
	}

	o, err := s.way(l).free(ctx, sys)
	if err != nil {
		return fabric.FreeInfo{}, err
	}

	return o.info(typ, model), nil
}

// info picks devices of a type and model, of which an empty one stands for any.
func (o offer) info(typ, model string) fabric.FreeInfo {
	info := fabric.FreeInfo{Known: true, FabricID: o.pool}

	for _, k := range o.models {
		if (typ == "" || strings.EqualFold(k.typ, typ)) && k.model != "" && !slices.Contains(info.Models, k.model) {
			info.Models = append(info.Models, k.model)
		}
	}

	for _, dev := range o.devices {
		if (typ == "" || strings.EqualFold(dev.Type, typ)) && (model == "" || dev.Is(dev.Type, model)) {
			info.Devices = append(info.Devices, dev)
		}
	}

	slices.Sort(info.Models)
	slices.SortFunc(info.Devices, func(a, b fabric.Device) int { return strings.Compare(a.FabricID, b.FabricID) })
	info.Count = len(info.Devices)

	return info
}

// Attach implements [fabric.Fabric].
func (d *driver) Attach(ctx context.Context, machine string, want fabric.Want) (fabric.Hint, error) {
	op := fmt.Sprintf("attach the %s %s to machine %s", want.Type, want.Device.FabricID, machine)

	if local(want.Device.FabricID) == "" {
		return fabric.Hint{}, refuse(op, fabric.ErrRefused, "the order names no device")
	}

	s, w, err := d.begin(ctx, op, machine)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	hint, err := w.attach(ctx, op, s, local(want.Device.FabricID))
	if err == nil {
		hint.Devices = []fabric.Device{want.Device}
	}

	return hint, err
}

// Detach implements [fabric.Fabric].
func (d *driver) Detach(ctx context.Context, machine string, dev fabric.Device) (fabric.Hint, error) {
	op := fmt.Sprintf("detach the %s %s from machine %s", dev.Type, dev.FabricID, machine)

	if local(dev.FabricID) == "" {
		return fabric.Hint{}, refuse(op, fabric.ErrNotFound, "a device without an id")
	}

	s, w, err := d.begin(ctx, op, machine)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	hint, err := w.detach(ctx, op, s, local(dev.FabricID))
	if err == nil {
		hint.Devices = []fabric.Device{dev}
	}

	return hint, err
}

// begin reads the machine of an order.
func (d *driver) begin(ctx context.Context, op, machine string) (system, way, error) {
	l := d.look(op)

	s, err := d.discover(ctx, l)
	if err != nil {
		return system{}, nil, err
	}

	sys, err := d.system(ctx, l, s, machine)
	if err != nil {
		return system{}, nil, err
	}

	return sys, s.way(l), nil
}
