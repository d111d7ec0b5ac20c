// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// attach adds the device's endpoint to the system's zone in the same fabric. Of several
// (a machine with several ports) the first by path counts, so that every try takes the same.
func (z *zones) attach(ctx context.Context, op string, s system, device string) (fabric.Hint, error) {
	own, _, err := z.own(ctx, s)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	all, err := z.list(ctx)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	if _, err := z.get(ctx, device); err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	if taken, ok := holder(all, device); ok {
		return fabric.Hint{}, busy(op, "%s is not free any more: it is in the zone %s", device, taken.path)
	}

	i := slices.IndexFunc(own, func(o zone) bool { return strings.HasPrefix(device, o.fabric+"/") })
	if i < 0 {
		return fabric.Hint{}, refuse(op, fabric.ErrRefused, "the machine has no zone in the fabric of %s", device)
	}

	return z.write(ctx, op, own[i], func(now []string) []string { return append(without(now, device), device) })
}

// detach takes the device's endpoint out of the system's zone.
func (z *zones) detach(ctx context.Context, op string, s system, device string) (fabric.Hint, error) {
	own, ports, err := z.own(ctx, s)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	i := slices.IndexFunc(own, func(o zone) bool { return has(o.endpoints, device) })

	switch {
	case i < 0:
		return fabric.Hint{}, refuse(op, fabric.ErrNotFound, "none of the machine's zones has the endpoint %s", device)
	case has(ports, device):
		return fabric.Hint{}, refuse(op, fabric.ErrRefused, "%s is the machine itself", device)
	}

	return z.write(ctx, op, own[i], func(now []string) []string { return without(now, device) })
}

// write reads the zone once more, as many reads lie between the list of zones and the order,
// and writes what its endpoints are to be.
func (z *zones) write(ctx context.Context, op string, of zone, change func([]string) []string) (fabric.Hint, error) {
	now, err := z.fetch(ctx, of.path)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	endpoints, err := now.list("Links", "Endpoints")
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(z.wrong(of.path, err.Error()))
	}

	if !slices.Equal(endpoints, of.endpoints) {
		return fabric.Hint{}, busy(op, "the zone %s changes just now", of.path)
	}

	return z.replace(ctx, op, now, "Endpoints", change(endpoints))
}
