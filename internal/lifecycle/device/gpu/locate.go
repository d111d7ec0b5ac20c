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
	gpu     GPU
	found   bool
	bare    bool   // on the bus, and NVIDIA's driver does not have it
	foreign string // the driver that has it then, if any
	last    bool   // no other GPU is in NVIDIA's driver
}

// released is what a place says before anything is done.
func (p place) released() Released {
	return Released{GPU: p.gpu, Absent: !p.found, Bare: p.bare, Foreign: p.foreign}
}

// locate finds a GPU by its UUID, else by its address. It is absent only where that is
// proved: what may be there under another name is taken away while somebody uses it.
func locate(ctx context.Context, ops Ops, t Target) (place, error) {
	all, err := known(ctx, ops, t.ID)
	last := len(all) <= 1

	if g, ok := find(all, t.ID); ok && err == nil {
		return place{gpu: g, found: true, last: last}, nil
	}

	nowhere := place{gpu: GPU{Minor: -1}}
	if looksLikeUUID(t.ID) { // what is none may be a serial number of the fabric
		nowhere.gpu.UUID = t.ID
	}

	if err != nil {
		return nowhere, err
	}

	bus, ok := NormalBusID(t.BusID)
	if !ok {
		return nowhere, identified(ctx, ops, t, all)
	}

	nowhere.gpu.BusID = bus

	i := slices.IndexFunc(all, func(g GPU) bool { return g.BusID == bus })
	if i < 0 {
		return onBus(ctx, ops, nowhere, len(all) == 0)
	}

	there := all[i]

	switch {
	case nowhere.gpu.UUID == "" || there.UUID == "": // nothing says that it is another
		return place{gpu: there, found: true, last: last}, nil
	case isUUID(t.ID) && !uninitialised(all):
		return nowhere, nil // another GPU has come to that address
	default:
		// Without "GPU-" it may be a UUID of the fabric's own, which no driver ever shows.
		return nowhere, fmt.Errorf("%w: no GPU shows the UUID %s, and %s is at its address", ErrInDoubt, t.ID, there.Label())
	}
}

// onBus looks at an address which the driver does not have. Where nothing is there, the GPU
// is gone: that is where the host showed it.
func onBus(ctx context.Context, ops Ops, p place, last bool) (place, error) {
	devices, err := ops.PCI(ctx)
	if err != nil || !slices.Contains(devices, p.gpu.BusID) {
		return p, err
	}

	p.foreign, err = ops.Foreign(ctx, p.gpu)
	p.found, p.bare, p.last = true, true, last

	return p, err
}

// identified returns an error if a GPU that was never seen at any address may be on the host:
// one of those that show no UUID, or any where no UUID of it is known.
func identified(ctx context.Context, ops Ops, t Target, all []GPU) error {
	devices, err := ops.PCI(ctx)
	if err != nil {
		return err
	}

	bare := slices.DeleteFunc(slices.Clone(devices), func(bus string) bool {
		return slices.ContainsFunc(all, func(g GPU) bool { return g.BusID == bus })
	})

	switch {
	case len(all) == 0 && len(bare) == 0:
		return nil
	case !looksLikeUUID(t.ID):
		return fmt.Errorf("%w: neither its UUID nor its PCI address is known, and %s has %d", ErrInDoubt, ops.Name(), len(all)+len(bare))
	case uninitialised(all):
		return fmt.Errorf("%w: the driver does not initialise every GPU, and GPU %s may be one of those", ErrInDoubt, t.ID)
	case len(bare) > 0:
		return fmt.Errorf("%w: NVIDIA's driver does not have every GPU, and GPU %s may be one of those at %s", ErrInDoubt, t.ID, shorten(bare))
	default:
		return nil
	}
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
