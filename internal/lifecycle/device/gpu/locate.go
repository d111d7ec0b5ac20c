// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"context"
	"fmt"
	"slices"
)

// place is where a GPU to release was found.
type place struct {
	gpu   GPU
	found bool
	bare  bool // on the bus, and no driver has it
	last  bool // no other GPU is on the host
}

// locate finds a GPU by its UUID, else by its address.
func locate(ctx context.Context, ops Ops, t Target) (place, error) {
	all, err := known(ctx, ops, t.ID)
	last := len(all) <= 1

	if g, ok := find(all, t.ID); ok && err == nil {
		return place{gpu: g, found: true, last: last}, nil
	}

	if !isUUID(t.ID) {
		t.ID = "" // what no GPU shows may be a serial number of the fabric
	}

	nowhere := place{gpu: GPU{UUID: t.ID, Minor: -1}}
	if err != nil {
		return nowhere, err
	}

	bus, ok := NormalBusID(t.BusID)

	switch {
	case ok:
	case t.ID != "" && uninitialised(all):
		return nowhere, fmt.Errorf("%w: the driver does not initialise every GPU, and GPU %s may be one of those", ErrCommand, t.ID)
	default:
		return nowhere, nil
	}

	nowhere.gpu.BusID = bus

	if i := slices.IndexFunc(all, func(g GPU) bool { return g.BusID == bus }); i >= 0 {
		if t.ID != "" && all[i].UUID != "" {
			return nowhere, nil // another GPU has come to that address
		}

		return place{gpu: all[i], found: true, last: last}, nil
	}

	devices, err := ops.PCI(ctx)
	if err != nil || !slices.Contains(devices, bus) {
		return nowhere, err
	}

	return place{gpu: nowhere.gpu, found: true, bare: true, last: len(all) == 0}, nil
}

// known lists what the kernel driver has. A GPU without a UUID is not gone: where the wanted
// one is not seen for that, they are made to show theirs. Those that cannot stay without.
func known(ctx context.Context, ops Ops, id string) ([]GPU, error) {
	all, err := ops.Present(ctx)
	if err != nil || has(all, id) || !uninitialised(all) {
		return all, err
	}

	if err := keep(ops.Init(ctx)); err != nil {
		return nil, err
	}

	return ops.Present(ctx)
}
