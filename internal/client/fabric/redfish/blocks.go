// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// blocks composes with resource blocks (DSP2050).
type blocks struct {
	*look

	collection string
	certain    bool // that this is how the service composes
}

// block is a resource block with the device in it.
type block struct {
	resource

	zones  []string
	device fabric.Device
	single bool   // one device of our types is in it, and nothing that goes with it
	any    bool   // at least one is
	odd    string // what may be in it, and is not shown; empty: nothing
}

// readBlock reads a block, and the parts of one that may hold a device: a block of a whole
// computer or of its CPUs is the machine itself.
func (b *blocks) readBlock(ctx context.Context, path string) (block, error) {
	r, err := b.part(ctx, path)
	if err != nil {
		return block{}, err
	}

	out := block{resource: r}
	if out.zones, err = r.links("Links", "Zones"); err != nil {
		return block{}, b.wrong(path, err.Error())
	}

	types := r.Texts("ResourceBlockType")
	if slices.Contains(types, "Compute") || slices.Contains(types, "ComputerSystem") {
		return out, nil
	}

	var paths []string

	for _, p := range []struct{ key, typ string }{{"Processors", "Processor"}, {"Memory", "Memory"}} {
		links, err := r.links(p.key)
		if err != nil {
			return block{}, b.wrong(path, err.Error())
		}

		if slices.Contains(types, p.typ) && !r.Has(p.key) {
			out.odd = "it has no list " + p.key
		}

		paths = append(paths, links...)
	}

	if len(types) == 0 && !r.Has("Processors") && !r.Has("Memory") {
		out.odd = "it does not say what is in it"
	}

	parts, err := b.parts(ctx, paths)
	if err != nil {
		return block{}, err
	}

	out.fill(parts)
	out.phase()

	return out, nil
}

// fill takes the device from the parts of a block.
func (b *block) fill(parts []resource) {
	found := 0

	for _, part := range parts {
		if unnamed(part.Object) {
			b.odd = part.path + " does not say what it is"
		}

		// The memory of a GPU's block is the GPU's.
		d, ok := deviceOf(b.path, part.Object)
		if !ok || (b.any && b.device.Type == typeGPU && d.Type != typeGPU) {
			continue
		}

		found++

		if !b.any {
			b.device, b.any = d, true
		}
	}

	b.single = found == 1 && b.odd == ""
}

// phase tells what the composition says of the device, and of its health where the part
// says nothing.
func (b *block) phase() {
	if b.device.HealthRaw == "" {
		b.device.Health, b.device.HealthRaw = healthOf(b.Object)
	}

	switch b.state() {
	case "Composing":
		b.device.Phase = fabric.Adding
	case "Failed":
		b.device.Phase, b.device.Reason = fabric.AddFailed, "the resource block's composition failed"
	}
}

func (b *block) state() string { return b.Object.Object("CompositionStatus").Text("CompositionState") }

// why says why an order cannot name the block; empty: it can.
func (b *block) why() string {
	status := b.Object.Object("CompositionStatus")
	pool := b.Text("Pool")

	switch {
	case b.state() != "Unused":
		return "it is " + b.state()
	case status.Bool("Reserved", false):
		return "somebody has reserved it"
	case pool != "" && pool != "Free":
		return "it is in the pool " + pool
	case !usable(b.Object):
		return "its status is " + strings.TrimSpace(b.Object.Object("Status").Text("State")+" "+b.Object.Object("Status").Text("Health"))
	default:
		return ""
	}
}

// own are the blocks of a system.
func (b *blocks) own(ctx context.Context, s system) ([]block, error) {
	if !s.Object.Object("Links").Has("ResourceBlocks") {
		switch {
		case !b.certain: // it may have just been started
			return nil, b.wrong(s.path, "the service shows neither resource blocks nor zones of a fabric, so it does not say which devices the system has")
		case !s.composable():
			return nil, nil
		}
	}

	paths, err := s.list("Links", "ResourceBlocks")
	if err != nil {
		return nil, b.wrong(s.path, err.Error())
	}

	return each(ctx, paths, b.readBlock)
}

func (b *blocks) devices(ctx context.Context, s system) ([]fabric.Device, string, error) {
	own, err := b.own(ctx, s)
	if err != nil {
		return nil, "", err
	}

	var out []fabric.Device

	for _, one := range own {
		if one.odd != "" {
			return nil, "", b.wrong(one.path, one.odd)
		}

		if one.any {
			out = append(out, one.device)
		}
	}

	return out, poolOf(zonesOf(own)), nil
}

func zonesOf(list []block) []string {
	var zones []string

	for _, one := range list {
		for _, z := range one.zones {
			if !has(zones, z) {
				zones = append(zones, z)
			}
		}
	}

	slices.Sort(zones)

	return zones
}

// poolOf names the pool of a machine: machines in the same zones get the same devices.
func poolOf(zones []string) string { return strings.Join(zones, " ") }

func (b *blocks) free(ctx context.Context, s *system) (offer, error) {
	var zones []string

	if s != nil {
		own, err := b.own(ctx, *s)
		if err != nil {
			return offer{}, err
		}

		zones = zonesOf(own)
	}

	if b.collection == "" {
		return offer{}, nil
	}

	paths, err := b.members(ctx, b.collection, deep)
	if err != nil {
		return offer{}, err
	}

	all, err := each(ctx, paths, b.readBlock)
	if err != nil {
		return offer{}, err
	}

	o := offer{pool: poolOf(zones)}

	for _, one := range all {
		if !one.any || !reaches(zones, one.zones) {
			continue
		}

		o.models = append(o.models, kind{one.device.Type, one.device.Model})

		// A block with several devices would come, and go, as one.
		if one.single && one.why() == "" {
			o.devices = append(o.devices, one.device)
		}
	}

	return o, nil
}

// reaches reports whether two sets of zones share one; where either side tells of none,
// nothing is known against it.
func reaches(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(z string) bool { return has(b, z) })
}
