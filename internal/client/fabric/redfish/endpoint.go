// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// entity is what is behind an endpoint: who uses others (Initiator), is used (Target), or both.
type entity struct {
	path, role, typ string

	untold bool // the endpoint does not say
}

func entityOf(doc resource) (entity, error) {
	list, err := doc.Objects("ConnectedEntities")
	if err != nil {
		return entity{}, err
	}

	first := entity{untold: !doc.Has("ConnectedEntities")}

	for i, e := range list {
		one := entity{path: link(e, "EntityLink"), role: e.Text("EntityRole"), typ: e.Text("EntityType")}
		if one.path != "" {
			return one, nil
		}

		if i == 0 {
			first, first.untold = one, !slices.Contains(others, one.typ)
		}
	}

	return first, nil
}

// others are entities that are surely no device of ours. What is behind them is not read:
// fabrics show many of them, and what they link to may be elsewhere.
var others = []string{
	"Drive", "Volume", "StorageInitiator", "StorageExpander", "StorageSubsystem", "NetworkController",
	"RootComplex", "Bridge", "FabricBridge", "Switch", "Manager",
}

func (e entity) device() bool {
	return e.path != "" && e.role != "Initiator" && !slices.Contains(others, e.typ)
}

// target is an endpoint of a device.
type target struct {
	device fabric.Device
	usable bool
	ok     bool   // it is one of our types
	odd    string // why it may be one all the same
}

// target reads an endpoint, and what is behind it.
func (z *zones) target(ctx context.Context, path string) (target, error) {
	doc, err := z.part(ctx, path)
	if err != nil {
		return target{}, err
	}

	e, err := entityOf(doc)
	if err != nil {
		return target{}, z.wrong(path, err.Error())
	}

	switch {
	case e.untold && e.role != "Initiator":
		return target{odd: path + " does not say what is behind it"}, nil
	case !e.device():
		return target{}, nil
	}

	behind, err := z.part(ctx, e.path)
	if err != nil {
		return target{}, err
	}

	if classOf(behind.Object) == "PCIeDevice" { // a card: its processor says what it is
		cores, err := behind.links("Links", "Processors")
		if err != nil {
			return target{}, z.wrong(e.path, err.Error())
		}

		if !behind.Has("Links") { // without a processor it is another card
			return target{odd: e.path + " has no Links"}, nil
		}

		if len(cores) != 1 {
			return target{}, nil
		}

		if behind, err = z.part(ctx, cores[0]); err != nil {
			return target{}, err
		}
	}

	t := target{usable: usable(doc.Object) && usable(behind.Object)}
	t.device, t.ok = deviceOf(path, behind.Object)

	if unnamed(behind.Object) {
		return target{odd: behind.path + " does not say what it is"}, nil
	}

	if t.device.HealthRaw == "" {
		t.device.Health, t.device.HealthRaw = healthOf(doc.Object)
	}

	return t, nil
}
