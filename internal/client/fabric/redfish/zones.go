// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// zones composes with the zones of fabrics: what is in one zone may talk to each other.
// A machine has a zone for each of its ports into a fabric.
type zones struct {
	*look

	fabrics []string

	all *once[[]zone]
}

// zone is a zone of a fabric.
type zone struct {
	resource

	fabric    string
	endpoints []string
}

// holds reports whether being in the zone means to belong to somebody. What nobody has is in
// no zone, or in the one that all endpoints begin in.
func (z zone) holds() bool {
	switch z.Text("ZoneType") {
	case "Default", "ZoneOfZones":
		return false
	default:
		return true
	}
}

// list reads all zones, once a look.
func (z *zones) list(ctx context.Context) ([]zone, error) {
	return z.all.get(ctx, z.op, z.read)
}

func (z *zones) read(ctx context.Context) ([]zone, error) {
	var all []zone

	for _, path := range z.fabrics {
		docs, err := z.collection(ctx, path, "Zones", flat)
		if err != nil {
			return nil, err
		}

		for _, doc := range docs {
			one := zone{resource: doc, fabric: path}

			list := doc.links
			if one.holds() {
				list = doc.list
			}

			if one.endpoints, err = list("Links", "Endpoints"); err != nil {
				return nil, z.wrong(doc.path, err.Error())
			}

			all = append(all, one)
		}
	}

	slices.SortFunc(all, func(a, b zone) int { return strings.Compare(a.path, b.path) })

	return all, nil
}

// collection reads all members of a collection of a fabric.
func (z *zones) collection(ctx context.Context, path, name string, levels int) ([]resource, error) {
	f, err := z.part(ctx, path)
	if err != nil {
		return nil, err
	}

	of := link(f.Object, name)
	if of == "" {
		return nil, z.wrong(path, "the fabric has no collection "+name)
	}

	paths, err := z.members(ctx, of, levels)
	if err != nil {
		return nil, err
	}

	return z.parts(ctx, paths)
}

// ports are the endpoints of a system: those that it names, else those that name it.
func (z *zones) ports(ctx context.Context, s system) ([]string, error) {
	named, err := s.links("Links", "Endpoints")
	if err != nil {
		return nil, z.wrong(s.path, err.Error())
	}

	if len(named) > 0 {
		return named, nil
	}

	named, untold, err := z.naming(ctx, s)
	if err != nil {
		return nil, err
	}

	if len(named) == 0 && untold != "" && !s.Object.Object("Links").Has("Endpoints") {
		return nil, z.wrong(s.path, untold)
	}

	return named, nil
}

// naming are the endpoints that name a system. Where there may be one all the same, the second
// result says why.
func (z *zones) naming(ctx context.Context, s system) (named []string, untold string, err error) {
	count := 0

	for _, path := range z.fabrics {
		docs, err := z.collection(ctx, path, "Endpoints", deep)
		if err != nil {
			return nil, "", err
		}

		for _, doc := range docs {
			e, err := entityOf(doc)
			if err != nil {
				return nil, "", z.wrong(doc.path, err.Error())
			}

			switch {
			case e.role == "Target":
			case e.untold:
				untold = doc.path + " does not say what is behind it, so it may be the system's"
			case same(e.path, s.path), strings.HasPrefix(e.path, s.path+"/"):
				named = append(named, doc.path)
			}
		}

		count += len(docs)
	}

	if count == 0 {
		untold = "neither the system nor an endpoint says where the system is on a fabric"
	}

	return named, untold, nil
}

// own are the zones of a system.
func (z *zones) own(ctx context.Context, s system) (zones []zone, ports []string, err error) {
	if ports, err = z.ports(ctx, s); err != nil {
		return nil, nil, err
	}

	all, err := z.list(ctx)
	if err != nil {
		return nil, nil, err
	}

	for _, one := range all {
		if one.holds() && slices.ContainsFunc(ports, func(p string) bool { return has(one.endpoints, p) }) {
			zones = append(zones, one)
		}
	}

	return zones, ports, nil
}

func (z *zones) devices(ctx context.Context, s system) ([]fabric.Device, string, error) {
	own, ports, err := z.own(ctx, s)
	if err != nil {
		return nil, "", err
	}

	var paths []string

	for _, one := range own {
		for _, path := range one.endpoints {
			if !has(ports, path) && !has(paths, path) {
				paths = append(paths, path)
			}
		}
	}

	found, err := each(ctx, paths, z.target)
	if err != nil {
		return nil, "", err
	}

	var out []fabric.Device

	for _, t := range found {
		if t.odd != "" {
			return nil, "", z.wrong(s.path, t.odd)
		}

		if t.ok {
			out = append(out, t.device)
		}
	}

	return out, poolOf(fabricsOf(own)), nil
}

func (z *zones) free(ctx context.Context, s *system) (offer, error) {
	fabrics := z.fabrics

	if s != nil { // a device can only come from a fabric that the machine is on
		own, _, err := z.own(ctx, *s)
		if err != nil {
			return offer{}, err
		}

		fabrics = fabricsOf(own)
	}

	all, err := z.list(ctx)
	if err != nil {
		return offer{}, err
	}

	var paths []string

	for _, path := range fabrics {
		docs, err := z.collection(ctx, path, "Endpoints", deep)
		if err != nil {
			return offer{}, err
		}

		for _, doc := range docs {
			paths = append(paths, doc.path)
		}
	}

	found, err := each(ctx, paths, z.target)
	if err != nil {
		return offer{}, err
	}

	return offerOf(poolOf(fabrics), found, all), nil
}

// offerOf is what is found and nobody has.
func offerOf(pool string, found []target, all []zone) offer {
	o := offer{pool: pool}

	for _, t := range found {
		if !t.ok {
			continue
		}

		o.models = append(o.models, kind{t.device.Type, t.device.Model})

		if _, taken := holder(all, t.device.FabricID); t.usable && !taken {
			o.devices = append(o.devices, t.device)
		}
	}

	return o
}

func fabricsOf(list []zone) []string {
	var out []string

	for _, one := range list {
		if !has(out, one.fabric) {
			out = append(out, one.fabric)
		}
	}

	return out
}

// holder is the zone that an endpoint belongs to.
func holder(all []zone, endpoint string) (zone, bool) {
	i := slices.IndexFunc(all, func(z zone) bool { return z.holds() && has(z.endpoints, endpoint) })
	if i < 0 {
		return zone{}, false
	}

	return all[i], true
}
