// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabriccapacity

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/fabricvalue"
)

// atOnce is how many requests run at a time.
const atOnce = 4

// capacity is what a pool has of one model, asked on behalf of one machine.
type capacity struct {
	typ       string
	model     string
	free      fabric.FreeInfo
	fabricID  string
	machineID string
}

// machines are all that may be asked on behalf of: the one that was named, else those that
// exist, by fabric.
func machines(ctx context.Context, desk *device.Desk, id string) ([]fabric.Machine, error) {
	all, err := desk.Machines(ctx, id)
	if err != nil || id != "" {
		return all, err
	}

	all = fabricvalue.Present(all)
	slices.SortStableFunc(all, func(a, b fabric.Machine) int { return cmp.Compare(a.FabricID, b.FabricID) })

	return all, nil
}

// ofEach is one machine of each fabric, as counts are of a fabric: those of two of its
// machines are the same devices. Where a machine has specifications (CM), the counts are its
// own, and a machine of no known fabric shares them with nobody that we know.
func ofEach(all []fabric.Machine) []fabric.Machine {
	if slices.ContainsFunc(all, func(m fabric.Machine) bool { return len(m.Specs) > 0 }) {
		return all
	}

	// A machine in trouble may not be answered for: it is the last to ask.
	byTrouble := slices.Clone(all)
	slices.SortStableFunc(byTrouble, func(a, b fabric.Machine) int { return cmp.Compare(trouble(a), trouble(b)) })

	var out []fabric.Machine

	for _, m := range byTrouble {
		if m.FabricID == "" || !slices.ContainsFunc(out, func(o fabric.Machine) bool { return strings.EqualFold(o.FabricID, m.FabricID) }) {
			out = append(out, m)
		}
	}

	slices.SortStableFunc(out, func(a, b fabric.Machine) int { return cmp.Compare(a.FabricID, b.FabricID) })

	return out
}

// ask asks one machine of each fabric, and all of them where an answer turns out to be of the
// specification of one.
func ask(ctx context.Context, f fabric.Fabric, all []fabric.Machine, typ string, models []string) ([]capacity, error) {
	some := ofEach(all)

	got, err := free(ctx, f, some, typ, models)
	if err != nil || len(some) == len(all) || !slices.ContainsFunc(got, func(c capacity) bool { return c.free.HasLimits }) {
		return got, err
	}

	return free(ctx, f, all, typ, models)
}

func trouble(m fabric.Machine) int {
	switch m.State {
	case fabric.Ready:
		return 0
	case fabric.Busy:
		return 1
	default:
		return 2
	}
}

// free asks for each model on behalf of each machine.
func free(ctx context.Context, f fabric.Fabric, machines []fabric.Machine, typ string, models []string) ([]capacity, error) {
	all := make([]capacity, 0, len(machines)*len(models))

	for _, m := range machines {
		for _, model := range models {
			all = append(all, capacity{typ: typ, model: model, machineID: m.ID, fabricID: m.FabricID})
		}
	}

	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)

	for i := range all {
		one := &all[i]

		group.Go(func() error {
			info, err := f.Free(ctx, one.machineID, one.typ, one.model)
			if err != nil {
				return fmt.Errorf("ask what machine %s could get of %s %s: %w", one.machineID, one.typ, one.model, err)
			}

			one.free, one.fabricID = info, cmp.Or(info.FabricID, one.fabricID)

			return nil
		})
	}

	if err := group.Wait(); err != nil {
		return nil, err
	}

	return all, nil
}
