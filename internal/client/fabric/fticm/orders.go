// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fticm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/fti"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Free implements fabric.Fabric: what the machine's specification leaves. CM does not tell
// what the pool still has.
func (m *Manager) Free(ctx context.Context, machine, typ, model string) (fabric.FreeInfo, error) {
	op := fmt.Sprintf("count free devices %s %s for machine %s", typ, model, machine)

	seen, err := m.Machine(ctx, machine)
	if err != nil {
		return fabric.FreeInfo{}, err
	}

	info := fabric.FreeInfo{FabricID: seen.FabricID, Models: offered(seen, typ)}

	spec, err := pick(op, seen, typ, model)

	switch {
	case errors.Is(err, errNone):
		info.Known = true

		return info, nil
	case err != nil:
		return info, err
	}

	info.HasLimits, info.Min, info.Max, info.Current = true, spec.Min, spec.Max, spec.Current

	if spec.Max > 0 {
		info.Known, info.Count = true, max(spec.Max-spec.Current, 0)
	}

	return info, nil
}

// Attach implements fabric.Fabric.
func (m *Manager) Attach(ctx context.Context, machine string, want fabric.Want) (fabric.Hint, error) {
	op := fmt.Sprintf("attach a %s %s to machine %s", want.Type, want.Model, machine)

	id, err := fti.ID(op, machine)
	if err != nil {
		return fabric.Hint{}, err
	}

	seen, err := m.Machine(ctx, id)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	spec, err := pick(op, seen, want.Type, want.Model)
	if err != nil {
		return fabric.Hint{}, err
	}

	if err := settled(op, seen, want.Type, strings.TrimSpace(want.Model)); err != nil {
		return fabric.Hint{}, err
	}

	if here := len(seen.Of(want.Type, want.Model)); want.Count > 0 && want.Count != here+1 {
		return fabric.Hint{}, busy(op, fmt.Sprintf("the machine has %d of them now, and %d were expected: somebody else changed it", here, want.Count-1))
	}

	// The target goes by the manager's own count. A device that failed to come may not count there.
	target := spec.Current + 1
	if spec.Max > 0 && target > spec.Max {
		return fabric.Hint{}, &fabric.Error{Op: op, Kind: fabric.ErrCapacity, Message: fmt.Sprintf(
			"the machine has %d of at most %d, so %d remain", spec.Current, spec.Max, max(spec.Max-spec.Current, 0))}
	}

	return fabric.Hint{}, m.resize(ctx, op, id, map[string]any{
		"increase_resource_count": map[string]any{"spec_uuid": spec.ID, "device_count": target},
	})
}

// Detach implements fabric.Fabric. A device that is not there, or is on its way already,
// needs no order.
func (m *Manager) Detach(ctx context.Context, machine string, dev fabric.Device) (fabric.Hint, error) {
	op := fmt.Sprintf("detach %s %s from machine %s", dev.Type, orOther(dev.DeviceID, dev.FabricID), machine)

	id, err := fti.ID(op, machine)
	if err != nil {
		return fabric.Hint{}, err
	}

	seen, err := m.Machine(ctx, id)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	found, ok := seen.Find(dev)
	if !ok || found.Phase == fabric.Removing {
		return fabric.Hint{}, nil
	}

	if err := settled(op, seen, found.Type, found.Model); err != nil {
		return fabric.Hint{}, err
	}

	i := slices.IndexFunc(seen.Specs, func(s fabric.Spec) bool { return s.ID == found.Spec })
	if i < 0 || found.Spec == "" || found.DeviceID == "" {
		return fabric.Hint{}, &fabric.Error{Op: op, Kind: fabric.ErrRefused, Message: "the manager gives it no device_id or no spec_uuid, so it cannot be named in an order"}
	}

	spec := seen.Specs[i]
	target := lowered(seen, spec, found)

	if target < spec.Min {
		return fabric.Hint{}, &fabric.Error{Op: op, Kind: fabric.ErrRefused, Message: fmt.Sprintf(
			"the machine has %d, and its specification %s demands at least %d", spec.Current, spec.ID, spec.Min)}
	}

	return fabric.Hint{}, m.resize(ctx, op, id, map[string]any{
		"remove_resources": map[string]any{"spec_uuid": spec.ID, "device_count": target, "devices": []string{found.DeviceID}},
	})
}

// lowered is the target that is one device less. Whether a device that failed to come counts
// in device_count is not documented: where it does not, its removal leaves the count alone.
func lowered(m fabric.Machine, spec fabric.Spec, dev fabric.Device) int {
	here := 0

	for _, d := range m.Devices {
		if d.Spec == spec.ID {
			here++
		}
	}

	if dev.Phase == fabric.AddFailed && spec.Current < here {
		return spec.Current
	}

	return max(spec.Current-1, 0)
}

// settled refuses an order while something else is under way: a target from such a moment
// would undo it.
func settled(op string, m fabric.Machine, typ, model string) error {
	switch {
	case m.State == fabric.Gone || m.State == fabric.Leaving:
		return &fabric.Error{Op: op, Kind: fabric.ErrRefused, Message: fmt.Sprintf("the machine is being taken apart (status %q)", m.Status)}
	case !m.Settled(typ, model):
		return busy(op, fmt.Sprintf("another change of the machine is under way (status %q)", m.Status))
	default:
		return nil
	}
}

func busy(op, why string) error {
	return wait.Transient(&fabric.Error{Op: op, Kind: fabric.ErrBusy, Message: why})
}

// errNone is below the error of a model that no specification offers.
var errNone = errors.New("no specification")

// pick chooses the one specification of a type and model.
func pick(op string, m fabric.Machine, typ, model string) (fabric.Spec, error) {
	var found []fabric.Spec

	for _, s := range m.Specs {
		if strings.EqualFold(s.Type, typ) && slices.Contains(s.Models, strings.TrimSpace(model)) {
			found = append(found, s)
		}
	}

	refuse := func(err error, why string) (fabric.Spec, error) {
		return fabric.Spec{}, &fabric.Error{Op: op, Kind: fabric.ErrRefused, Message: why, Err: err}
	}

	switch {
	case len(found) == 0:
		return refuse(errNone, fmt.Sprintf("no specification of the machine offers %s %q; it offers %s", typ, model, orOther(strings.Join(described(m, typ), ", "), "none of this type")))
	case len(found) > 1:
		return refuse(nil, fmt.Sprintf("the specifications %s and %s of the machine both offer %s %q: which one is meant cannot be told", found[0].ID, found[1].ID, typ, model))
	case found[0].ID == "":
		return refuse(nil, "the specification has no spec_uuid, so it cannot be named in an order")
	default:
		return found[0], nil
	}
}

// offered are the models that a machine could get of a type.
func offered(m fabric.Machine, typ string) []string {
	var out []string

	for _, s := range m.Specs {
		for _, model := range s.Models {
			if strings.EqualFold(s.Type, typ) && !slices.Contains(out, model) {
				out = append(out, model)
			}
		}
	}

	return out
}

// described are the models with what remains of them.
func described(m fabric.Machine, typ string) []string {
	var out []string

	for _, s := range m.Specs {
		for _, model := range s.Models {
			if !strings.EqualFold(s.Type, typ) {
				continue
			}

			left := "no bound"
			if s.Max > 0 {
				left = fmt.Sprintf("%d of %d remain", max(s.Max-s.Current, 0), s.Max)
			}

			out = append(out, fmt.Sprintf("%q (%s)", model, left))
		}
	}

	return out
}

func orOther(s, other string) string {
	if s == "" {
		return other
	}

	return s
}
